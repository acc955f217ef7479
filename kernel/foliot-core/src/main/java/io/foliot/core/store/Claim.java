package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A task to be claimed, or only to be probed: where there is no room to run a task that is due, one that is not has
 * its index entry moved all the same.
 *
 * @param id the task
 * @param leaseMillis how long the claim shall hold; 0 for a look, which wins nothing
 * @param notAfterMillis when the store's clock has passed this, the claim is a look: what entitled the caller to it is
 *     over
 */
public record Claim(TaskId id, long leaseMillis, long notAfterMillis) {
  /** A claim at any time. */
  public Claim(TaskId id, long leaseMillis) {
    this(id, leaseMillis, Long.MAX_VALUE);
  }

  /** A look at a task; see {@link ClaimResult.Ready}. */
  public static Claim look(TaskId id) {
    return new Claim(id, 0);
  }

  /** Returns whether this wins nothing at a time of the store's clock. */
  public boolean isLook(long nowMillis) {
    return leaseMillis == 0 || nowMillis > notAfterMillis;
  }
}
