package io.foliot.wheel;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A count that many threads raise without meeting on one cache line. Unlike {@code LongAdder} it returns the new value
 * of the caller's stripe, so that a caller notices every n-th increment.
 */
final class StripedCounter {
  /** Number of stripes: enough that threads seldom share one on the machines of today; 4 KB in all. */
  private static final int STRIPES = 32;

  /** Number of longs in two cache lines, which processors fetch as a pair. */
  private static final int STRIDE = 16;

  private final AtomicLongArray counts = new AtomicLongArray(STRIPES * STRIDE);

  /** Adds to this thread's stripe, and returns its new value. */
  long add(long delta) {
    return counts.addAndGet(stripe(), delta);
  }

  /** Returns the count as of some moment during the call if nothing has been subtracted meanwhile. */
  long sum() {
    long sum = 0;
    for (int stripe = 0; stripe < STRIPES; stripe++) {
      sum += counts.get(stripe * STRIDE);
    }
    return sum;
  }

  private static int stripe() {
    return ((int) Thread.currentThread().threadId() & (STRIPES - 1)) * STRIDE;
  }
}
