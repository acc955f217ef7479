package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.Due;
import io.foliot.core.store.Durability;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A database as the store speaks to it: its clock, its types, its errors, and the statements. Each method of the
 * statements takes effect as a whole or not at all, is committed when it returns (on a connection that commits by
 * itself), and holds no lock behind its last statement.
 *
 * <p>There are two kinds of writes. The plain ones ({@link SubmitStatements}, {@link ClaimStatements}) decide in SQL,
 * for the hot cases alone; the rest takes the general path: {@link RecordStatements#read}, the life of a task in this
 * process, and the other {@link RecordStatements}, which write a row only if its version is still the one that was
 * read. Lists are in the order of ids, so that batches take row locks in the same order.
 *
 * <p>The texts are in {@link SqlFiles resource files}, a statement a file, those of the dialects side by side. The
 * classes bind parameters and read rows.
 */
interface Dialect {
  SubmitStatements submits();

  ClaimStatements claims();

  RecordStatements records();

  QueryStatements queries();

  /** Returns the texts of the statements. */
  SqlFiles files();

  /** Prepares a statement that gives up in time. */
  PreparedStatement prepare(Connection connection, String sql) throws SQLException;

  /** Returns a word for people. */
  String kind();

  /** Returns the location of the migrations. */
  String migrations();

  Durability durability(Connection connection) throws SQLException;

  StoreClock clock();

  void text(PreparedStatement statement, int at, String text) throws SQLException;

  String text(ResultSet row, int at) throws SQLException;

  /** Returns whether a statement failed alone, without its transaction, because of a conflict with another one. */
  boolean isRolledBack(SQLException e);

  /** Returns whether a statement failed because a row with its name is there already. */
  boolean isDuplicate(SQLException e);

  /** Returns whether a statement found no room. */
  boolean isFull(SQLException e);

  /** Returns whether this connection is to a server that does not write. */
  boolean isReadOnly(SQLException e);

  /**
   * A live row that cannot be read.
   *
   * @param version the version it was read with
   * @param reason as it is shown of the final record
   * @param keptMillis how long it is kept
   */
  record Unreadable(TaskId id, long version, String reason, long keptMillis) {}

  /** A count of rows. */
  record Tally(int queue, int state, boolean parked) {}

  /** Returns the instant or the delay that is meant. */
  static long millis(Due due) {
    return switch (due) {
      case Due.At at -> at.millis();
      case Due.After after -> after.delayMillis();
    };
  }
}
