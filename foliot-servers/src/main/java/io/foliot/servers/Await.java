package io.foliot.servers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits, each with a bound. */
final class Await {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Await() {}

  /** Waits until something holds, and fails if it does not in time. */
  static void until(String what, Duration bound, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - begun > bound.toNanos()) {
        throw new IllegalStateException("waited in vain until " + what + ": bound=" + bound);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
