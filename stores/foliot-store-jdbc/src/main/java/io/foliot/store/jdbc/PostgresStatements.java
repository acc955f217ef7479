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

/** Reads, plans and executes the statements of PostgreSQL. Any thread. */
final class PostgresStatements {
  /** Precede a statement, in the same round trip and the same transaction. */
  private static final String BY_INDEX = PostgresSource.planByIndex() + "; ";
  /** As BY_INDEX, and the commit does not wait for the disk: its effect may be lost, and is then repeated. */
  private static final String BY_INDEX_UNSYNCED = PostgresSource.planByIndex()
      + ", set_config('synchronous_commit', 'off', true); ";
  private static final String AS_ANYWHERE = PostgresSource.planAsAnywhere() + "; ";

  private static final String DUPLICATE = "23505";

  private final int timeoutSeconds;
  private final boolean sessionsPlanByIndex;
  private final SqlFiles files;

  /**
   * Creates the statements of a database.
   *
   * @param timeoutSeconds how long a statement may take
   * @param sessionsPlanByIndex the result of {@link PostgresSource#plansByIndex}
   * @param clock an SQL expression: microseconds since 1970, evaluated anew wherever it is used
   */
  PostgresStatements(int timeoutSeconds, boolean sessionsPlanByIndex, String clock) {
    this.timeoutSeconds = timeoutSeconds;
    this.sessionsPlanByIndex = sessionsPlanByIndex;
    files = new SqlFiles("postgresql", SqlFiles.constants(Map.of("clock_micros", clock)));
  }

  SqlFiles files() {
    return files;
  }

  /** Returns a statement that is planned as the session is. */
  PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(timeoutSeconds);
    return statement;
  }

  /**
   * Returns a statement that finds its rows by index. In a caller's transaction nothing is set, for it would stay set
   * there.
   */
  PreparedStatement batch(Connection connection, String sql) throws SQLException {
    return prepare(connection, sessionsPlanByIndex || !connection.getAutoCommit() ? sql : BY_INDEX + sql);
  }

  /** Returns a statement that only moves entries of the index. */
  PreparedStatement unsynced(Connection connection, String sql) throws SQLException {
    return prepare(connection, BY_INDEX_UNSYNCED + sql);
  }

  /** Returns a statement that reads a whole table. */
  PreparedStatement scan(Connection connection, String sql) throws SQLException {
    return prepare(connection, sessionsPlanByIndex ? AS_ANYWHERE + sql : sql);
  }

  static boolean isDuplicateKey(SQLException e) {
    return DUPLICATE.equals(e.getSQLState());
  }

  /** Returns the rows of a statement; preceding results have been read. */
  static ResultSet rows(PreparedStatement statement) throws SQLException {
    statement.execute();
    ResultSet first = statement.getResultSet();
    return statement.getMoreResults(Statement.KEEP_CURRENT_RESULT) ? statement.getResultSet() : first;
  }

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

  /** Returns a text without NUL, the one character that the type text does not hold. */
  static String plain(String text) {
    return text.replace('\0', ' ');
  }
}
