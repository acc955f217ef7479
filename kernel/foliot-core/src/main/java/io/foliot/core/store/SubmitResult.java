package io.foliot.core.store;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;

/**
 * The result of a submit.
 *
 * @param kind the effect of the call
 * @param id the id of the new task, or of the task that the result describes
 * @param generation the task's generation. After a reset, this is the new generation; if the task is running, the
 *     successor has it
 * @param dueAt when this generation is due, in milliseconds since 1970
 * @param state the task's state
 * @param indexed true if the task is new, or if its index entry moved to the earlier time {@code dueAt}. The entry must
 *     then be added to the wheel
 */
public record SubmitResult(Kind kind, TaskId id, long generation, long dueAt, TaskState state, boolean indexed) {
  /** The effect of the call. */
  public enum Kind {
    /** A new task was inserted. */
    CREATED,
    /** The live task has a new generation; no attempt of the old generation can begin any more. */
    RESET,
    /** The live task has a new generation, but an attempt of an older generation may still deliver. */
    RESET_PENDING,
    /** The live task was kept as it is. */
    KEPT,
    /** The submit was refused because the key has a live task, which the result describes. */
    REJECTED,
    /** The request was made before; this is the answer to the first request. */
    REPEATED,
    /** The submit was refused because the idempotency key was used for a different request. */
    MISMATCHED,
    /**
     * The submit was refused because the key is not in the state that the draft expects. The result describes the live
     * task of the key, or else its latest task. A generation of 0 means that no task of the key is known.
     */
    CHANGED;

    /** Returns whether the result names a task that represents this submission. */
    public boolean isPlaced() {
      return this != REJECTED && this != MISMATCHED && this != CHANGED;
    }
  }
}
