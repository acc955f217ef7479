package io.foliot.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A server that reads one request from each connection, and then runs a {@link Conversation}. A conversation may close
 * the connection, send no answer, or send a whole or an incomplete answer.
 */
final class RawServer implements AutoCloseable {
  /** Handles one connection after its request was read. The connection is closed when the method returns. */
  interface Conversation {
    void answer(InputStream in, OutputStream out) throws IOException;
  }

  /** A conversation that closes the connection without an answer. */
  static final Conversation CUT = (in, out) -> {};

  /** A conversation that sends no answer, and lasts until the client closes the connection. */
  static final Conversation SILENT = (in, out) -> {
    int nothing = in.read();
    assert nothing == -1 : "the client sends one request";
  };

  private final ServerSocket listener;
  private final Conversation[] conversations;
  private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

  private RawServer(ServerSocket listener, Conversation[] conversations) {
    this.listener = listener;
    this.conversations = conversations;
  }

  /** Returns a server that runs one conversation per connection, in this order, and then repeats the last one. */
  static RawServer having(Conversation... conversations) {
    try {
      RawServer server = new RawServer(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), conversations);
      Thread unused = Thread.startVirtualThread(server::accept);
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a conversation that sends the given lines unchanged as the answer. */
  static Conversation reply(String... lines) {
    return (in, out) -> out.write(String.join("\r\n", lines).getBytes(UTF_8));
  }

  private void accept() {
    try {
      for (int i = 0;; i++) {
        Socket socket = listener.accept();
        Conversation conversation = conversations[Math.min(i, conversations.length - 1)];
        Thread unused = Thread.startVirtualThread(() -> serve(socket, conversation));
      }
    } catch (IOException e) {
      assert listener.isClosed() : e;
    }
  }

  private void serve(Socket socket, Conversation conversation) {
    try (socket) {
      requests.add(read(socket.getInputStream()));
      conversation.answer(socket.getInputStream(), socket.getOutputStream());
      ended.add("closed by the conversation");
    } catch (IOException e) {
      ended.add(e.toString());
    }
  }

  /** Returns the head and the body of one request. */
  private static String read(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int c = in.read();
      if (c < 0) {
        throw new IOException("the client closed the connection within the head");
      }
      head.append((char) c);
    }
    int length = 0;
    for (String line : head.toString().split("\r\n", -1)) {
      if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
        length = Integer.parseInt(line.substring(15).trim());
      }
    }
    return head + new String(in.readNBytes(length), ISO_8859_1);
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /** Waits for the next request, and returns its head and body. */
  String request() {
    return Bound.take(requests);
  }

  /** Waits until a connection has ended. */
  void awaitEnd() {
    String unused = Bound.take(ended);
  }

  /** Returns how many requests were received but not yet returned by {@link #request}. */
  int unseen() {
    return requests.size();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
