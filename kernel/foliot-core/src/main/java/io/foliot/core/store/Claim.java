package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A task to be claimed, or only to be probed: a probe moves the index entry of a task that is not due, even where
 * there is no room to run a due one.
 *
 * @param id the task
 * @param leaseMillis length of the lease; 0 for a probe, which wins nothing
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
