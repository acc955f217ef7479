package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connections to PostgreSQL for a pool of the store's own. One that has a session for itself keeps its statements
 * prepared, for parsing and planning is more than half of what a small batch costs, and is told once how to plan.
 * Behind a pooler that gives each transaction another session neither would be true for the next one: such a pooler
 * must answer requests to cancel with a number of its own, so the session's number is not the one that the connection
 * was told.
 */
final class PostgresSource extends PGSimpleDataSource {
  private static final long serialVersionUID = 1;

  /**
   * Each row of a batch is looked up by an index. Left to itself the planner would, before the first ANALYZE or after a
   * burst, sort or hash the whole table.
   */
  private static final String[] BY_INDEX = {"enable_hashjoin", "enable_mergejoin", "enable_seqscan", "jit"};

  /** Unless the address says how statements are to be prepared. */
  private final boolean prepares;

  PostgresSource(JdbcSource.Login login, Duration connectTimeout, Duration socketTimeout) {
    prepares = !login.url().contains("prepareThreshold=");
    setApplicationName("foliot");
    setPrepareThreshold(0);
    setBinaryTransferEnable("UUID_ARRAY");
    setConnectTimeout(Math.toIntExact(connectTimeout.toSeconds()));
    setSocketTimeout(Math.toIntExact(socketTimeout.toSeconds()));
    setTcpKeepAlive(true);
    // What the address says goes before all that.
    setURL(login.url());
    if (login.user() != null) {
      setUser(login.user());
    }
    if (login.password() != null) {
      setPassword(login.password());
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    Connection connection = super.getConnection(user, password);
    try (Statement statement = connection.createStatement()) {
      PGConnection session = connection.unwrap(PGConnection.class);
      if (session.getBackendPID() == number(statement)) {
        if (prepares) {
          session.setPrepareThreshold(1);
        }
        for (String setting : BY_INDEX) {
          statement.addBatch("SET " + setting + " = off");
        }
        int[] done = statement.executeBatch();
        assert done.length == BY_INDEX.length;
      }
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private static int number(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  /** Returns whether a session plans so by itself, because it was told to here, or by its server. */
  static boolean plansByIndex(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT "
            + condition())) {
      row.next();
      return row.getBoolean(1);
    }
  }

  private static String condition() {
    StringBuilder all = new StringBuilder("true");
    for (String setting : BY_INDEX) {
      all.append(" AND current_setting('").append(setting).append("') = 'off'");
    }
    return all.toString();
  }

  /** A statement that has the rest of its transaction planned so, or, with on, as anywhere else. */
  static String planByIndex(boolean on) {
    StringBuilder all = new StringBuilder("SELECT ");
    for (int i = 0; i < BY_INDEX.length; i++) {
      all.append(i == 0 ? "" : ", ").append("set_config('").append(BY_INDEX[i]).append("', '").append(on ? "off" : "on")
          .append("', true)");
    }
    return all.toString();
  }
}
