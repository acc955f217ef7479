package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The result of a cancel.
 *
 * @param kind the effect of the call
 * @param id the task's id; null if there is no such task
 * @param generation the generation that was cancelled, or the generation of a final task; 0 if there is no such task
 */
public record CancelResult(Kind kind, @Nullable TaskId id, long generation) {
  /** There is no such task. */
  public static final CancelResult NOT_FOUND = new CancelResult(Kind.NOT_FOUND, null, 0);

  /** The effect of the call. */
  public enum Kind {
    /** No attempt of that generation begins after the answer. */
    CANCELLED,
    /** An earlier claim may still deliver the task, but no new claim of the task will succeed. */
    CANCEL_PENDING,
    /** The task is final; nothing changed. */
    ALREADY_FINISHED,
    /** There is no such task; nothing changed. */
    NOT_FOUND
  }
}
