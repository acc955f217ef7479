package io.foliot.wheel;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts of durations in buckets that grow with them: eight to each power of two, so a bucket's bounds lie within an
 * eighth of each other. Written by one thread, read by any.
 */
final class LatenessHistogram {
  private static final int SUB_BITS = 3;
  private static final int SUB_BUCKETS = 1 << SUB_BITS;
  private static final int BUCKETS = (Long.SIZE - SUB_BITS) * SUB_BUCKETS;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  void record(long nanos) {
    int bucket = bucket(nanos);
    counts.setOpaque(bucket, counts.getPlain(bucket) + 1);
  }

  /** Returns a copy of the counts; a reader that runs beside the writer may miss its last ones. */
  long[] snapshot() {
    long[] copy = new long[BUCKETS];
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      copy[bucket] = counts.getOpaque(bucket);
    }
    return copy;
  }

  static int bucket(long nanos) {
    if (nanos < SUB_BUCKETS) {
      return (int) Math.max(0, nanos);
    }
    int exponent = 63 - Long.numberOfLeadingZeros(nanos) - SUB_BITS;
    return (exponent << SUB_BITS) + (int) (nanos >>> exponent);
  }

  /** Returns the largest duration that falls into a bucket. */
  static long upperBoundNanos(int bucket) {
    if (bucket < SUB_BUCKETS) {
      return bucket;
    }
    int exponent = (bucket >>> SUB_BITS) - 1;
    long digits = (bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS + 1L;
    return (digits << exponent) - 1;
  }
}
