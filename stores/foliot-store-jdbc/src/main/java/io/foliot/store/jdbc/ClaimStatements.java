package io.foliot.store.jdbc;

import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/** Statements that claim tasks, move and park their index entries, and end those that succeeded. */
interface ClaimStatements {
  /** Claims tasks that wait. */
  Claimed claim(Connection connection, QueueIds numbers, List<NewClaim> claims, int slotCount) throws SQLException;

  /** Moves the index entries of tasks that are not due. It may leave out rows that another statement is changing. */
  Claimed move(Connection connection, QueueIds numbers, List<NewClaim> moves, int slotCount) throws SQLException;

  /** Parks tasks that wait and are due. Returns the positions of those that were parked. */
  BitSet park(Connection connection, List<DueEntry> entries) throws SQLException;

  /**
   * Ends running tasks that succeeded, if the settlement has the token of the latest claim and the task has no
   * successor. Returns the positions of the tasks that were ended.
   */
  BitSet finish(Connection connection, List<Settlement> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException;

  /**
   * Re-arms running tasks with their next payloads if they have the token of their latest claim, no successor and no
   * cancel, and inserts the children of those. It may leave out any of them.
   *
   * @param seenMicros the largest generation that this process has seen
   */
  Planned plan(Connection connection, List<NewPlan> plans, long seenMicros) throws SQLException;
}
