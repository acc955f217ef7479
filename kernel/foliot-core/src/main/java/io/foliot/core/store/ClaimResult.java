package io.foliot.core.store;

import io.foliot.core.TaskState;
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
   * Not yet: the task is due, or its lease ends, later, and its index entry is now at that time.
   *
   * @param wakeAt when to claim again
   */
  record Later(long wakeAt) implements ClaimResult {}

  /**
   * A move, or a claim that was too late and counted as a move, found that a claim would win, or would record an end.
   * Nothing has changed.
   */
  record Ready() implements ClaimResult {
    /** The only one that is needed. */
    public static final Ready READY = new Ready();
  }

  /**
   * There is nothing to claim.
   *
   * @param endedAs the final state which this claim recorded (a cancel that waited, or the dead letter), or null
   * @param queue the queue of the task that ended, or null
   */
  record Gone(@Nullable TaskState endedAs, @Nullable String queue) implements ClaimResult {
    /** No live task has that id. */
    public static final Gone ABSENT = new Gone(null, null);
  }
}
