package io.foliot.wheel;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The longest wait for an event that must happen. Once a wait has timed out, the test has failed, so later waits are
 * short.
 */
final class Patience {
  private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static volatile long nanos = FULL_NANOS;

  private Patience() {}

  /** Waits for the latch. Returns whether it has opened in time. */
  static boolean await(CountDownLatch latch) throws InterruptedException {
    boolean opened = latch.await(nanos, TimeUnit.NANOSECONDS);
    if (!opened) {
      noteTimeout();
    }
    return opened;
  }

  /** Waits for the latch in a thread that is never interrupted. Returns whether the latch has opened in time. */
  static boolean opens(CountDownLatch latch) {
    try {
      return await(latch);
    } catch (InterruptedException e) {
      throw new IllegalStateException("this thread must not be interrupted", e);
    }
  }

  /** Records that a wait has timed out, so that later waits are short. */
  static void noteTimeout() {
    nanos = SHORT_NANOS;
  }

  /** Returns the longest wait from now on, in nanoseconds. */
  static long nanos() {
    return nanos;
  }
}
