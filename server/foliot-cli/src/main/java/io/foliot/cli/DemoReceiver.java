package io.foliot.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** The receiver of the demo's callbacks. */
final class DemoReceiver implements AutoCloseable {
  private final HttpServer server;

  /** A callback that has arrived. The key is empty if the task has none. */
  record Callback(String queue, String key, String task, int attempt, Instant dueAt, Instant arrivedAt, String body) {
    /** Returns the lateness; negative if the callback arrived early. */
    Duration late() {
      return Duration.between(dueAt, arrivedAt);
    }
  }

  /**
   * Starts the receiver on a free port.
   *
   * @param answer returns the status of the response to a callback; called by many threads concurrently
   */
  DemoReceiver(Function<Callback, Integer> answer) {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      Instant arrivedAt = Instant.now();
      byte[] body = exchange.getRequestBody().readAllBytes();
      int status = answer.apply(new Callback(header(exchange, "foliot-queue"), header(exchange, "foliot-key"),
          header(exchange, "foliot-task-id"), Integer.parseInt(header(exchange, "foliot-attempt")),
          Instant.parse(header(exchange, "foliot-due-at")), arrivedAt, new String(body, StandardCharsets.UTF_8)));
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
