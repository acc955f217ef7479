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
 * The load generator: many connections to one server, driven by the calling thread. HTTP/1.1, kept alive, one request
 * at a time on each connection. One thread and one selector, as wrk has it, because load and server share the
 * processors, and the server does not get the time that the generator takes.
 */
final class Load implements AutoCloseable {
  private static final int FIRST_BUFFER = 16 << 10;
  private static final int STATUS_AT = "HTTP/1.1 ".length();
  /** The longest sleep while nothing happens: how late the end of the time is noticed. */
  private static final long MAX_SLEEP_MILLIS = 20;

  private final Selector selector;
  private final List<Connection> connections = new ArrayList<>();
  private final Deque<Connection> idle = new ArrayDeque<>();

  /** A request: its bytes, and the id by which its sender knows it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Request(byte[] bytes, int number) {}

  /** An answer. The bytes belong to the connection: they hold until the call with them returns. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Answer(int status, byte[] bytes, int bodyFrom, int bodyTo, long sentNanos, long answeredNanos) {
    long tookNanos() {
      return answeredNanos - sentNanos;
    }
  }

  /** The source of requests. Called by the thread that runs the load. */
  interface Work {
    /** There is no more. */
    long NEVER = Long.MAX_VALUE;

    /** Returns how long until the next request may go; 0 for now, {@link #NEVER} at the end. */
    long waitNanos(long nowNanos);

    /** The next request. */
    Request next();

    /** A request was answered. */
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
    /** The end of the answer, once its head is there; before, 0. */
    int answerEnd;
    int bodyFrom;

    Connection(SocketChannel channel) {
      this.channel = channel;
    }
  }

  private Load(Selector selector) {
    this.selector = selector;
  }

  /** Opens the connections. */
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
      throw new BenchException("no connection to " + server + ": " + e.getMessage(), e);
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
   * Does the work.
   *
   * @param limit when it is given up, with requests that were not answered
   * @return from the first request to the last answer, in nanoseconds
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
          throw new BenchException("after " + limit.toSeconds() + " s requests were still not answered: requests="
              + (connections.size() - idle.size()));
        }
        await(work, waitNanos);
      }
    } catch (IOException e) {
      throw new BenchException("the connection to the server broke: " + e.getMessage(), e);
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
        // The answers of all calls used here say how long they are.
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
      throw new BenchException("the server answered without being asked");
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
      throw new BenchException("a connection could not be closed: " + e.getMessage(), e);
    }
  }
}
