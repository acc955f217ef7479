package io.foliot.history;

/**
 * The tolerances of the checker.
 *
 * @param clockErrorMillis the largest difference between the clocks of any two of client, receiver and store
 * @param transitMillis the longest time, without faults, from the beginning of an attempt until the receiver records
 *        its arrival; also the longest time from the recorded answer until the system reads that answer
 * @param deliveryTimeoutMillis how long the system waits for the receiver's answer. A later answer may go unread
 * @param settleMillis the longest time, without faults, from the receiver's successful answer until the store has
 *        recorded it
 * @param graceMillis the longest time until a firing is attempted, counted from the latest of its due time, its
 *        previous attempt and the end of the last fault. It must cover the longest lease and the longest backoff. An
 *        operation without an answer takes effect within the same time, or never
 * @param faultFree whether the run had neither faults nor overload. If so, a duplicate is a violation
 */
public record Allowances(long clockErrorMillis, long transitMillis, long deliveryTimeoutMillis, long settleMillis,
    long graceMillis, boolean faultFree) {
  public Allowances {
    if (clockErrorMillis < 0 || transitMillis < 0 || deliveryTimeoutMillis < 0 || settleMillis < 0 || graceMillis < 0) {
      throw new IllegalArgumentException("an allowance must not be negative");
    }
  }

  /** Returns the tolerances for a simulator: it has one clock, attempts arrive at once, and faults may occur. */
  public static Allowances exact(long deliveryTimeoutMillis, long settleMillis, long graceMillis) {
    return new Allowances(0, 0, deliveryTimeoutMillis, settleMillis, graceMillis, false);
  }

  public Allowances withoutFaults() {
    return new Allowances(clockErrorMillis, transitMillis, deliveryTimeoutMillis, settleMillis, graceMillis, true);
  }
}
