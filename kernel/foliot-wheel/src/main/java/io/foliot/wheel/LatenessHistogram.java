package io.foliot.wheel;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of durations in nanoseconds. Each power of two has eight buckets, so the upper bound of a bucket is at
 * most an eighth above its lower bound. One thread writes, any thread reads.
 */
final class LatenessHistogram {
  /** Base-2 logarithm of the number of buckets per power of two. */
  private static final int SUB_BITS = 3;

  private static final int SUB_BUCKETS = 1 << SUB_BITS;
  private static final int BUCKETS = (Long.SIZE - SUB_BITS) * SUB_BUCKETS;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  /** Counts one duration; a negative duration counts as 0. */
  void record(long nanos) {
    int bucket = bucket(nanos);
    counts.setOpaque(bucket, counts.getPlain(bucket) + 1);
  }

  /** Returns a copy of the counts, by bucket. The copy may lack the latest durations of a concurrent writer. */
  long[] snapshot() {
    long[] copy = new long[BUCKETS];
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      copy[bucket] = counts.getOpaque(bucket);
    }
    return copy;
  }

  /** Returns the index of the bucket that counts a duration. */
  static int bucket(long nanos) {
    if (nanos < SUB_BUCKETS) {
      return (int) Math.max(0, nanos);
    }
    int exponent = 63 - Long.numberOfLeadingZeros(nanos) - SUB_BITS;
    return (exponent << SUB_BITS) + (int) (nanos >>> exponent);
  }

  /** Returns the largest duration, in nanoseconds, that a bucket counts. */
  static long upperBoundNanos(int bucket) {
    if (bucket < SUB_BUCKETS) {
      return bucket;
    }
    int exponent = (bucket >>> SUB_BITS) - 1;
    long digits = (bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS + 1L;
    return (digits << exponent) - 1;
  }
}
