package io.foliot.backends;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition up to a bound, or for a fixed time. An interrupt does not end a wait. */
public final class Await {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Await() {}

  /**
   * Waits until a condition holds.
   *
   * @param what the condition in words, for the message
   * @throws IllegalStateException if the condition does not hold within the bound
   */
  public static void until(String what, Duration bound, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - begun > bound.toNanos()) {
        throw new IllegalStateException("timed out waiting until " + what + ": bound=" + bound);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Waits for a fixed time, for example before a fault is injected. */
  public static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
