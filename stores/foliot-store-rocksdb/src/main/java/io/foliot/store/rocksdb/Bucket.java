package io.foliot.store.rocksdb;

import io.foliot.api.TaskState;
import io.foliot.core.store.TaskRecord;

/**
 * A range of the history for final tasks that expire at about the same time, so that they can be dropped together.
 *
 * <p>A bucket is 2^n ms wide. The retention determines n: the width is between an eighth and a quarter of the
 * retention, but at least 65 s. For a retention of one hour the width is 8.7 minutes; for 14 days it is 3.1 days. One
 * retention therefore has at most ten buckets at a time. An expired record may stay on disk until its whole bucket has
 * expired, which is at most one width later. A lookup by id tries all buckets; the Bloom filters make this cheap.
 *
 * @param kind n, and a bit that is set if the tasks failed: dead letters are kept apart from other final tasks
 * @param number the beginning of the bucket, counted in widths since 1970
 */
record Bucket(int kind, long number) implements Comparable<Bucket> {
  /** The bit of the kind that is set if the tasks failed. */
  private static final int FAILED = 0x40;
  /** The smallest n: 2^16 ms are 65 s. */
  private static final int SMALLEST_EXPONENT = 16;

  static Bucket of(TaskRecord record) {
    long retained = Math.max(1, record.dropAt() - record.changedAt());
    // 63 minus the leading zeros is the logarithm to base 2, rounded down; using 61 instead of 63 divides the width by
    // four.
    int exponent = Math.max(SMALLEST_EXPONENT, 61 - Long.numberOfLeadingZeros(retained));
    int kind = record.state() == TaskState.FAILED ? exponent | FAILED : exponent;
    return new Bucket(kind, Math.max(0, record.dropAt()) >>> exponent);
  }

  private int exponent() {
    return kind & ~FAILED;
  }

  boolean ofFailed() {
    return (kind & FAILED) != 0;
  }

  /** Returns whether all tasks of the bucket have expired. */
  boolean isExpired(long nowMillis) {
    return nowMillis >= 0 && nowMillis >>> exponent() > number;
  }

  @Override
  public int compareTo(Bucket other) {
    return kind != other.kind ? Integer.compare(kind, other.kind) : Long.compare(number, other.number);
  }
}
