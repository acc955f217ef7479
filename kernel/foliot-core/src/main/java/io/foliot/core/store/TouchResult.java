package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The result of a touch.
 *
 * @param kind the effect of the call
 * @param id the task's id; null if there is none
 * @param generation its new generation, which is that of the successor if there is one; the generation of a final task;
 *     0 if there is no task
 * @param dueAt its new due time; 0 if nothing changed
 * @param indexed whether its index entry moved to an earlier time, {@code dueAt}
 */
public record TouchResult(Kind kind, @Nullable TaskId id, long generation, long dueAt, boolean indexed) {
  /** There is no such task. */
  public static final TouchResult NOT_FOUND = new TouchResult(Kind.NOT_FOUND, null, 0, 0, false);

  /** The effect of the call. */
  public enum Kind {
    /** No attempt of the old generation begins after this. */
    RESET,
    /** An attempt of an older generation may still deliver. */
    RESET_PENDING,
    /** There is no live task with that key, or no task with that id, or a cancel of the task is pending. */
    NOT_FOUND,
    /** The task with that id is final; nothing changed. */
    ALREADY_FINISHED
  }
}
