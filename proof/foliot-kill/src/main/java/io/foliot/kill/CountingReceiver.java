package io.foliot.kill;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A receiver of the callbacks of many tasks. The payload of a task is its number. The receiver counts the callbacks of
 * each task, and keeps the lateness and the attempt number of the latest callback.
 */
final class CountingReceiver implements AutoCloseable {
  private final Listener listener;
  private final AtomicIntegerArray times;
  private final AtomicIntegerArray lateMillis;
  private final AtomicIntegerArray attempts;
  private final AtomicInteger arrived = new AtomicInteger();

  /**
   * Starts the receiver.
   *
   * @param tasks the number of tasks, which are numbered from 0
   */
  CountingReceiver(int tasks) {
    times = new AtomicIntegerArray(tasks);
    lateMillis = new AtomicIntegerArray(tasks);
    attempts = new AtomicIntegerArray(tasks);
    listener = new Listener(ServerHost.LOOPBACK.receiverHost(), this::handle);
  }

  URI url() {
    return listener.url();
  }

  private void handle(HttpExchange exchange) {
    try (exchange) {
      long now = System.currentTimeMillis();
      String payload = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII);
      int number = Integer.parseInt(payload);
      long late = now - Instant.parse(exchange.getRequestHeaders().getFirst("foliot-due-at")).toEpochMilli();
      lateMillis.set(number, (int) late);
      attempts.set(number, Integer.parseInt(exchange.getRequestHeaders().getFirst("foliot-attempt")));
      if (times.getAndIncrement(number) == 0) {
        arrived.getAndIncrement();
      }
      exchange.sendResponseHeaders(200, -1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns how many tasks have arrived at least once. */
  int arrived() {
    return arrived.get();
  }

  /** Returns how often a task has arrived. */
  int times(int number) {
    return times.get(number);
  }

  /** Returns the lateness of a task's latest callback, in ms. It is negative if the callback was early. */
  int lateMillis(int number) {
    return lateMillis.get(number);
  }

  /** Returns the attempt number of a task's latest callback, from 1; 0 if there was none. */
  int attempt(int number) {
    return attempts.get(number);
  }

  @Override
  public void close() {
    listener.close();
  }
}
