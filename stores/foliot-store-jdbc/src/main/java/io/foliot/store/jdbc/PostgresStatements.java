package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The methods that all classes of statements for PostgreSQL share. Thread-safe. */
final class PostgresStatements {
  /** Settings of the planner. They precede a statement, in the same round trip and the same transaction. */
  private static final String BY_INDEX = PostgresSource.planByIndex() + "; ";
  /** Settings for moves. The commit of a move need not wait for the disk: if a crash loses the move, it is repeated. */
  private static final String BY_INDEX_UNSYNCED = PostgresSource.planByIndex()
      + ", set_config('synchronous_commit', 'off', true); ";
  private static final String BY_COST = PostgresSource.planByCost() + "; ";

  /** SQL state of a duplicate key. */
  private static final String DUPLICATE = "23505";

  private final int timeoutSeconds;
  private final boolean sessionsPlanByIndex;
  private final SqlFiles files;

  /**
   * Creates the statements of a database.
   *
   * @param timeoutSeconds how long a statement may take, in seconds
   * @param sessionsPlanByIndex the result of {@link PostgresSource#plansByIndex}
   * @param clock SQL expression for the time at which the expression is evaluated, in microseconds since 1970
   */
  PostgresStatements(int timeoutSeconds, boolean sessionsPlanByIndex, String clock) {
    this.timeoutSeconds = timeoutSeconds;
    this.sessionsPlanByIndex = sessionsPlanByIndex;
    files = new SqlFiles("postgresql", SqlFiles.constants(Map.of("clock_micros", clock)));
  }

  SqlFiles files() {
    return files;
  }

  /** Returns a statement that is planned by the settings of its session. */
  PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(timeoutSeconds);
    return statement;
  }

  /**
   * Returns a statement that finds its rows by index. In a caller's transaction, the settings of the planner stay
   * unchanged, because a change would also affect the caller's statements.
   */
  PreparedStatement batch(Connection connection, String sql) throws SQLException {
    return prepare(connection, sessionsPlanByIndex || !connection.getAutoCommit() ? sql : BY_INDEX + sql);
  }

  /** Returns a statement whose commit does not wait for the disk. It may only move tasks' index entries. */
  PreparedStatement unsynced(Connection connection, String sql) throws SQLException {
    return prepare(connection, BY_INDEX_UNSYNCED + sql);
  }

  /** Returns a statement that reads a whole table. */
  PreparedStatement scan(Connection connection, String sql) throws SQLException {
    return prepare(connection, sessionsPlanByIndex ? BY_COST + sql : sql);
  }

  static boolean isDuplicateKey(SQLException e) {
    return DUPLICATE.equals(e.getSQLState());
  }

  /** Executes a statement and returns its rows. Skips the result of settings that precede the statement. */
  static ResultSet rows(PreparedStatement statement) throws SQLException {
    statement.execute();
    ResultSet first = statement.getResultSet();
    return statement.getMoreResults(Statement.KEEP_CURRENT_RESULT) ? statement.getResultSet() : first;
  }

  /** Executes a statement. Returns the positions of the result's items in the batch. */
  static BitSet places(PreparedStatement statement) throws SQLException {
    try (ResultSet row = rows(statement)) {
      return Results.places(row);
    }
  }

  static <T> UuidArray ids(List<T> items, Function<T, TaskId> id) {
    UuidArray ids = new UuidArray(items.size());
    for (int i = 0; i < items.size(); i++) {
      ids.set(i, id.apply(items.get(i)));
    }
    return ids;
  }

  /** Returns a text with a space in place of each NUL, the only character that PostgreSQL's type text cannot hold. */
  static String plain(String text) {
    return text.replace('\0', ' ');
  }
}
