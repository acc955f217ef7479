package io.foliot.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The load generator: HTTP/1.1 connections to one server, each with at most one request in flight. The calling thread
 * serves all connections with one selector. The generator shares the processors with the server, so it must be cheap.
 */
final class Load implements AutoCloseable {
  /** Initial size of a connection's buffer, in bytes. */
  private static final int FIRST_BUFFER = 16 << 10;
  /** Index of the status code in a response. */
  private static final int STATUS_AT = "HTTP/1.1 ".length();
  /** Longest wait for an event. The end of a run is therefore noticed at most this late. */
  private static final long MAX_SLEEP_MILLIS = 20;

  private final Selector selector;
  private final List<Connection> connections = new ArrayList<>();
  private final Deque<Connection> idle = new ArrayDeque<>();

  /** A request: its bytes, and a number by which {@link Work} recognizes it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Request(byte[] bytes, int number) {}

  /**
   * The response to a request.
   *
   * @param bytes the buffer of the connection, which is valid until {@link Work#answered} returns
   * @param bodyFrom the index of the first byte of the body
   * @param bodyTo the index after the last byte of the body
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Answer(int status, byte[] bytes, int bodyFrom, int bodyTo, long sentNanos, long answeredNanos) {
    long tookNanos() {
      return answeredNanos - sentNanos;
    }
  }

  /** The source of requests. Called by the thread that runs the load. */
  interface Work {
    /** Result of {@link #waitNanos} if there are no more requests. */
    long NEVER = Long.MAX_VALUE;

    /** Returns the time until the next request, in nanoseconds: 0 for now, {@link #NEVER} if there are no more. */
    long waitNanos(long nowNanos);

    /** Returns the next request. Called only if {@link #waitNanos} has just returned 0. */
    Request next();

    /** Processes the response to a request. */
    void answered(Request request, Answer answer);
  }

  private static final class Connection {
    final SocketChannel channel;
    byte[] bytes = new byte[FIRST_BUFFER];
    ByteBuffer in = ByteBuffer.wrap(bytes);
    @Nullable
    ByteBuffer out;
    @Nullable
    Request request;
    long sentNanos;
    /** Index after the last byte of the response; 0 until the head has arrived. */
    int answerEnd;
    int bodyFrom;

    Connection(SocketChannel channel) {
      this.channel = channel;
    }
  }

  private Load(Selector selector) {
    this.selector = selector;
  }

  /** Opens {@code count} connections. */
  static Load open(InetSocketAddress server, int count) {
    try {
      Load load = new Load(Selector.open());
      try {
        for (int i = 0; i < count; i++) {
          load.connect(server);
        }
        return load;
      } catch (IOException e) {
        load.close();
        throw e;
      }
    } catch (IOException e) {
      throw new BenchException("cannot connect to " + server + ": " + e.getMessage(), e);
    }
  }

  private void connect(InetSocketAddress server) throws IOException {
    SocketChannel channel = SocketChannel.open(server);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    Connection connection = new Connection(channel);
    channel.register(selector, SelectionKey.OP_READ, connection);
    connections.add(connection);
    idle.add(connection);
  }

  /**
   * Sends all requests of the work, and waits for their responses.
   *
   * @param limit the longest duration
   * @return the time from the call of this method to the last response, in nanoseconds
   * @throws BenchException if the limit is exceeded or a connection fails
   */
  long run(Work work, Duration limit) {
    long begunNanos = System.nanoTime();
    long limitNanos = begunNanos + limit.toNanos();
    try {
      while (true) {
        long nowNanos = System.nanoTime();
        long waitNanos = work.waitNanos(nowNanos);
        while (waitNanos == 0 && !idle.isEmpty()) {
          send(idle.removeFirst(), work.next());
          nowNanos = System.nanoTime();
          waitNanos = work.waitNanos(nowNanos);
        }
        if (waitNanos == Work.NEVER && idle.size() == connections.size()) {
          return nowNanos - begunNanos;
        }
        if (nowNanos - limitNanos > 0) {
          throw new BenchException("the load did not end within " + limit.toSeconds() + " s: unanswered requests="
              + (connections.size() - idle.size()));
        }
        await(work, waitNanos);
      }
    } catch (IOException e) {
      throw new BenchException("a connection to the server failed: " + e.getMessage(), e);
    }
  }

  private void await(Work work, long waitNanos) throws IOException {
    long millis = idle.isEmpty() || waitNanos == Work.NEVER
        ? MAX_SLEEP_MILLIS
        : Math.min(MAX_SLEEP_MILLIS, TimeUnit.NANOSECONDS.toMillis(waitNanos));
    int ready = millis > 0 ? selector.select(millis) : selector.selectNow();
    if (ready > 0) {
      for (SelectionKey key : selector.selectedKeys()) {
        proceed(key, (Connection) key.attachment(), work);
      }
      selector.selectedKeys().clear();
    }
  }

  private void send(Connection connection, Request request) throws IOException {
    connection.request = request;
    connection.sentNanos = System.nanoTime();
    ByteBuffer out = ByteBuffer.wrap(request.bytes());
    connection.channel.write(out);
    if (out.hasRemaining()) {
      connection.out = out;
      connection.channel.keyFor(selector).interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  private void proceed(SelectionKey key, Connection connection, Work work) throws IOException {
    ByteBuffer out = connection.out;
    if (out != null && key.isWritable()) {
      connection.channel.write(out);
      if (!out.hasRemaining()) {
        connection.out = null;
        key.interestOps(SelectionKey.OP_READ);
      }
    }
    if (key.isReadable()) {
      read(connection, work);
    }
  }

  private void read(Connection connection, Work work) throws IOException {
    ByteBuffer in = connection.in;
    if (connection.channel.read(in) < 0) {
      throw new BenchException("the server closed a connection");
    }
    byte[] bytes = connection.bytes;
    if (connection.answerEnd == 0) {
      int headEnd = HttpText.headEnd(bytes, 0, in.position());
      if (headEnd >= 0) {
        // Every response that the scenarios get has a Content-Length.
        connection.bodyFrom = headEnd;
        connection.answerEnd = headEnd + Math.max(0, HttpText.contentLength(bytes, 0, headEnd));
      }
    }
    if (connection.answerEnd > 0 && in.position() >= connection.answerEnd) {
      answered(connection, work);
    } else if (!in.hasRemaining() || connection.answerEnd > in.capacity()) {
      connection.bytes = Arrays.copyOf(bytes, Math.max(2 * in.capacity(), connection.answerEnd));
      connection.in = ByteBuffer.wrap(connection.bytes).position(in.position());
    }
  }

  private void answered(Connection connection, Work work) {
    Request request = connection.request;
    if (request == null) {
      throw new BenchException("the server sent a response without a request");
    }
    byte[] bytes = connection.bytes;
    Answer answer = new Answer(HttpText.digits(bytes, STATUS_AT, 3), bytes, connection.bodyFrom, connection.answerEnd,
        connection.sentNanos, System.nanoTime());
    connection.in.clear();
    connection.answerEnd = 0;
    connection.request = null;
    idle.addLast(connection);
    work.answered(request, answer);
  }

  @Override
  public void close() {
    try {
      for (Connection connection : connections) {
        connection.channel.close();
      }
      selector.close();
    } catch (IOException e) {
      throw new BenchException("cannot close a connection: " + e.getMessage(), e);
    }
  }
}
