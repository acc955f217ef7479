package io.foliot.core.store;

import io.foliot.api.Cancellation;
import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The result of a cancel.
 *
 * @param kind the effect of the call
 * @param id the task's id; null if there is no such task
 * @param generation the generation that was cancelled, or the generation of a final task; 0 if there is no such task
 */
public record CancelResult(Cancellation kind, @Nullable TaskId id, long generation) {
  /** There is no such task. */
  public static final CancelResult NOT_FOUND = new CancelResult(Cancellation.NOT_FOUND, null, 0);
}
