package io.foliot.backends;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A proxy between clients and a server on the loopback address. The proxy injects network faults on request; without
 * faults it passes on all data. It listens on the loopback address, unless another address of this machine is given.
 * Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int CHUNK_BYTES = 64 * 1024;

  /** Maximum number of clients that wait to be accepted: more than any test has. */
  private static final int BACKLOG = 1_024;

  private static final Duration END_BOUND = Duration.ofSeconds(30);

  private final InetAddress address;
  private final int port;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Predicate<byte[]>> cutBeforeReplyTo = new AtomicReference<>();
  private final AtomicInteger swallowedReplies = new AtomicInteger();

  // guarded by the lock
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean requestsHeld;
  private boolean repliesHeld;
  private boolean closed;
  private @Nullable ServerSocket listening;
  private @Nullable Thread accepting;

  // any thread
  private volatile long delayNanos;
  private volatile int serverPort;

  private TcpProxy(InetAddress address, int serverPort) {
    this.address = address;
    this.serverPort = serverPort;
    port = ServerProcess.freePort();
  }

  /** Starts a proxy in front of a port of the loopback address. */
  public static TcpProxy to(int serverPort) {
    return to(serverPort, InetAddress.getLoopbackAddress());
  }

  /**
   * Starts a proxy in front of a port of the loopback address.
   *
   * @param address the address of this machine at which the proxy listens
   */
  public static TcpProxy to(int serverPort, InetAddress address) {
    TcpProxy proxy = new TcpProxy(address, serverPort);
    proxy.listen();
    return proxy;
  }

  /** Starts a proxy in front of a server. */
  public static TcpProxy to(Server server) {
    return to(server.port());
  }

  /** Returns the address that clients connect to. */
  public String host() {
    return address.getHostAddress();
  }

  /** Returns the port that clients connect to. */
  public int port() {
    return port;
  }

  /** Directs new connections to another server, as if that server had taken over the address of the first server. */
  public void leadTo(Server other) {
    serverPort = other.port();
  }

  /** Returns the number of connections that are open through the proxy. */
  public int connectionCount() {
    return links.size();
  }

  /** Resets all connections. New connections are accepted. */
  public void cut() {
    links.forEach(Link::reset);
  }

  /** Cuts as {@link #cutBeforeReplyTo} does, at the next request of any kind. */
  public void cutBeforeReply() {
    cutBeforeReplyTo(request -> true);
  }

  /**
   * Waits for the next matching request. When the server has replied to it, drops the reply and resets the connection.
   * So the request has taken effect, but the client gets no reply. Each call of this method cuts at most one
   * connection. If the request of an earlier call has not come yet, a new call replaces the earlier call.
   *
   * <p>The bytes of one read from the client count as one request. This is exact for clients that wait for each reply
   * before they send the next request, as JDBC drivers do. If a client sends a request before earlier replies have
   * arrived, the proxy may drop an earlier reply instead.
   */
  public void cutBeforeReplyTo(Predicate<byte[]> request) {
    cutBeforeReplyTo.set(request);
  }

  /**
   * Returns the number of replies that {@link #cutBeforeReplyTo} has dropped so far. A reply is counted before the
   * client's connection is reset.
   */
  public int swallowedReplies() {
    return swallowedReplies.get();
  }

  /** Delays each chunk of data in either direction by this time. Zero ends the fault. */
  public void delay(Duration each) {
    delayNanos = each.toNanos();
  }

  /** Holds back the data of both directions, and keeps all connections open. New connections get no reply. */
  public void blackHole() {
    hold(true, true);
  }

  /** Passes on requests, and holds back replies. */
  public void holdReplies() {
    hold(false, true);
  }

  private void hold(boolean requests, boolean replies) {
    lock.lock();
    try {
      requestsHeld = requests;
      repliesHeld = replies;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Drops all data of the open connections forever, as if the server had lost its power. New connections work. */
  public void silence() {
    links.forEach(link -> link.silent = true);
  }

  /** Refuses new connections, as if no server ran. Open connections stay. */
  public void refuse() {
    Thread ending;
    lock.lock();
    try {
      ending = accepting;
      if (listening != null) {
        listening.close();
        listening = null;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
    awaitEnd(ending);
  }

  /** Waits until the accepting thread has ended: the kernel listens until that thread has released the socket. */
  private static void awaitEnd(@Nullable Thread thread) {
    try {
      if (thread != null && !thread.join(END_BOUND)) {
        throw new IllegalStateException("a thread did not end after its socket was closed: thread=" + thread.getName());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the accepting thread to end", e);
    }
  }

  /** Ends all faults, except for silenced connections. Held data is sent on, as TCP would retransmit it. */
  public void heal() {
    delayNanos = 0;
    cutBeforeReplyTo.set(null);
    hold(false, false);
    listen();
  }

  private void listen() {
    lock.lock();
    try {
      if (listening == null && !closed) {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(address, port), BACKLOG);
        listening = socket;
        accepting = Thread.ofVirtual().name("proxy-accept").start(() -> accept(socket));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  private void accept(ServerSocket socket) {
    while (true) {
      Socket client;
      try {
        client = socket.accept();
      } catch (IOException e) {
        // The method refuse or close has closed the socket.
        return;
      }
      Thread.ofVirtual().name("proxy-connect").start(() -> connect(client));
    }
  }

  private void connect(Socket client) {
    Link link = new Link(client, new Socket());
    links.add(link);
    try {
      if (!awaitPassage(true)) {
        link.reset();
        return;
      }
      link.server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), serverPort));
      client.setTcpNoDelay(true);
      link.server.setTcpNoDelay(true);
    } catch (IOException e) {
      // No server runs: the client sees a connection that ends without a reply.
      link.reset();
      return;
    }
    Thread.ofVirtual().name("proxy-replies").start(() -> pump(link, false));
    pump(link, true);
  }

  private void pump(Link link, boolean requests) {
    byte[] chunk = new byte[CHUNK_BYTES];
    Socket from = requests ? link.client : link.server;
    Socket to = requests ? link.server : link.client;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        TimeUnit.NANOSECONDS.sleep(delayNanos);
        if (!awaitPassage(requests)) {
          break;
        }
        if (link.silent) {
          continue;
        }
        if (requests) {
          link.swallowing |= mustCutAt(Arrays.copyOf(chunk, length));
        } else if (link.swallowing) {
          swallowedReplies.incrementAndGet();
          break;
        }
        out.write(chunk, 0, length);
      }
      // If the loop was left by a break, the connection is reset. A regular end of the data is passed on.
      if (from.isClosed() || link.swallowing || isClosed()) {
        link.reset();
      } else {
        link.end(to);
      }
    } catch (IOException e) {
      // One connection of the link is gone, so both are reset.
      link.reset();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      link.reset();
    }
  }

  private boolean mustCutAt(byte[] request) {
    Predicate<byte[]> wanted = cutBeforeReplyTo.get();
    return wanted != null && wanted.test(request) && cutBeforeReplyTo.compareAndSet(wanted, null);
  }

  /** Waits while the data of this direction is held back. Returns false if the proxy is closed. */
  private boolean awaitPassage(boolean requests) {
    lock.lock();
    try {
      while (!closed && (requests ? requestsHeld : repliesHeld)) {
        changed.awaitUninterruptibly();
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Resets all connections, and stops listening. */
  @Override
  public void close() {
    refuse();
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    cut();
  }

  /** A client's connection to the proxy, and the proxy's connection to the server for this client. */
  private final class Link {
    final Socket client;
    final Socket server;

    // written before a request is passed on, so the thread that reads the reply sees the value
    volatile boolean swallowing;

    // any thread
    volatile boolean silent;

    // the threads of both directions
    private final AtomicInteger ends = new AtomicInteger();

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    /** Passes on the end of the data of one side. After the end of both sides, closes the link. */
    void end(Socket to) throws IOException {
      to.shutdownOutput();
      if (ends.incrementAndGet() == 2) {
        client.close();
        server.close();
        links.remove(this);
      }
    }

    void reset() {
      links.remove(this);
      reset(client);
      reset(server);
    }

    private static void reset(Socket socket) {
      try (socket) {
        // With a linger time of zero, a close sends a reset.
        socket.setSoLinger(true, 0);
      } catch (IOException e) {
        // The socket was closed already, by its peer or by the thread of the other direction.
      }
    }
  }
}
