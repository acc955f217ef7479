package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The client's source of time and waits; tests replace it. */
interface ClientClock {
  ClientClock SYSTEM = new ClientClock() {
    @Override
    public Instant now() {
      return Instant.now();
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public CompletableFuture<Void> after(Duration delay) {
      return new CompletableFuture<Void>().completeOnTimeout(null, TimeUnit.NANOSECONDS.convert(delay),
          TimeUnit.NANOSECONDS);
    }
  };

  /** Returns the time of day, to read dates with. */
  Instant now();

  /** Returns a monotonic reading, to measure with. */
  long nanoTime();

  /**
   * Completes after a delay. A waiter must not work on the thread that completes the future. It may complete the future
   * earlier, which ends the wait.
   */
  CompletableFuture<Void> after(Duration delay);
}
