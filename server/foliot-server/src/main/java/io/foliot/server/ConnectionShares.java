package io.foliot.server;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The open connections by owner. A connection belongs to the address of its client until a request has shown an API
 * key; then it belongs to the key. When the server is crowded, each new connection closes an older one that waits for
 * its client: the oldest of the address with the most connections, or else of a key that has more than a quarter of
 * all. So neither an address nor a key can keep health checks and the holders of other keys away. Safe for use by any
 * thread.
 */
final class ConnectionShares {
  /** The server is crowded when fewer than this fraction of the connections is free. */
  private static final int RESERVE = 8;
  /** The largest share of one key while the server is crowded is this fraction of the connections. */
  private static final int SHARES = 4;

  private final int max;
  private final int crowded;
  private final ReentrantLock lock = new ReentrantLock();
  // guarded by the lock
  private final Map<String, Set<Held>> ofAddress = new HashMap<>();
  private final Map<String, Set<Held>> ofKey = new HashMap<>();
  private int open;

  /** @param max the largest number of connections, which the web server enforces */
  ConnectionShares(int max) {
    this.max = max;
    crowded = max - Math.max(1, max / RESERVE);
  }

  /** A connection. */
  interface Peer {
    /** Returns whether the connection waits for its client to send or to read. */
    boolean waits();

    /** Closes the connection. */
    void drop();
  }

  /** An open connection and its owner. */
  final class Held implements AutoCloseable {
    private final Peer peer;
    // guarded by the lock
    private @Nullable Map<String, Set<Held>> owners;
    private String owner;
    private boolean hasKey;

    private Held(Peer peer, String owner) {
      this.peer = peer;
      this.owner = owner;
    }

    /** Names the key of the latest request. Returns false if the server is crowded and the key has its share. */
    boolean belongsTo(String key) {
      lock.lock();
      try {
        if (!hasKey || !owner.equals(key)) {
          move(this, ofKey, key);
          hasKey = true;
        }
        Set<Held> own = ofKey.get(key);
        return open <= crowded || own == null || own.size() <= max / SHARES;
      } finally {
        lock.unlock();
      }
    }

    /** Marks the connection as one of a program of this machine, while the server needs no key. It has no share. */
    void belongsToThisMachine() {
      lock.lock();
      try {
        move(this, null, "");
        hasKey = false;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        move(this, null, "");
        open--;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Adds a connection. If the server is crowded, closes another one. */
  Held open(String address, Peer peer) {
    Held added = new Held(peer, address);
    Held victim;
    lock.lock();
    try {
      open++;
      move(added, ofAddress, address);
      victim = open > crowded ? victim() : null;
    } finally {
      lock.unlock();
    }
    if (victim != null) {
      victim.peer.drop();
    }
    return added;
  }

  private void move(Held connection, @Nullable Map<String, Set<Held>> owners, String owner) {
    Map<String, Set<Held>> before = connection.owners;
    if (before != null) {
      before.computeIfPresent(connection.owner, (name, held) -> held.remove(connection) && held.isEmpty()
          ? null
          : held);
    }
    connection.owners = owners;
    connection.owner = owner;
    if (owners != null) {
      owners.computeIfAbsent(owner, name -> new LinkedHashSet<>()).add(connection);
    }
  }

  private @Nullable Held victim() {
    Held found = oldestWaiting(largest(ofAddress));
    if (found != null) {
      return found;
    }
    Set<Held> own = largest(ofKey);
    return own.size() > max / SHARES ? oldestWaiting(own) : null;
  }

  private static Set<Held> largest(Map<String, Set<Held>> owners) {
    Set<Held> largest = Set.of();
    for (Set<Held> held : owners.values()) {
      largest = held.size() > largest.size() ? held : largest;
    }
    return largest;
  }

  private static @Nullable Held oldestWaiting(Set<Held> connections) {
    for (Held connection : connections) {
      if (connection.peer.waits()) {
        return connection;
      }
    }
    return null;
  }

  /** Returns how many connections are open. */
  int open() {
    lock.lock();
    try {
      return open;
    } finally {
      lock.unlock();
    }
  }
}
