package io.foliot.core.store;

import io.foliot.api.TaskNote;
import io.foliot.core.TaskId;
import io.foliot.core.Token;

/**
 * The end of an attempt.
 *
 * @param id the task
 * @param generation the generation that was attempted
 * @param token the claim's token
 * @param outcome how the attempt ended
 * @param begunAt when the attempt began, in milliseconds since 1970; for the history
 * @param detail the receiver's message, for display; may be empty; only the first {@link AttemptRecord#MAX_DETAIL}
 *     characters are kept
 * @param note the handler's report on its work; {@link TaskNote#NONE} for nothing new. Its mark is dropped unless the
 *     outcome is {@link Outcome.Finished}
 */
public record AttemptEnd(TaskId id, long generation, Token token, Outcome outcome, long begunAt, String detail,
    TaskNote note) {
  /** Creates a settlement without a note. */
  public AttemptEnd(TaskId id, long generation, Token token, Outcome outcome, long begunAt, String detail) {
    this(id, generation, token, outcome, begunAt, detail, TaskNote.NONE);
  }

  /**
   * @throws IllegalArgumentException if a child does not have the hash of the task; one step writes only one slot
   */
  public AttemptEnd {
    note = outcome instanceof Outcome.Finished ? note : note.marked(TaskNote.Mark.NONE);
    if (outcome instanceof Outcome.Rearm rearm) {
      for (Outcome.Child child : rearm.children()) {
        if (child.id().hash16() != id.hash16()) {
          throw new IllegalArgumentException("a child must have the hash of the settled task, and so its slot: task="
              + id + ", child=" + child.id());
        }
      }
    }
  }
}
