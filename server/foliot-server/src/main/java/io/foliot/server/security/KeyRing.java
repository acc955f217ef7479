package io.foliot.server.security;

import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** All API keys, in the store and in memory. Requests are checked against the keys in memory. Thread-safe. */
public final class KeyRing {
  /** The durable storage of keys. Its methods block until they are done. */
  public interface Vault {
    /** Returns all keys. */
    Collection<ApiKey> all();

    /** Stores a key. */
    void add(ApiKey key);

    /** Removes a key. */
    void remove(String id);
  }

  /**
   * The knowledge, across restarts, that this server has had keys. If its store comes back without them, the server
   * therefore stays closed.
   */
  public interface Latch {
    /** Returns whether this server has had keys. */
    boolean isSet();

    /** Records that this server has keys. Does nothing if that is recorded already. */
    void set();
  }

  /** Thrown if a change would lock out every administrator. */
  public static final class LockedOutException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LockedOutException(String message) {
      super(message);
    }
  }

  // Read by any thread; written under the lock, and only after the vault has the change.
  private final Map<String, Entry> keys = new ConcurrentHashMap<>();
  private final Vault vault;
  private final @Nullable Entry configured;
  private final Latch latch;
  private volatile boolean isRequired;

  private record Entry(ApiKey key, Caller caller) {}

  /**
   * Creates a ring of the keys of a vault.
   *
   * @param configured the key of the configuration, or null for none; the vault does not contain this key
   */
  public KeyRing(Vault vault, @Nullable ApiKey configured, Latch latch) {
    this.vault = vault;
    this.latch = latch;
    isRequired = latch.isSet();
    this.configured = configured == null ? null : new Entry(configured, configured.caller());
    vault.all().forEach(key -> keys.put(key.id(), new Entry(key, key.caller())));
    if (!isEmpty()) {
      require();
    }
  }

  private void require() {
    latch.set();
    isRequired = true;
  }

  /**
   * Reads the vault again, because other servers may have added or removed keys. Blocks. Returns whether there were
   * keys before, and now there are none.
   */
  public synchronized boolean refresh() {
    boolean wasEmpty = isEmpty();
    Map<String, ApiKey> kept = new HashMap<>();
    vault.all().forEach(key -> kept.put(key.id(), key));
    if (!kept.isEmpty()) {
      require();
    }
    // New keys are added before old keys are removed. Otherwise the ring could be empty for a moment, and each caller
    // refused.
    kept.forEach((id, key) -> keys.putIfAbsent(id, new Entry(key, key.caller())));
    keys.keySet().retainAll(kept.keySet());
    return !wasEmpty && isEmpty();
  }

  /**
   * Returns whether every caller must present a key. Once there was a key, this is true until {@link #remove} removes
   * the last one with the operator's consent. It stays true if the keys disappear from the vault.
   */
  public boolean isRequired() {
    return isRequired;
  }

  /** Returns whether there is no key at all. */
  public boolean isEmpty() {
    return configured == null && keys.isEmpty();
  }

  /** Returns the caller of a key, or null if the key is unknown or has expired. */
  public @Nullable Caller find(String text, Instant now) {
    if (configured != null && configured.key.is(text)) {
      return configured.caller;
    }
    String id = ApiKey.idOf(text);
    Entry entry = id == null ? null : keys.get(id);
    return entry != null && entry.key.is(text) && entry.key.holdsAt(now) ? entry.caller : null;
  }

  /** Returns whether the key of a caller is still known and has not expired. */
  boolean holds(Caller caller, Instant now) {
    if (configured != null && configured.caller == caller) {
      return true;
    }
    Entry entry = keys.get(caller.keyId());
    return entry != null && entry.caller == caller && entry.key.holdsAt(now);
  }

  /** Returns all keys of the vault, oldest first; the key of the configuration is not among them. */
  public List<ApiKey> all() {
    return keys.values().stream().map(Entry::key)
        .sorted(Comparator.comparing(ApiKey::createdAt).thenComparing(ApiKey::id)).toList();
  }

  /**
   * Adds a key. Once there is a key, every request needs a key, except on open routes such as health.
   *
   * @throws LockedOutException if this is the first key, and it has expired or does not permit its owner to add further
   *     keys
   */
  public synchronized void add(ApiKey key, Instant now) {
    boolean unused = refresh();
    if (isEmpty() && !(key.administers() && key.holdsAt(now))) {
      throw new LockedOutException(
          "the first key locks the server, so it must be one that can make others: give it the action admin and the"
              + " queues *");
    }
    require();
    vault.add(key);
    keys.put(key.id(), new Entry(key, key.caller()));
  }

  /**
   * Removes a key. Reads the vault first, because another server may have removed a key since the latest refresh.
   *
   * @param mayOpen whether the operator permits the server to be open without keys
   * @return whether the key existed
   * @throws LockedOutException if keys remain, but none of them could add further keys; or if no key remains, and the
   *     server may not be open
   */
  public synchronized boolean remove(String id, Instant now, boolean mayOpen) {
    boolean unused = refresh();
    if (!keys.containsKey(id)) {
      return false;
    }
    List<ApiKey> others = all().stream().filter(key -> !key.id().equals(id)).toList();
    boolean stillAdministered = configured != null
        || others.stream().anyMatch(key -> key.administers() && key.holdsAt(now));
    if (!stillAdministered && !(others.isEmpty() && mayOpen)) {
      throw new LockedOutException(
          "this is the last key that can make others; make another key with the action admin and the queues * first. To"
              + " use a server on loopback without keys, start it with --access open (security.access), and remove its"
              + " keys");
    }
    vault.remove(id);
    keys.remove(id);
    if (isEmpty()) {
      isRequired = false; // only with mayOpen; at the next start, the operator decides again
    }
    return true;
  }
}
