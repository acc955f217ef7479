package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The result of a touch.
 *
 * @param kind the effect of the call
 * @param id the task's id; null if there is none
 * @param generation its new generation (of the successor where pending), or the one it has; 0 if there is none
 * @param dueAt when it is due now; 0 if there is none
 * @param indexed whether an index entry was written at {@code dueAt}
 */
public record TouchResult(Kind kind, @Nullable TaskId id, long generation, long dueAt, boolean indexed) {
  /** There is no such task. */
  public static final TouchResult NOT_FOUND = new TouchResult(Kind.NOT_FOUND, null, 0, 0, false);

  /** The effect of the call. */
  public enum Kind {
    /** The old generation cannot begin any more. */
    RESET,
    /** An attempt of an older generation may still deliver. */
    RESET_PENDING,
    /** There is no live task under that key, or no task with that id. */
    NOT_FOUND,
    /** The task with that id is final; nothing changed. */
    ALREADY_FINISHED
  }
}
