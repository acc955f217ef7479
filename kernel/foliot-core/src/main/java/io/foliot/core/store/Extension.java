package io.foliot.core.store;

import io.foliot.api.TaskNote;
import io.foliot.core.TaskId;
import io.foliot.core.Token;

/**
 * A request to extend a lease.
 *
 * @param id the id of the task
 * @param token the claim's token
 * @param leaseMillis the time from the extension, by the store's clock, until the new end of the lease; an extension
 *     never shortens a lease. With 0, the call does not extend a lease that runs, but ends one whose time is over
 * @param note the handler's report on its work; {@link TaskNote#NONE} for nothing new. Its mark is dropped
 */
public record Extension(TaskId id, Token token, long leaseMillis, TaskNote note) {
  public Extension {
    note = note.marked(TaskNote.Mark.NONE);
  }

  /** Creates an extension without a note. */
  public Extension(TaskId id, Token token, long leaseMillis) {
    this(id, token, leaseMillis, TaskNote.NONE);
  }
}
