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

  /** Parks tasks that wait and are due; answers which. */
  BitSet park(Connection connection, List<DueEntry> entries) throws SQLException;

  /** Ends running tasks that succeeded, whose claim stands, and that have no successor; answers which. */
  BitSet finish(Connection connection, List<Settlement> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException;

  /**
   * Re-arms running tasks with their next payloads, whose claim stands, that have no successor and no cancel, and
   * inserts the children of those. It may leave out any of them.
   *
   * @param seenMicros the largest generation that this process has seen
   */
  Planned plan(Connection connection, List<NewPlan> plans, long seenMicros) throws SQLException;
}
