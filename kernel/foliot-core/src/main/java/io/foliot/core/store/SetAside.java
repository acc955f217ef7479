package io.foliot.core.store;

import io.foliot.core.TaskId;
import io.foliot.core.TaskState;

/**
 * A task whose record cannot be read, and which the store has made final so that it blocks nothing else.
 *
 * @param id the task
 * @param queue its queue, or an empty text if the record does not contain it
 * @param reason the fault of the record
 */
public record SetAside(TaskId id, String queue, String reason) {
  private static final String PREFIX = "set aside: ";

  /** Returns the reason that the final record shows. */
  public String finalReason() {
    return PREFIX + reason;
  }

  /**
   * Returns whether a record is that of a task that was set aside. Any other dead letter has a recorded attempt, so no
   * receiver can make its task look like one that was set aside.
   */
  public static boolean is(TaskRecord record) {
    return record.state() == TaskState.FAILED && record.attempts().isEmpty() && record.reason().startsWith(PREFIX);
  }
}
