package io.foliot.store.jdbc;

import io.foliot.core.store.Outcome;
import io.foliot.core.store.Settlement;
import java.util.List;

/**
 * The end of an attempt that gives its task a payload or children.
 *
 * @param outcome the outcome of the settlement
 * @param slot the slot of the task's id, which is that of its children's too
 * @param children those of the outcome, as rows
 */
record NewPlan(Settlement settlement, Outcome.Rearm outcome, int slot, List<ChildRow> children) {
  /** Cost of a row, in bytes of payload: it lets the number of rows bound a statement of small rows. */
  private static final long ROW_BYTES = 4_096;

  /** Returns the bytes to write. */
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
