package io.foliot.core.store;

import io.foliot.core.TaskId;
import io.foliot.core.TaskNote;
import io.foliot.core.Token;

/**
 * The end of an attempt.
 *
 * @param id the task
 * @param generation the generation that was attempted
 * @param token the claim's token
 * @param outcome how it ended
 * @param begunAt when the attempt began, in milliseconds since 1970; for the history
 * @param detail the receiver's message, for display; may be empty, is cut to {@link AttemptRecord#MAX_DETAIL}
 *     characters
 * @param note the handler's report on its work; {@link TaskNote#NONE} for nothing new
 */
public record Settlement(TaskId id, long generation, Token token, Outcome outcome, long begunAt, String detail,
    TaskNote note) {
  /** Creates a settlement without a note. */
  public Settlement(TaskId id, long generation, Token token, Outcome outcome, long begunAt, String detail) {
    this(id, generation, token, outcome, begunAt, detail, TaskNote.NONE);
  }

  /**
   * @throws IllegalArgumentException if a child is of another slot than the task: one atomic step writes one slot
   */
  public Settlement {
    if (outcome instanceof Outcome.Rearm rearm) {
      for (Outcome.Child child : rearm.children()) {
        if (child.id().hash16() != id.hash16()) {
          throw new IllegalArgumentException("a child has the hash, and so the slot, of the task that is settled: task="
              + id + ", child=" + child.id());
        }
      }
    }
  }
}
