package io.foliot.store.jdbc;

import io.foliot.api.Due;
import io.foliot.core.TaskId;
import io.foliot.core.store.Durability;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The differences between databases: the clock, the types, the errors, and the statements. Each method of a statement
 * interface takes effect completely or not at all. On a connection in auto-commit mode, the method has committed and
 * holds no lock when it returns.
 *
 * <p>There are two kinds of writes. {@link SubmitStatements} and {@link ClaimStatements} handle the frequent cases, and
 * decide in SQL. All other cases take the general path. {@link RecordStatements#read} reads the records, and {@code
 * TaskLife} decides in this process. The other methods of {@link RecordStatements} write a row only if it still has the
 * version that was read. Lists of items to change are sorted by id, or by queue and key, so that all batches lock rows
 * in the same order.
 *
 * <p>The SQL is in {@link SqlFiles resource files}, one statement per file. The classes bind parameters and read rows.
 */
interface Dialect {
  SubmitStatements submits();

  ClaimStatements claims();

  RecordStatements records();

  QueryStatements queries();

  /** Returns the texts of the statements. */
  SqlFiles files();

  /** Prepares a statement with the query timeout of the store. */
  PreparedStatement prepare(Connection connection, String sql) throws SQLException;

  /** Executes a statement that may have several parts. Returns the rows of the last part. */
  ResultSet rows(PreparedStatement statement) throws SQLException;

  /** Returns the kind of the database, for messages. */
  String kind();

  /** Returns the folder of the migrations on the class path. */
  String migrations();

  Durability durability(Connection connection) throws SQLException;

  StoreClock clock();

  /** Binds a text to the parameter with this index, as the type that the dialect's text columns have. */
  void text(PreparedStatement statement, int at, String text) throws SQLException;

  /** Returns the text in a column, which must not be NULL. */
  String text(ResultSet row, int at) throws SQLException;

  /** Returns whether a statement was rolled back because of a conflict, and may be repeated. */
  boolean isRolledBack(SQLException e);

  /**
   * Returns the exception to throw after a statement has failed in a caller's transaction. The exception has the SQL
   * state 40001 if another transaction has changed a row after the first read of this transaction. The caller must then
   * repeat the transaction. A deadlock has the SQL state of the database: 40P01 or 40001.
   */
  SQLException ofTransaction(SQLException e);

  /** Returns whether a statement failed because a row with the same key exists. */
  boolean isDuplicate(SQLException e);

  /** Returns whether a read with locks finds rows that were inserted after the first read of the transaction. */
  boolean lockingReadsFindNewRows();

  /** Returns whether a statement failed because the database has no space left. */
  boolean isFull(SQLException e);

  /**
   * Returns the schema of this connection in which tables are created.
   *
   * @param database the name of the database in messages
   * @throws StoreException if the settings of the connection name no schema that exists
   */
  String schema(Connection connection, String database) throws SQLException;

  /** Returns whether a statement failed because the user does not have the right to execute it. */
  boolean isDenied(SQLException e);

  /** Returns whether a statement failed because the server of this connection is read-only. */
  boolean isReadOnly(SQLException e);

  /**
   * A live row that cannot be decoded.
   *
   * @param id the id of the task
   * @param version the version that the row had when it was read
   * @param reason the reason in the final record
   * @param keptMillis how long the final record is kept, in milliseconds
   */
  record Unreadable(TaskId id, long version, String reason, long keptMillis) {}

  /** A group of rows that are counted together, because they have the same values in these columns. */
  record RowGroup(int queue, int state, boolean parked) {}

  /** Returns a due time in milliseconds: since 1970 for an instant, from now for a delay. */
  static long millis(Due due) {
    return switch (due) {
      case Due.At at -> at.millis();
      case Due.After after -> after.delayMillis();
    };
  }
}
