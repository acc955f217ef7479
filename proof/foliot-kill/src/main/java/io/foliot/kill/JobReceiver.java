package io.foliot.kill;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The receiver of the callbacks of jobs. It records the firings of each scheduled time, and counts early callbacks. */
final class JobReceiver implements AutoCloseable {
  private final Listener listener = new Listener(ServerHost.LOOPBACK.receiverHost(), this::handle);
  private final Map<String, Map<Instant, Set<String>>> firings = new ConcurrentHashMap<>();
  private final AtomicInteger early = new AtomicInteger();
  private final AtomicInteger callbacks = new AtomicInteger();

  URI url() {
    return listener.url();
  }

  private void handle(HttpExchange exchange) {
    try (exchange) {
      Headers headers = exchange.getRequestHeaders();
      Instant scheduled = Instant.parse(headers.getFirst("foliot-scheduled-at"));
      if (Instant.now().isBefore(scheduled)) {
        early.incrementAndGet();
      }
      callbacks.incrementAndGet();
      firings(headers.getFirst("foliot-job")).computeIfAbsent(scheduled, time -> ConcurrentHashMap.newKeySet())
          .add(headers.getFirst("webhook-id"));
      exchange.getRequestBody().readAllBytes();
      exchange.sendResponseHeaders(200, -1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the ids of the firings of a job that have arrived, by scheduled time. */
  Map<Instant, Set<String>> firings(String job) {
    return firings.computeIfAbsent(job, name -> new ConcurrentHashMap<>());
  }

  /** Returns how many callbacks arrived before their scheduled times. */
  int early() {
    return early.get();
  }

  int callbacks() {
    return callbacks.get();
  }

  @Override
  public void close() {
    listener.close();
  }
}
