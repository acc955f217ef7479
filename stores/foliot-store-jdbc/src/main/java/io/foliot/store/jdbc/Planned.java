package io.foliot.store.jdbc;

import java.util.Arrays;

/**
 * The results of plans.
 *
 * @param micros the clock
 * @param dueAts by place, when the task is due again, or {@link #NOT_WRITTEN}
 */
@SuppressWarnings("ArrayRecordComponent") // made, read, and dropped
record Planned(long micros, long[] dueAts) {
  static final long NOT_WRITTEN = Long.MIN_VALUE;

  /** Returns due times of which none was written yet. */
  static long[] none(int count) {
    long[] dueAts = new long[count];
    Arrays.fill(dueAts, NOT_WRITTEN);
    return dueAts;
  }
}
