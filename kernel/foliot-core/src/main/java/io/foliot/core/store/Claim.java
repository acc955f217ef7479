package io.foliot.core.store;

import io.foliot.api.Due;
import io.foliot.core.TaskId;

/**
 * A task to be claimed, or a move. A move only corrects the index entry of a task that is not due. A node can therefore
 * make a move even if it has no room to run the task. A claim that is too late begins no attempt either. But like any
 * other claim, it records the end of a lease if the task thereby ends or passes to its successor.
 *
 * @param id the task
 * @param leaseMillis length of the lease; 0 for a move, which wins nothing
 * @param notAfterMillis the end of the caller's permit, in milliseconds since 1970; once the store's clock is past this
 *     time, the claim begins no attempt
 */
public record Claim(TaskId id, long leaseMillis, long notAfterMillis) {
  public Claim {
    if (leaseMillis < 0 || leaseMillis > Due.After.MAX_MILLIS) {
      throw new IllegalArgumentException("a lease is from 0 to 1,000 years: leaseMillis=" + leaseMillis);
    }
  }

  /** Creates a claim that is valid at any time. */
  public Claim(TaskId id, long leaseMillis) {
    this(id, leaseMillis, Long.MAX_VALUE);
  }

  /** Returns a move of a task's index entry; see {@link ClaimResult.Ready}. */
  public static Claim move(TaskId id) {
    return new Claim(id, 0);
  }

  /**
   * Returns a claim that is always too late, for a node that cannot begin an attempt of the task. It is answered like a
   * move, and records the end of a lease.
   */
  public static Claim end(TaskId id) {
    return new Claim(id, 1, Long.MIN_VALUE);
  }

  /** Returns whether this claim begins no attempt when the store's clock shows {@code nowMillis}. */
  public boolean beginsNothing(long nowMillis) {
    return leaseMillis == 0 || nowMillis > notAfterMillis;
  }
}
