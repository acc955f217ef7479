package io.foliot.store.jdbc;

import io.foliot.core.store.Outcome;
import io.foliot.core.store.Settlement;
import java.util.List;

/**
 * The end of an attempt that gives its task a payload or children.
 *
 * @param settlement the settlement that ends the attempt
 * @param outcome the outcome of the settlement
 * @param slot the slot of the task, which its children share
 * @param children the children of the outcome, as rows
 */
record NewPlan(Settlement settlement, Outcome.Rearm outcome, int slot, List<ChildRow> children) {
  /** Cost of a row beside its payload, in bytes, so that a statement of small rows has a bounded number of them. */
  private static final long ROW_BYTES = 4_096;

  /** Returns the approximate cost of writing the plan, in bytes. */
  long bytes() {
    return outcome.bytes() + ROW_BYTES * children.size();
  }

  /**
   * A task without a key that is to be inserted.
   *
   * @param queue the number of its queue
   */
  record ChildRow(Outcome.Child child, int queue) {}
}
