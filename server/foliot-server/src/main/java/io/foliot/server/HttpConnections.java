package io.foliot.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.task.InterruptableTask;
import io.helidon.http.Headers;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionListener;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Helidon's connections with three additions. If a request is answered before all of it has arrived, the server reads
 * and discards the rest for a moment before it closes the connection. Requests of HTTP/1.0 are served. A connection is
 * closed if its client is too slow.
 *
 * <p>A client has a limited time for each of two phases. The request phase begins when the head of a request has
 * arrived, and ends when the server begins to write the answer. In this phase, the body must also arrive at a minimum
 * rate. The answer phase follows, and ends when the head of the next request has arrived. The head has a shorter limit
 * of its own. Only the time for which the connection waits for the client to send or to read is limited,
 * not the time for which the request waits for the store. Bytes that arrive too late are refused. If they belong to a
 * body, the request is answered with 408. A connection that is idle may remain idle longer: the time for the head of a
 * request begins with its first bytes. If the client neither sends nor reads, Helidon's timer soon closes the
 * connection. Helidon's own read timeout is of no use here, because it has no effect on the socket channels that
 * Helidon uses.
 *
 * <p>Helidon 4.5.0 has two mistakes. It treats the unread body of a request with {@code Expect} as the next request,
 * and it keeps a connection open after an answer with {@code Connection: close}. {@link HttpListener} therefore ends
 * such connections itself, with an exception that {@link Connection#handle} catches or passes on.
 */
final class HttpConnections implements ServerConnectionSelector {
  /**
   * Maximum number of bytes that are read and discarded after the last answer. If the server closed a connection that
   * has unread bytes, the connection would be reset, and the client could lose the answer.
   */
  private static final int MAX_LINGER_BYTES = 16 << 20;
  /**
   * Longest time for which bytes are read and discarded. If the client sends nothing more and waits for the close, it
   * waits this long.
   */
  private static final Duration LINGER = Duration.ofSeconds(1);

  /** Longest wait for the head of a request after its first bytes, and for the first request of a connection. */
  private static final Duration HEAD = Duration.ofSeconds(10);
  /** Number of checks of a connection within the time limit of its client. */
  private static final int CHECKS = 10;
  /** The connection whose requests this thread serves. */
  private static final ThreadLocal<Current> CURRENT = new ThreadLocal<>();

  private final Http1ConnectionSelector http1;
  private final int maxFirstLine;
  private final int maxHeadersBytes;
  private final Duration clientTimeout;
  private final ConnectionShares shares;

  /**
   * @param maxConnections the largest number of connections, which Helidon enforces
   * @param clientTimeout the longest time for which a connection waits for its client in each phase
   */
  HttpConnections(Http1Config.Builder builder, int maxConnections, Duration clientTimeout) {
    shares = new ConnectionShares(maxConnections);
    Http1Config config = builder.addReceiveListener(new Http1ConnectionListener() {
      @Override
      public void headers(ConnectionContext context, Headers headers) {
        ((Context) context).client.begin();
      }
    }).addSendListener(new Http1ConnectionListener() {
      @Override
      public void status(ConnectionContext context, Status status) {
        ((Context) context).client.answers();
      }
    }).build();
    http1 = Http1ConnectionSelector.builder().config(config).build();
    maxFirstLine = config.maxPrologueLength();
    maxHeadersBytes = config.maxHeadersSize();
    this.clientTimeout = clientTimeout;
  }

  /**
   * Returns how long a connection may wait for its client before Helidon's timer closes the connection. This is longer
   * than the time limit of the client, so that a client that sends too slowly is answered before the close.
   */
  Duration closesAfter() {
    return clientTimeout.plus(LINGER);
  }

  /** Returns the time from one check of the connections to the next. */
  Duration checksEvery() {
    return shorter(HEAD).dividedBy(CHECKS);
  }

  private Duration shorter(Duration limit) {
    return limit.compareTo(clientTimeout) < 0 ? limit : clientTimeout;
  }

  /** Thrown to end a connection whose client is too slow. */
  static final class SlowClientException extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    SlowClientException() {
      super("the client is too slow");
    }
  }

  /**
   * Thrown to end a connection if a request was answered before all of it was read. The remaining bytes must not be
   * parsed as a request.
   */
  static final class UnreadRequestException extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    UnreadRequestException() {
      super("the rest of the request is not read");
    }
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http1.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return Support.SUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http1.supportedApplicationProtocols();
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    ClientWait client = new ClientWait(clientTimeout, shorter(HEAD));
    SocketReads reads = new SocketReads(context.serverSocket());
    DataReader reader = DataReader.create(new Intake(reads, maxFirstLine, maxHeadersBytes, client));
    Context own = new Context(context, reader, new Output(context.dataWriter(), client), client);
    return new Connection(http1.connection(own), context.serverSocket(), reads, client, context.remotePeer().host());
  }

  /** Returns how many connections are open. */
  int open() {
    return shares.open();
  }

  /** A connection as its requests see it: its place among all connections, and its reads. */
  record Current(ConnectionShares.Held held, SocketReads reads) {}

  /** Returns the connection whose request this thread serves. */
  Current current() {
    return CURRENT.get();
  }

  /** A connection that reads and discards bytes for a moment if a part of the last request was not read. */
  private final class Connection implements ServerConnection, InterruptableTask<Void>, ConnectionShares.Peer {
    private final ServerConnection http1;
    private final HelidonSocket socket;
    private final SocketReads reads;
    private final ClientWait client;
    private final String address;

    Connection(ServerConnection http1, HelidonSocket socket, SocketReads reads, ClientWait client, String address) {
      this.http1 = http1;
      this.socket = socket;
      this.reads = reads;
      this.client = client;
      this.address = address;
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
      try (ConnectionShares.Held held = shares.open(address, this)) {
        CURRENT.set(new Current(held, reads));
        serve(limit);
      } finally {
        CURRENT.remove();
      }
    }

    private void serve(Limit limit) throws InterruptedException {
      try {
        http1.handle(limit);
        // After a normal return, the last request may not have been read to its end.
        linger();
      } catch (UnreadRequestException e) {
        // The request was answered before it was read to its end.
        linger();
      }
    }

    private void linger() {
      Thread limit = Thread.startVirtualThread(() -> {
        try {
          Thread.sleep(LINGER);
          socket.close();
        } catch (InterruptedException | UncheckedIOException e) {
          // The loop below has ended in time and has interrupted this thread, or the connection is closed already.
        }
      });
      try {
        int read = 0;
        byte[] bytes = reads.next();
        while (bytes != null && read < MAX_LINGER_BYTES) {
          read += bytes.length;
          bytes = reads.next();
        }
      } catch (UncheckedIOException e) {
        // The time is over, or the client has gone.
      } finally {
        limit.interrupt();
      }
    }

    @Override
    public boolean canInterrupt() {
      return !(http1 instanceof InterruptableTask<?> task) || task.canInterrupt();
    }

    @Override
    public Duration idleTime() {
      // Helidon knows one limit for all connections.
      return client.isTooLong(LINGER) ? closesAfter().plus(LINGER) : Duration.ZERO;
    }

    // Helidon's timer calls this method, and so does Helidon's stop. A close of the Helidon connection with an
    // interrupt would end only a wait for a first line.
    @Override
    public void close(boolean interrupt) {
      if (client.isTooLong(LINGER)) {
        drop();
      } else {
        http1.close(interrupt);
      }
    }

    @Override
    public boolean waits() {
      return client.waits();
    }

    @Override
    public void drop() {
      try {
        socket.close();
      } catch (UncheckedIOException e) {
        // The connection is closed already.
      }
    }
  }

  /**
   * The incoming bytes of a connection, checked by {@link RequestCheck}. The first request may be of HTTP/1.0, for
   * example from a health check of a proxy. Such a request is changed to HTTP/1.1 with {@code Connection: close}. A
   * client of HTTP/1.0 understands the answer, because every answer has a length and needs no feature of HTTP/1.1. A
   * request of HTTP/1.0 needs no header {@code Host}; without one it gets {@link #NO_HOST}.
   */
  private static final class Intake implements Supplier<byte @Nullable []> {
    private static final byte[] VERSION = " HTTP/1.0\r\n".getBytes(US_ASCII);
    private static final byte[] CLOSE = "Connection: close\r\n".getBytes(US_ASCII);
    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(US_ASCII);
    /** Never the name of this machine, so a server without API keys serves only open routes, such as health. */
    private static final byte[] NO_HOST = "Host: no-host.invalid\r\n".getBytes(US_ASCII);
    private static final Pattern HOST = Pattern.compile("\r\nHost[ \t]*:", Pattern.CASE_INSENSITIVE);

    private final SocketReads reads;
    private final RequestCheck check;
    private final int maxFirstLine;
    private final int maxHeadersBytes;
    private final ClientWait client;
    private boolean begun;
    private RequestCheck.@Nullable Violation violation;

    Intake(SocketReads reads, int maxFirstLine, int maxHeadersBytes, ClientWait client) {
      this.reads = reads;
      check = new RequestCheck(maxHeadersBytes);
      this.maxFirstLine = maxFirstLine;
      this.maxHeadersBytes = maxHeadersBytes;
      this.client = client;
    }

    @Override
    public byte @Nullable [] get() {
      return begun ? read() : first();
    }

    /**
     * Returns the bytes that arrive next, or null at the end of the input. The bytes before a violation are returned
     * first, because they may belong to an earlier request.
     */
    private byte @Nullable [] read() {
      if (violation != null) {
        throw violation.exception();
      }
      byte[] bytes = receive();
      violation = bytes == null ? null : check.read(bytes);
      if (violation == null) {
        return bytes;
      }
      if (violation.at() == 0) {
        throw violation.exception();
      }
      return Arrays.copyOf(bytes, violation.at());
    }

    private byte @Nullable [] receive() {
      client.enter();
      try {
        byte[] bytes = reads.next();
        // If a request arrives on an idle connection just before the close, it is still served.
        if (bytes == null || !client.endsIdle()) {
          ensureInTime();
        }
        if (bytes != null) {
          client.received(bytes.length);
        }
        return bytes;
      } catch (UncheckedIOException e) {
        ensureInTime();
        throw new ServerConnectionException("cannot read from the connection", e);
      } finally {
        client.leave();
      }
    }

    private void ensureInTime() {
      if (client.isTooLong(Duration.ZERO)) {
        throw new SlowClientException();
      }
    }

    private byte @Nullable [] first() {
      begun = true;
      byte[] bytes = read();
      if (bytes == null) {
        return null;
      }
      ByteArrayOutputStream arrived = new ByteArrayOutputStream();
      arrived.writeBytes(bytes);
      while (indexOfLineEnd(bytes) < 0 && arrived.size() <= maxFirstLine) {
        bytes = read();
        if (bytes == null) {
          break;
        }
        arrived.writeBytes(bytes);
      }
      if (!isHttp10(arrived.toByteArray())) {
        return arrived.toByteArray();
      }
      while (indexOfHeadEnd(arrived.toByteArray()) < 0 && arrived.size() <= maxFirstLine + maxHeadersBytes) {
        bytes = read();
        if (bytes == null) {
          break;
        }
        arrived.writeBytes(bytes);
      }
      return asHttp11(arrived.toByteArray());
    }

    private static int indexOfHeadEnd(byte[] bytes) {
      for (int i = 0; i <= bytes.length - HEAD_END.length; i++) {
        if (Arrays.equals(bytes, i, i + HEAD_END.length, HEAD_END, 0, HEAD_END.length)) {
          return i;
        }
      }
      return -1;
    }

    private static int indexOfLineEnd(byte[] bytes) {
      for (int i = 0; i < bytes.length; i++) {
        if (bytes[i] == '\n') {
          return i;
        }
      }
      return -1;
    }

    private static boolean isHttp10(byte[] bytes) {
      int end = indexOfLineEnd(bytes) + 1;
      int start = end - VERSION.length;
      return start >= 0 && Arrays.equals(bytes, start, end, VERSION, 0, VERSION.length);
    }

    private static byte[] asHttp11(byte[] bytes) {
      int end = indexOfLineEnd(bytes) + 1;
      int headEnd = indexOfHeadEnd(bytes);
      ByteArrayOutputStream request = new ByteArrayOutputStream(bytes.length + CLOSE.length + NO_HOST.length);
      request.write(bytes, 0, end - VERSION.length);
      request.writeBytes(" HTTP/1.1\r\n".getBytes(US_ASCII));
      request.writeBytes(CLOSE);
      if (headEnd >= 0 && !HOST.matcher(new String(bytes, 0, headEnd, US_ASCII)).find()) {
        request.writeBytes(NO_HOST);
      }
      request.write(bytes, end, bytes.length - end);
      return request.toByteArray();
    }
  }

  /** The outgoing bytes of a connection. A write waits while the client does not read. */
  private record Output(DataWriter socket, ClientWait client) implements DataWriter {
    private void write(Runnable write) {
      client.enter();
      try {
        write.run();
      } finally {
        client.leave();
      }
    }

    @Override
    public void write(BufferData... buffers) {
      write(() -> socket.write(buffers));
    }

    @Override
    public void write(BufferData buffer) {
      write(() -> socket.write(buffer));
    }

    @Override
    public void writeNow(BufferData... buffers) {
      write(() -> socket.writeNow(buffers));
    }

    @Override
    public void writeNow(BufferData buffer) {
      write(() -> socket.writeNow(buffer));
    }

    @Override
    public void flush() {
      write(socket::flush);
    }

    @Override
    public void close() {
      socket.close();
    }
  }

  /** Helidon's context of a connection, with a reader and a writer that measure the waits for the client. */
  private record Context(ConnectionContext context, DataReader dataReader, DataWriter dataWriter, ClientWait client)
      implements
        ConnectionContext {
    @Override
    public ListenerContext listenerContext() {
      return context.listenerContext();
    }

    @Override
    public ExecutorService executor() {
      return context.executor();
    }

    @Override
    public Router router() {
      return context.router();
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
      return context.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
      return context.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
      return context.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
      return context.localPeer();
    }

    @Override
    public boolean isSecure() {
      return context.isSecure();
    }

    @Override
    public String socketId() {
      return context.socketId();
    }

    @Override
    public String childSocketId() {
      return context.childSocketId();
    }
  }
}
