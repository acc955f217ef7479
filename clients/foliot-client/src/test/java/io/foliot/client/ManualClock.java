package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A clock for tests. A patient clock advances only when the test advances it. A hasty clock also advances by each
 * requested delay, at the time of the request.
 */
final class ManualClock implements ClientClock {
  static final Instant START = Instant.parse("2026-11-21T00:00:00Z");

  private record Waiter(long untilNanos, CompletableFuture<Void> future) {}

  private final boolean hasty;
  private final List<Waiter> waiters = new ArrayList<>();
  private final List<Duration> waits = new ArrayList<>();
  private long nanos;

  private ManualClock(boolean hasty) {
    this.hasty = hasty;
  }

  static ManualClock patient() {
    return new ManualClock(false);
  }

  static ManualClock hasty() {
    return new ManualClock(true);
  }

  @Override
  public synchronized Instant now() {
    return START.plusNanos(nanos);
  }

  @Override
  public synchronized long nanoTime() {
    return nanos;
  }

  @Override
  public synchronized CompletableFuture<Void> after(Duration delay) {
    waits.add(delay);
    CompletableFuture<Void> future = new CompletableFuture<>();
    if (hasty) {
      nanos += delay.toNanos();
      future.complete(null);
    } else {
      waiters.add(new Waiter(nanos + delay.toNanos(), future));
    }
    return future;
  }

  /** Advances the clock, and then completes the delays that have ended. */
  void advance(Duration by) {
    List<Waiter> due = new ArrayList<>();
    synchronized (this) {
      nanos += by.toNanos();
      for (Iterator<Waiter> it = waiters.iterator(); it.hasNext();) {
        Waiter waiter = it.next();
        if (waiter.untilNanos <= nanos) {
          it.remove();
          due.add(waiter);
        }
      }
    }
    due.forEach(waiter -> waiter.future.complete(null));
  }

  /** Returns all requested delays, in the order of the requests. */
  synchronized List<Duration> waits() {
    return List.copyOf(waits);
  }

  /** Returns how many requested delays have not ended yet. */
  synchronized long waiting() {
    return waiters.stream().filter(waiter -> !waiter.future.isDone()).count();
  }
}
