package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntPredicate;

/**
 * An HTTP server that receives callbacks on one thread, with as little work as possible, and records them in ledgers.
 * The path of a callback contains the number of its ledger. The number of the task is at the beginning of the payload
 * ({@link TaskText}).
 */
final class Receiver implements AutoCloseable {
  private static final int BUFFER = 64 << 10;
  private static final int BACKLOG = 4_096;
  private static final byte[] OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII);
  /** Index of the ledger's number in a request. */
  private static final int LEDGER_AT = "POST /".length();
  private static final int LEDGER_DIGITS = 4;

  private final ServerSocketChannel server;
  private final Selector selector;
  private final Thread thread;
  private final IntPredicate loses;
  private final InetAddress address;
  private final List<Ledger> ledgers = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  private static final class Connection {
    final byte[] bytes = new byte[BUFFER];
    final ByteBuffer in = ByteBuffer.wrap(bytes);
    final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER);
  }

  /**
   * Opens a receiver on a free port.
   *
   * @param address the address on which it listens
   * @param loses returns, for the number of a task, whether its callbacks are answered but not recorded; always false
   *     outside of tests
   */
  Receiver(InetAddress address, IntPredicate loses) {
    this.loses = loses;
    this.address = address;
    try {
      server = ServerSocketChannel.open();
      server.bind(new InetSocketAddress(address, 0), BACKLOG);
      server.configureBlocking(false);
      selector = Selector.open();
      server.register(selector, SelectionKey.OP_ACCEPT);
    } catch (IOException e) {
      throw new BenchException("the receiver cannot listen on " + address + ": " + e.getMessage(), e);
    }
    thread = Thread.ofPlatform().daemon().name("bench-receiver").start(this::run);
  }

  /** Creates a ledger for a number of tasks. */
  Ledger ledger(int tasks) {
    Ledger ledger = new Ledger(tasks);
    ledgers.add(ledger);
    return ledger;
  }

  /** Returns the URL for the tasks of a ledger. */
  String url(Ledger ledger) {
    String host = address.getHostAddress();
    String number = String.format("%0" + LEDGER_DIGITS + "d", ledgers.indexOf(ledger));
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + server.socket().getLocalPort() + "/"
        + number;
  }

  private void run() {
    while (!closed) {
      try {
        selector.select(this::proceed);
      } catch (IOException e) {
        if (!closed) {
          throw new BenchException("the receiver failed: " + e.getMessage(), e);
        }
      }
    }
  }

  private void proceed(SelectionKey key) {
    try {
      if (key.isAcceptable()) {
        accept();
      } else {
        serve((SocketChannel) key.channel(), (Connection) key.attachment());
      }
    } catch (IOException e) {
      // The server was killed, or closed the connection. Complete requests are recorded.
      key.cancel();
    }
  }

  private void accept() throws IOException {
    for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.register(selector, SelectionKey.OP_READ, new Connection());
    }
  }

  private void serve(SocketChannel channel, Connection connection) throws IOException {
    int read = channel.read(connection.in);
    if (read < 0) {
      channel.close();
      return;
    }
    Instant now = Instant.now();
    long wallMicros = now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    int at = 0;
    int end = connection.in.position();
    int next = recordRequest(connection.bytes, at, end, wallMicros);
    while (next > 0) {
      connection.out.put(OK);
      at = next;
      next = recordRequest(connection.bytes, at, end, wallMicros);
    }
    connection.in.flip().position(at);
    connection.in.compact();
    connection.out.flip();
    while (connection.out.hasRemaining()) {
      channel.write(connection.out);
    }
    connection.out.clear();
  }

  /**
   * Records the request that begins at {@code from}. Returns the index after its last byte, or 0 if the request is not
   * complete.
   */
  private int recordRequest(byte[] bytes, int from, int to, long wallMicros) {
    int headEnd = HttpText.headEnd(bytes, from, to);
    if (headEnd < 0) {
      return 0;
    }
    int end = headEnd + Math.max(0, HttpText.contentLength(bytes, from, headEnd));
    if (end > to) {
      return 0;
    }
    int ledger = HttpText.digits(bytes, from + LEDGER_AT, LEDGER_DIGITS);
    int task = TaskText.number(bytes, headEnd);
    if (ledger >= 0 && ledger < ledgers.size() && !(task >= 0 && loses.test(task))) {
      ledgers.get(ledger).arrived(task, wallMicros);
    }
    return end;
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join();
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
      server.close();
    } catch (IOException e) {
      throw new BenchException("cannot close the receiver: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
