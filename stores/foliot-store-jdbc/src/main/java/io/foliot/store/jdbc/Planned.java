package io.foliot.store.jdbc;

import java.util.Arrays;

/**
 * The results of plans, in the order of the plans.
 *
 * @param micros when the plans were written, a reading of the database's clock in microseconds since 1970
 * @param dueAts when each task is due again, in milliseconds since 1970, or {@link #NOT_WRITTEN}
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Planned(long micros, long[] dueAts) {
  /** Special due time of a plan that was not written, and takes the general path. */
  static final long NOT_WRITTEN = Long.MIN_VALUE;

  /** Returns the due times of a batch in which no plan was written. */
  static long[] none(int count) {
    long[] dueAts = new long[count];
    Arrays.fill(dueAts, NOT_WRITTEN);
    return dueAts;
  }
}
