package io.foliot.kill;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.Lease;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.client.UnreachableException;
import io.foliot.history.Attempt;
import io.foliot.history.Event.Reception;
import io.foliot.history.History;
import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The receiver of callbacks. It records the arrival of each attempt, and each result before the result is sent. */
final class Receiver implements AutoCloseable {
  private static final int MIN_WAIT_MILLIS = 20;
  private static final int MAX_WAIT_MILLIS = 400;

  /** The receiver's reaction to an attempt. */
  private enum Reaction {
    DONE, SLOW, ERROR, SILENT, AGAIN, LATER, REFUSED;

    /**
     * Returns the reaction for a random number.
     *
     * @param die at least 0, less than 100
     */
    static Reaction of(int die) {
      return die < 72
          ? DONE
          : die < 80 ? SLOW : die < 87 ? ERROR : die < 89 ? SILENT : die < 92 ? AGAIN : die < 98 ? LATER : REFUSED;
    }
  }

  private final History history;
  private final long seed;
  private final Listener listener;
  private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();

  // any thread
  private final AtomicInteger acksUnderWay = new AtomicInteger();
  private final AtomicLong begun = new AtomicLong();
  private volatile @Nullable FoliotClient client;
  private volatile boolean succeeds;

  /**
   * Starts the receiver.
   *
   * @param host the address to listen on
   */
  Receiver(History history, long seed, String host) {
    this.history = history;
    this.seed = seed;
    listener = new Listener(host, this::handle);
  }

  URI url() {
    return listener.url();
  }

  /** Sets the client that reports the end of accepted work. */
  void reportTo(FoliotClient newClient) {
    client = newClient;
  }

  /** Makes each later attempt succeed at once. */
  void succeedAtOnce() {
    succeeds = true;
  }

  boolean hasAcksUnderWay() {
    return acksUnderWay.get() > 0;
  }

  /** Returns how many attempts have arrived. */
  long begun() {
    return begun.get();
  }

  private void handle(HttpExchange exchange) {
    Headers headers = exchange.getRequestHeaders();
    Attempt attempt = new Attempt(required(headers, "foliot-task-id"), required(headers, "foliot-queue"),
        headers.getFirst("foliot-key"), Long.parseLong(required(headers, "foliot-generation")),
        required(headers, "webhook-id"), Integer.parseInt(required(headers, "foliot-attempt")),
        Instant.parse(required(headers, "foliot-due-at")).toEpochMilli());
    long delivery = history.began(System.currentTimeMillis(), attempt);
    begun.incrementAndGet();
    // The random numbers depend on the seed and the attempt, not on the order of arrivals.
    SplittableRandom random = new SplittableRandom(seed ^ Objects.hash(attempt.firingId(), attempt.attempt()));
    Reaction reaction = succeeds ? Reaction.DONE : Reaction.of(random.nextInt(100));
    int waitMillis = random.nextInt(MIN_WAIT_MILLIS, MAX_WAIT_MILLIS);
    switch (reaction) {
      case DONE -> reply(exchange, delivery, Reception.SUCCESS, 200);
      case SLOW -> after(waitMillis, () -> reply(exchange, delivery, Reception.SUCCESS, 200));
      case ERROR -> reply(exchange, delivery, Reception.RETRY, 500);
      case REFUSED -> reply(exchange, delivery, Reception.REFUSED, 410);
      // The exchange is closed without an answer, after the sender has stopped waiting.
      case SILENT -> after(2 * Rig.TIMEOUT.toMillis(), exchange::close);
      case AGAIN -> {
        exchange.getResponseHeaders().set("foliot-next", waitMillis + "ms");
        reply(exchange, delivery, Reception.AGAIN, 200);
      }
      case LATER -> {
        Lease lease = new Lease(attempt.taskId(), required(headers, "foliot-lease-token"), attempt.generation());
        exchange.getResponseHeaders().set("foliot-ack", "later");
        acksUnderWay.incrementAndGet();
        after(waitMillis, () -> ack(delivery, lease));
        send(exchange, 202);
      }
    }
  }

  private static String required(Headers headers, String name) {
    return Objects.requireNonNull(headers.getFirst(name), name);
  }

  private void after(long millis, Runnable action) {
    var unused = later.schedule(() -> listener.execute(action), millis, TimeUnit.MILLISECONDS);
  }

  private void ack(long delivery, Lease lease) {
    try {
      history.replied(delivery, System.currentTimeMillis(), Reception.SUCCESS);
      Objects.requireNonNull(client).ack(lease);
    } catch (FoliotException | UnknownOutcomeException | UnreachableException e) {
      // The server was killed or cut off, or the lease was lost.
    } finally {
      acksUnderWay.decrementAndGet();
    }
  }

  private void reply(HttpExchange exchange, long delivery, Reception reception, int status) {
    history.replied(delivery, System.currentTimeMillis(), reception);
    send(exchange, status);
  }

  private static void send(HttpExchange exchange, int status) {
    try (exchange) {
      exchange.sendResponseHeaders(status, -1);
    } catch (IOException e) {
      // The connection is broken, for example because the server was killed.
    }
  }

  @Override
  public void close() {
    later.shutdownNow();
    listener.close();
  }
}
