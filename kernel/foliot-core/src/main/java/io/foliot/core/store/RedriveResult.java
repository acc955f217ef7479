package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * The result of a redrive.
 *
 * @param kind the effect of the call
 * @param id the task
 * @param generation the task's new generation; 0 if it was not redriven
 * @param dueAt when the task is due, in milliseconds since 1970; 0 if it was not redriven
 */
public record RedriveResult(Kind kind, TaskId id, long generation, long dueAt) {
  /** The effect of the call. */
  public enum Kind {
    /** The task is live again. */
    REDRIVEN,
    /** The key of the task has another live task; nothing changed. */
    CONFLICT,
    /** The task is not a failed task; nothing changed. */
    NOT_FAILED,
    /** There is no such task. */
    NOT_FOUND
  }
}
