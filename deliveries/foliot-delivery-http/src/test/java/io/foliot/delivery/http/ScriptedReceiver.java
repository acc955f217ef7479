package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A receiver that records requests, and sends the bytes of a script as its answers. */
class ScriptedReceiver implements AutoCloseable {
  private final ServerSocket server;
  private final Reply reply;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  final AtomicInteger connections = new AtomicInteger();
  final AtomicInteger requests = new AtomicInteger();
  final BlockingQueue<Request> received = new LinkedBlockingQueue<>();
  /** Queue with one element for each connection that was closed by the client or by {@link #hangUp}. */
  final BlockingQueue<Boolean> closedByClient = new LinkedBlockingQueue<>();

  /** A script that writes an answer. */
  @FunctionalInterface
  interface Reply {
    /** Writes the answer to a request. Returns false to close the connection. */
    boolean to(Request request, OutputStream out) throws IOException, InterruptedException;
  }

  /** A request as it was received. */
  record Request(String line, Map<String, List<String>> headers, List<Byte> body, int connection) {
    @Nullable
    String header(String name) {
      List<String> values = headers.get(name);
      return values == null ? null : values.getLast();
    }

    byte[] bytes() {
      byte[] bytes = new byte[body.size()];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = body.get(i);
      }
      return bytes;
    }
  }

  ScriptedReceiver(Reply reply) {
    this(reply, newServer());
  }

  ScriptedReceiver(Reply reply, ServerSocket server) {
    this.reply = reply;
    this.server = server;
    Thread.ofVirtual().start(this::accept);
  }

  static ServerSocket newServer() {
    try {
      return new ServerSocket(0, 1_024, InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Reply always(String answer) {
    byte[] bytes = answer.getBytes(ISO_8859_1);
    return (request, out) -> {
      out.write(bytes);
      return true;
    };
  }

  static String ok() {
    return "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  }

  int port() {
    return server.getLocalPort();
  }

  String url() {
    return "http://127.0.0.1:" + port() + "/hook";
  }

  /** Runs for each new connection before its first byte is read. Subclasses may override it. */
  void accepted(Socket socket) {
    // Nothing to do.
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        accepted(socket);
        open.add(socket);
        int connection = connections.incrementAndGet();
        Thread.ofVirtual().start(() -> serve(socket, connection));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket, int connection) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (true) {
        Request request = read(in, connection);
        if (request == null) {
          closedByClient.add(true);
          return;
        }
        requests.incrementAndGet();
        received.add(request);
        if (!reply.to(request, socket.getOutputStream())) {
          return;
        }
        socket.getOutputStream().flush();
      }
    } catch (IOException e) {
      closedByClient.add(true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(socket);
    }
  }

  private static @Nullable Request read(InputStream in, int connection) throws IOException {
    String line = line(in);
    if (line == null) {
      return null;
    }
    Map<String, List<String>> headers = new TreeMap<>();
    String header = line(in);
    while (header != null && !header.isEmpty()) {
      int colon = header.indexOf(':');
      headers.computeIfAbsent(header.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(header.substring(colon + 1).strip());
      header = line(in);
    }
    List<String> length = headers.get("content-length");
    List<Byte> body = new ArrayList<>();
    for (byte b : in.readNBytes(length == null ? 0 : Integer.parseInt(length.getFirst()))) {
      body.add(b);
    }
    return new Request(line, headers, body, connection);
  }

  private static @Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int b = in.read();
    if (b < 0) {
      return null;
    }
    while (b >= 0 && b != '\n') {
      if (b != '\r') {
        line.write(b);
      }
      b = in.read();
    }
    return line.toString(ISO_8859_1);
  }

  /** Closes all connections, as a receiver closes idle connections. */
  void hangUp() throws IOException {
    for (Socket socket : open) {
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    hangUp();
  }
}
