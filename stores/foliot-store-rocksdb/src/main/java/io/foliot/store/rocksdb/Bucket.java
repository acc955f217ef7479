package io.foliot.store.rocksdb;

import io.foliot.core.TaskState;
import io.foliot.core.store.TaskRecord;

/**
 * A range of the history for final tasks that expire at about the same time, so that they can be dropped together.
 *
 * <p>A bucket is 2^n ms wide. The retention determines n: the width is a quarter to an eighth of it, but at least 65 s.
 * One retention therefore has at most ten buckets at a time, and expired records take room for at most a quarter of the
 * retention longer. (One hour: 8.7 minutes; 14 days: 3.1 days.) A lookup by id tries all buckets; the Bloom filters
 * make that cheap.
 *
 * @param kind n, and a bit that says whether the tasks failed: dead letters are kept apart from other final tasks
 * @param number the number of the bucket, counted in widths from 1970
 */
record Bucket(int kind, long number) implements Comparable<Bucket> {
  private static final int FAILED = 0x40;
  private static final int SMALLEST_EXPONENT = 16;

  static Bucket of(TaskRecord record) {
    long retained = Math.max(1, record.dropAt() - record.changedAt());
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
