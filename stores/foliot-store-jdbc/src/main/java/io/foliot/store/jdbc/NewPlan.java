package io.foliot.store.jdbc;

import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Outcome;
import java.util.List;

/**
 * A settlement that re-arms its task with a new payload or with children.
 *
 * @param settlement the settlement that ends the attempt
 * @param outcome the outcome of the settlement
 * @param slot the slot of the task, which its children share
 * @param children the children of the outcome, as rows
 */
record NewPlan(AttemptEnd settlement, Outcome.Rearm outcome, int slot, List<ChildRow> children) {
  /** Assumed size of a row without its payload, in bytes. It bounds the number of small rows in a statement. */
  private static final long ROW_BYTES = 4_096;

  /** Returns the approximate number of bytes to be written. */
  long bytes() {
    return outcome.bytes() + ROW_BYTES * children.size();
  }

  /**
   * A task without a key that is to be inserted.
   *
   * @param child the task
   * @param queue the number of the task's queue
   */
  record ChildRow(Outcome.Child child, int queue) {}
}
