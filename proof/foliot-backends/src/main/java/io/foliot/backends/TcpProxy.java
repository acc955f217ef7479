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
 * Stands between clients and a server on the loopback address, and makes the faults of a network when told to. Without
 * faults it passes on all that comes. Clients are on this machine, too, unless another of its addresses is given. Any
 * thread may call anything.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int CHUNK_BYTES = 64 * 1024;

  /** More clients than any test has wait here at once. */
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

  /** Starts one before a port of the loopback address. */
  public static TcpProxy to(int serverPort) {
    return to(serverPort, InetAddress.getLoopbackAddress());
  }

  /**
   * Starts one before a port of the loopback address, for clients that reach this machine at another address of its.
   */
  public static TcpProxy to(int serverPort, InetAddress address) {
    TcpProxy proxy = new TcpProxy(address, serverPort);
    proxy.listen();
    return proxy;
  }

  /** Starts one before a server. */
  public static TcpProxy to(Server server) {
    return to(server.port());
  }

  /** The address that clients connect to. */
  public String host() {
    return address.getHostAddress();
  }

  /** The port of that address. */
  public int port() {
    return port;
  }

  /** Leads connections that are made from now on to another server, as where one takes over another's address. */
  public void leadTo(Server other) {
    serverPort = other.port();
  }

  /** Returns how many connections are open through it. */
  public int connectionCount() {
    return links.size();
  }

  /** Resets all connections, now. New ones are welcome. */
  public void cut() {
    links.forEach(Link::reset);
  }

  /** As {@link #cutBeforeReplyTo}, to the next command of any kind. */
  public void cutBeforeReply() {
    cutBeforeReplyTo(request -> true);
  }

  /**
   * Resets the connection of the next request that matches, once the server has replied to it; the reply is swallowed.
   * So the server has done what the client never learns of. It happens once per call.
   *
   * <p>The bytes of one read from the client count as one request. That is exact for clients that wait for each reply
   * before they send more, as JDBC drivers do. If a client sends more while replies are on their way, one of those may
   * be taken for the reply.
   */
  public void cutBeforeReplyTo(Predicate<byte[]> request) {
    cutBeforeReplyTo.set(request);
  }

  /** Returns how many replies were swallowed since the start; it is counted before the client's connection is reset. */
  public int swallowedReplies() {
    return swallowedReplies.get();
  }

  /** Delays what comes in either direction, each chunk that is read by as much. Zero ends it. */
  public void delay(Duration each) {
    delayNanos = each.toNanos();
  }

  /** Passes on nothing more, in either direction, and keeps all connections; new ones are accepted and hear nothing. */
  public void blackHole() {
    hold(true, true);
  }

  /** Passes on requests, and no replies. */
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

  /** Silences all connections for ever, as if the other side had lost its power. New ones are accepted. */
  public void silence() {
    links.forEach(link -> link.silent = true);
  }

  /** Refuses new connections, as where no server runs. Those there are stay. */
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

  /** The kernel listens until the thread that accepts has let go of the socket. */
  private static void awaitEnd(@Nullable Thread thread) {
    try {
      if (thread != null && !thread.join(END_BOUND)) {
        throw new IllegalStateException("a socket's end must end its thread: thread=" + thread.getName());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a socket was closed", e);
    }
  }

  /** Ends all faults. Held data is sent on, as TCP would retransmit it. */
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
        // Closed by refuse or close.
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
      // No server there: the client sees what it would see without the proxy, an end without a reply.
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
          link.swallowing |= isTheOneToCut(Arrays.copyOf(chunk, length));
        } else if (link.swallowing) {
          swallowedReplies.incrementAndGet();
          break;
        }
        out.write(chunk, 0, length);
      }
      // An end is passed on as it came; a break above is a cut.
      if (from.isClosed() || link.swallowing || isClosed()) {
        link.reset();
      } else {
        link.end(to);
      }
    } catch (IOException e) {
      // One side is gone, so the other goes too.
      link.reset();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      link.reset();
    }
  }

  private boolean isTheOneToCut(byte[] request) {
    Predicate<byte[]> wanted = cutBeforeReplyTo.get();
    return wanted != null && wanted.test(request) && cutBeforeReplyTo.compareAndSet(wanted, null);
  }

  /** Waits while the direction is held; false once the proxy is closed. */
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

  /** Resets all connections and listens no more. */
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

  /** A client's connection and the one to the server that belongs to it. */
  private final class Link {
    final Socket client;
    final Socket server;

    // written before a request is passed on, so the thread that reads its reply sees it
    volatile boolean swallowing;

    // any thread
    volatile boolean silent;

    // both directions' threads
    private final AtomicInteger ends = new AtomicInteger();

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    /** Passes on that one side sends no more; the link ends with the second end. */
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
        // With no time to linger, the end is a reset.
        socket.setSoLinger(true, 0);
      } catch (IOException e) {
        // It has ended already, on its own or by the other direction's thread.
      }
    }
  }
}
