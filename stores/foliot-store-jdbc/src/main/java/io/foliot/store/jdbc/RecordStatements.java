package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.Dialect.Unreadable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/**
 * Statements of the general path: they read records, and write a row only if it still has the version that was read.
 */
interface RecordStatements {
  /**
   * Reads records, stored answers, the clock of the database, and the floor of its generations.
   *
   * @param bodies whether payloads are read too; otherwise they are {@link Rows#UNREAD}
   * @param locking whether to lock the live rows. MariaDB and MySQL then return the newest live rows and answers.
   *     PostgreSQL fails if the transaction sees an older version of a live row. Without locks, a transaction of level
   *     REPEATABLE READ returns the rows as they were at its first read
   */
  Snapshot read(Connection connection, QueueIds numbers, ReadSet reads, boolean bodies, boolean locking)
      throws SQLException;

  /**
   * Writes live records that stay live. Stores each answer that depends on no change, or on a change that was written.
   * Returns the positions of the changes that were written.
   *
   * @throws SQLException if another call has stored an answer to one of the requests since the read. Nothing is written
   *     then, and {@link Dialect#isDuplicate} is true for the exception
   */
  BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException;

  /**
   * Writes live records that stay live, and inserts the children of the written records. A child is not inserted if a
   * live record has its id. Returns the positions of the changes that were written.
   *
   * @param children new records without a key, in the order of their ids
   */
  BitSet rearm(Connection connection, List<Change> changes, List<Child> children) throws SQLException;

  /** Moves live records that have ended to the kept records. Returns the positions of the changes that were written. */
  BitSet end(Connection connection, List<Change> changes) throws SQLException;

  /**
   * Ends live records without moving their rows, which needs no room in the database. Returns the positions of the
   * changes that were written.
   */
  BitSet endInPlace(Connection connection, List<Change> changes) throws SQLException;

  /** Moves tasks that have ended in place to the kept records. Other tasks stay as they are. */
  void moveEnded(Connection connection, List<TaskId> ids) throws SQLException;

  /**
   * Moves live rows that cannot be decoded to the kept records, with the state FAILED and with their bytes. Returns the
   * positions of the rows that were moved.
   */
  BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException;

  /**
   * Inserts live records: new records, kept records that become live again, or records of another store. Returns the
   * positions of the changes that were written.
   */
  BitSet enter(Connection connection, List<Change> changes) throws SQLException;

  /** Deletes the expired answers to these requests. */
  void forgetAnswers(Connection connection, List<RequestName> names, QueueIds numbers) throws SQLException;
}
