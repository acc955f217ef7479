package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A server on the loopback interface that sends the replies of a test, and records the requests. */
final class StubServer implements AutoCloseable {
  /**
   * A received request.
   *
   * @param path the path as it was sent, with the query
   */
  record Request(String method, String path, Map<String, String> headers, String body) {
    @Nullable
    String header(String name) {
      return headers.get(name);
    }
  }

  record Reply(int status, Map<String, String> headers, String body) {
    static Reply json(int status, String body) {
      return new Reply(status, Map.of("Content-Type", "application/json"), body);
    }

    static Reply problem(int status, String body) {
      return new Reply(status, Map.of("Content-Type", "application/problem+json"), body);
    }

    static Reply empty(int status) {
      return new Reply(status, Map.of(), "");
    }

    static Reply retryAfter(int status, String value) {
      return new Reply(status, Map.of("Retry-After", value), "");
    }
  }

  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private volatile Function<Request, Reply> answers;

  private StubServer(HttpServer server, Function<Request, Reply> answers) {
    this.server = server;
    this.answers = answers;
  }

  static StubServer answering(Function<Request, Reply> answers) {
    try {
      StubServer stub = new StubServer(
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0), answers);
      stub.server.setExecutor(stub.executor);
      stub.server.createContext("/", stub::serve);
      stub.server.start();
      return stub;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static StubServer answering(int status, String body) {
    return answering(request -> Reply.json(status, body));
  }

  /** Returns a server that sends the given replies, in their order, and then repeats the last reply. */
  static StubServer answeringInTurn(Reply... replies) {
    BlockingQueue<Reply> turns = new LinkedBlockingQueue<>(java.util.List.of(replies));
    return answering(request -> {
      Reply next = turns.poll();
      return next == null ? replies[replies.length - 1] : next;
    });
  }

  void answerWith(Function<Request, Reply> newAnswers) {
    answers = newAnswers;
  }

  void answer(int status, String body) {
    answers = request -> Reply.json(status, body);
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> headers = new java.util.TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.getFirst()));
      Request request = new Request(exchange.getRequestMethod(), exchange.getRequestURI().toString(), headers,
          new String(exchange.getRequestBody().readAllBytes(), UTF_8));
      requests.add(request);
      Reply reply = answers.apply(request);
      reply.headers.forEach(exchange.getResponseHeaders()::set);
      byte[] body = reply.body.getBytes(UTF_8);
      exchange.sendResponseHeaders(reply.status, body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Waits for the next request, and returns it. */
  Request request() {
    return Bound.take(requests);
  }

  /** Returns how many requests were received but not yet returned by {@link #request}. */
  int unseen() {
    return requests.size();
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
