package io.foliot.store.jdbc;

import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.DueEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/** Statements that claim tasks, move and park their index entries, and settle the common outcomes. */
interface ClaimStatements {
  /** Claims waiting tasks that are due, and moves the index entries of waiting tasks that are not due. */
  Claimed claim(Connection connection, QueueIds numbers, List<NewClaim> claims, int slotCount) throws SQLException;

  /** Moves the index entries of waiting tasks that are not due. May skip rows that another statement is changing. */
  Claimed move(Connection connection, QueueIds numbers, List<NewClaim> moves, int slotCount) throws SQLException;

  /** Parks tasks that wait and are due. Returns the positions of the parked tasks in the list. */
  BitSet park(Connection connection, List<DueEntry> entries) throws SQLException;

  /**
   * Ends running tasks that succeeded, if the settlement has the token of the latest claim and the task has no
   * successor. Returns the positions of the ended tasks in the list.
   *
   * @param retentions the retentions that differ from {@code otherRetentionMillis}, by queue
   * @param otherRetentionMillis how long all other queues keep finished tasks, in milliseconds
   */
  BitSet finish(Connection connection, List<AttemptEnd> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException;

  /**
   * Re-arms running tasks with their next payloads, if the settlement has the token of the latest claim. Tasks with a
   * successor or a requested cancel are left out. Inserts the children of the tasks that were re-armed. May leave any
   * plan to the general path (see {@link Dialect}).
   *
   * @param seenMicros the largest reading of the clock by this process, in microseconds since 1970; the lower bound of
   *     the generations that the statement assigns
   */
  Planned plan(Connection connection, List<NewPlan> plans, long seenMicros) throws SQLException;
}
