package io.foliot.history;

/**
 * The tolerances of the checker.
 *
 * @param clockErrorMillis by how much the clocks of client, receiver and store may differ
 * @param transitMillis the longest way of an attempt from its begin into the receiver's log, faults aside; and that of
 *        the answer back
 * @param deliveryTimeoutMillis how long the system waits for the receiver's answer; one that comes later may go unread
 * @param settleMillis how long recording a successful answer may take, faults aside
 * @param graceMillis how long a firing may take to be attempted after it is due, after the last heal, or after its last
 *        attempt, so at least the longest lease and the longest backoff; also how long an operation without an answer
 *        may still take effect
 * @param faultFree whether the run was without faults and pressure, so that a duplicate is a violation
 */
public record Allowances(long clockErrorMillis, long transitMillis, long deliveryTimeoutMillis, long settleMillis,
    long graceMillis, boolean faultFree) {
  public Allowances {
    if (clockErrorMillis < 0 || transitMillis < 0 || deliveryTimeoutMillis < 0 || settleMillis < 0 || graceMillis < 0) {
      throw new IllegalArgumentException("an allowance must not be negative");
    }
  }

  /** For one clock and arrivals that are recorded as they begin, as in a simulator. */
  public static Allowances exact(long deliveryTimeoutMillis, long settleMillis, long graceMillis) {
    return new Allowances(0, 0, deliveryTimeoutMillis, settleMillis, graceMillis, false);
  }

  public Allowances withoutFaults() {
    return new Allowances(clockErrorMillis, transitMillis, deliveryTimeoutMillis, settleMillis, graceMillis, true);
  }
}
