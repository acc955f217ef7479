package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A task to be claimed, or a move. A move only corrects the index entry of a task that is not due. A node can therefore
 * make a move even if it has no room to run the task.
 *
 * @param id the task
 * @param leaseMillis length of the lease; 0 for a move, which wins nothing
 * @param notAfterMillis the end of the caller's permit, in milliseconds since 1970; once the store's clock is past this
 *     time, the store treats the claim as a move
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

  /** Returns whether the store treats this claim as a move when its clock shows {@code nowMillis}. */
  public boolean isMove(long nowMillis) {
    return leaseMillis == 0 || nowMillis > notAfterMillis;
  }
}
