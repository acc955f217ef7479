package io.foliot.store.jdbc;

import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.Dialect.Unreadable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/**
 * Statements of the general way: they read records, and write those whose versions are still the ones that were read.
 */
interface RecordStatements {
  /**
   * Reads records with the clock and the floor.
   *
   * @param bodies whether payloads are read too; else they are {@link Rows#UNREAD}
   * @param locking whether live rows are read as they are now, and not as they were when a longer transaction began,
   *     for
   *     which they may get locked
   */
  Snapshot read(Connection connection, QueueIds numbers, ReadSet reads, boolean bodies, boolean locking)
      throws SQLException;

  /**
   * Writes live records that stay live; answers which. The answers that depend on one that was written, or on none, are
   * remembered with it.
   *
   * @throws SQLException by which {@link Dialect#isDuplicate} if one of the requests has been answered meanwhile; then
   *     nothing was written
   */
  BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException;

  /**
   * Writes live records that stay live, and inserts the children of those that were written; answers which were
   * written. A child whose id is there already stays as it is.
   *
   * @param children new records without a key, in the order of their ids
   */
  BitSet rearm(Connection connection, List<Change> changes, List<Child> children) throws SQLException;

  /** Moves live records that have ended to the kept ones; returns which. */
  BitSet end(Connection connection, List<Change> changes) throws SQLException;

  /** Moves live rows that cannot be read to the kept ones, as FAILED and with their bytes; returns which. */
  BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException;

  /** Writes live records that were not, of a kept one or of another store's; answers which. */
  BitSet enter(Connection connection, List<Change> changes) throws SQLException;

  /** Forgets the answers to these requests if their time is over. */
  void forgetAnswers(Connection connection, List<RequestName> names, QueueIds numbers) throws SQLException;
}
