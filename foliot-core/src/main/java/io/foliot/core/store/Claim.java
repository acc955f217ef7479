package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A task to be claimed, or only to be looked at: where there is no room to run a task that is due, one that is not has its index
 * entry moved all the same.
 *
 * @param id the task
 * @param leaseMillis how long the claim shall hold; 0 for a look, which wins nothing
 */
public record Claim(TaskId id, long leaseMillis) {
  /** A look at a task; see {@link ClaimResult.Ready}. */
  public static Claim look(TaskId id) {
    return new Claim(id, 0);
  }

  /** Whether this wins nothing. */
  public boolean isLook() {
    return leaseMillis == 0;
  }
}
