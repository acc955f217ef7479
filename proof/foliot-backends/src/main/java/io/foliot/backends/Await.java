package io.foliot.backends;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits, each with a bound. */
public final class Await {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Await() {}

  /**
   * Waits until a condition holds, which is checked every 20 ms.
   *
   * @throws IllegalStateException if it does not in time
   */
  public static void until(String what, Duration bound, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - begun > bound.toNanos()) {
        throw new IllegalStateException("waited in vain until " + what + ": bound=" + bound);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Lets time pass, for faults come at any moment. */
  public static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
