package io.foliot.wheel;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A counter that many threads change without contention for one cache line. Unlike {@code LongAdder}, it returns the
 * new value of the caller's stripe, so that a caller can act on every n-th increment.
 */
final class StripedCounter {
  /** Number of stripes: threads seldom share one on the machines of today, and all stripes take 4 KB. */
  private static final int STRIPES = 32;

  /** Number of longs in two cache lines, which processors fetch as a pair. */
  private static final int STRIDE = 16;

  private final AtomicLongArray counts = new AtomicLongArray(STRIPES * STRIDE);

  /** Adds to the stripe of the calling thread, and returns the new value of the stripe. */
  long add(long delta) {
    return counts.addAndGet(stripe(), delta);
  }

  /** Returns the count. It was exact at some moment during the call, unless a thread subtracts during the call. */
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
