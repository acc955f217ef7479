package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * The result of a redrive.
 *
 * @param kind the effect of the call
 * @param id the task
 * @param generation its new generation, if it was redriven
 * @param dueAt when it is due, if it was redriven
 */
public record RedriveResult(Kind kind, TaskId id, long generation, long dueAt) {
  /** The effect of the call. */
  public enum Kind {
    /** It is live again. */
    REDRIVEN,
    /** Its key has a live task. */
    CONFLICT,
    /** It is not a failed task. */
    NOT_FAILED,
    /** There is no such task. */
    NOT_FOUND
  }
}
