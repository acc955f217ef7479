package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The result of a touch.
 *
 * @param kind the effect of the call
 * @param id the task's id; null if the kind is {@link Kind#NOT_FOUND}
 * @param generation the new generation of the task, or of its successor if the task runs; the generation of a final
 *     task; 0 if the kind is {@link Kind#NOT_FOUND}
 * @param dueAt the new due time, in milliseconds since 1970; 0 if nothing changed
 * @param indexed whether the task's index entry moved to the earlier time {@code dueAt}
 */
public record TouchResult(Kind kind, @Nullable TaskId id, long generation, long dueAt, boolean indexed) {
  /** The result of kind {@link Kind#NOT_FOUND}. */
  public static final TouchResult NOT_FOUND = new TouchResult(Kind.NOT_FOUND, null, 0, 0, false);

  /** The effect of the call. */
  public enum Kind {
    /** No attempt of the old generation begins after the answer. */
    RESET,
    /** An attempt of an older generation may still deliver. */
    RESET_PENDING,
    /** There is no live task with that key, or no task with that id, or a cancel of the task is pending. */
    NOT_FOUND,
    /** The task with that id is final; nothing changed. */
    ALREADY_FINISHED
  }
}
