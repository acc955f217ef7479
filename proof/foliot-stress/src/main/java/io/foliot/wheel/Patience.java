package io.foliot.wheel;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The time to wait for what must happen. Once it was in vain the test has failed, and the rest of it need not take
 * long.
 */
final class Patience {
  private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LOST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static volatile long nanos = FULL_NANOS;

  private Patience() {}

  /** Returns whether the latch has opened in time. */
  static boolean await(CountDownLatch latch) throws InterruptedException {
    boolean opened = latch.await(nanos, TimeUnit.NANOSECONDS);
    if (!opened) {
      lose();
    }
    return opened;
  }

  /** As {@link #await}, for a thread that is never interrupted. */
  static boolean opens(CountDownLatch latch) {
    try {
      return await(latch);
    } catch (InterruptedException e) {
      throw new IllegalStateException("an interrupt has outlived what it was meant for", e);
    }
  }

  /** Says that a wait was in vain. */
  static void lose() {
    nanos = LOST_NANOS;
  }

  static long nanos() {
    return nanos;
  }
}
