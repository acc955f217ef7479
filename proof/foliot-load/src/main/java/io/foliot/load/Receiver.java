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
 * Receives callbacks and keeps a ledger of them: as little work as a receiver can do, on one thread. The lot is in the
 * path, the number of the task at the beginning of its payload ({@link TaskText}).
 */
final class Receiver implements AutoCloseable {
  private static final int BUFFER = 64 << 10;
  private static final int BACKLOG = 4_096;
  private static final byte[] OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII);
  private static final int LOT_AT = "POST /".length();
  private static final int LOT_DIGITS = 4;

  private final ServerSocketChannel server;
  private final Selector selector;
  private final Thread thread;
  private final IntPredicate loses;
  private final InetAddress shown;
  private final List<Ledger> ledgers = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  private static final class Connection {
    final byte[] bytes = new byte[BUFFER];
    final ByteBuffer in = ByteBuffer.wrap(bytes);
    final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER);
  }

  /**
   * A receiver on a free port.
   *
   * @param address where it listens
   * @param loses tells of a number whether that delivery is answered and then forgotten: the broken receiver that shows
   *     that a loss would be noticed
   */
  Receiver(InetAddress address, IntPredicate loses) {
    this.loses = loses;
    shown = address;
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

  /** Returns a new ledger for a number of tasks. */
  Ledger ledger(int tasks) {
    Ledger ledger = new Ledger(tasks);
    ledgers.add(ledger);
    return ledger;
  }

  /** Returns the URL for the tasks of a ledger. */
  String url(Ledger ledger) {
    String host = shown.getHostAddress();
    String lot = String.format("%0" + LOT_DIGITS + "d", ledgers.indexOf(ledger));
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + server.socket().getLocalPort() + "/"
        + lot;
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
      // The server was killed, or gave the connection up; what it had sent is noted.
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
    int next = note(connection.bytes, at, end, wallMicros);
    while (next > 0) {
      connection.out.put(OK);
      at = next;
      next = note(connection.bytes, at, end, wallMicros);
    }
    connection.in.flip().position(at);
    connection.in.compact();
    connection.out.flip();
    while (connection.out.hasRemaining()) {
      channel.write(connection.out);
    }
    connection.out.clear();
  }

  /** Notes the request that begins there; answers where it ends, or 0 if it has not all arrived. */
  private int note(byte[] bytes, int from, int to, long wallMicros) {
    int headEnd = HttpText.headEnd(bytes, from, to);
    if (headEnd < 0) {
      return 0;
    }
    int end = headEnd + Math.max(0, HttpText.contentLength(bytes, from, headEnd));
    if (end > to) {
      return 0;
    }
    int lot = HttpText.digits(bytes, from + LOT_AT, LOT_DIGITS);
    int task = TaskText.number(bytes, headEnd);
    if (lot >= 0 && lot < ledgers.size() && !(task >= 0 && loses.test(task))) {
      ledgers.get(lot).arrived(task, wallMicros);
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
      throw new BenchException("the receiver could not be closed: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
