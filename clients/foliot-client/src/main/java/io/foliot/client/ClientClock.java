package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The source of the time and of delays for the client; tests replace it. */
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

  /** Returns the current time. */
  Instant now();

  /** Returns a monotonic reading in nanoseconds, to measure elapsed time. */
  long nanoTime();

  /**
   * Returns a future that completes after a delay. The caller may complete the future earlier to end the wait.
   * Dependent stages must not do long work on the thread that completes the future.
   */
  CompletableFuture<Void> after(Duration delay);
}
