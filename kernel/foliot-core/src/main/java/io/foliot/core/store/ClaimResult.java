package io.foliot.core.store;

import io.foliot.api.TaskState;
import org.jspecify.annotations.Nullable;

/** The result of a claim. */
public sealed interface ClaimResult {
  /**
   * The claim is valid.
   *
   * @param task the task as claimed: RUNNING, with its token and its lease end
   */
  record Won(TaskRecord task) implements ClaimResult {}

  /**
   * The task cannot be claimed yet, because its due time or the end of its lease is in the future.
   *
   * @param wakeAt the due time or lease end, in milliseconds since 1970. The index entry is now at this time
   */
  record Later(long wakeAt) implements ClaimResult {}

  /**
   * The claim was a move, or came so late that the store treated it as a move. The task can be claimed: an ordinary
   * claim would have won, or would have recorded the end of the task or of its lease. Nothing has changed.
   */
  record Ready() implements ClaimResult {
    /** The shared instance. */
    public static final Ready READY = new Ready();
  }

  /**
   * There is nothing to claim.
   *
   * @param endedAs the final state that this claim recorded (CANCELLED after a pending cancel, or FAILED), or null
   * @param queue the queue of the task that ended, or null
   */
  record Gone(@Nullable TaskState endedAs, @Nullable String queue) implements ClaimResult {
    /** No live task has that id. */
    public static final Gone ABSENT = new Gone(null, null);
  }
}
