package io.foliot.store.jdbc;

import java.util.Arrays;

/**
 * The results of plans, by their place in the list.
 *
 * @param micros the database's clock when the plans were written
 * @param dueAts when each task is due again, in milliseconds, or {@link #NOT_WRITTEN}
 */
@SuppressWarnings("ArrayRecordComponent") // made, read, and dropped
record Planned(long micros, long[] dueAts) {
  /** Due time of a plan that was not written, and takes the general path. */
  static final long NOT_WRITTEN = Long.MIN_VALUE;

  /** Returns the due times of plans none of which was written. */
  static long[] none(int count) {
    long[] dueAts = new long[count];
    Arrays.fill(dueAts, NOT_WRITTEN);
    return dueAts;
  }
}
