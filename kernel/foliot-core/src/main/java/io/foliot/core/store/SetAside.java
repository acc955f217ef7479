package io.foliot.core.store;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;

/**
 * A task that the store has made final because its record cannot be read. Because the task is final, its record blocks
 * no other task.
 *
 * @param id the task
 * @param queue the task's queue, or an empty text if the queue cannot be read from the record
 * @param reason why the record cannot be read
 */
public record SetAside(TaskId id, String queue, String reason) {
  private static final String PREFIX = "set aside: ";

  /** Returns the reason that the final record shows. */
  public String finalReason() {
    return PREFIX + reason;
  }

  /**
   * Returns whether a record belongs to a task that was set aside. The reason alone does not show this, because it may
   * be a receiver's message. But any other dead letter has a recorded attempt.
   */
  public static boolean is(TaskRecord record) {
    return record.state() == TaskState.FAILED && record.attempts().isEmpty() && record.reason().startsWith(PREFIX);
  }
}
