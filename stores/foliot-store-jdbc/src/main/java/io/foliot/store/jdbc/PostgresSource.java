package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The source of connections to PostgreSQL for the pool that the store opens. A direct connection keeps its statements
 * prepared, because parsing and planning are more than half of the cost of a small batch. Also, the settings of the
 * planner are sent only once for each direct connection.
 *
 * <p>Behind a pooler that gives each transaction another session, prepared statements and settings would not last until
 * the next transaction. Such a pooler invents a process id for the connection, to forward cancel requests. If
 * the process id of the connection equals the one that the session reports, there is no such pooler.
 */
final class PostgresSource extends PGSimpleDataSource {
  private static final long serialVersionUID = 1;

  /**
   * Settings that make the planner find each row of a batch by an index. Without these settings, the planner may sort
   * or hash the whole table before the first ANALYZE or after a burst. It may also read the whole index of a small
   * table, because by default it expects a random page to cost as much as four sequential pages.
   */
  private static final SortedMap<String, String> BY_INDEX = new TreeMap<>(Map.of("enable_hashjoin", "off",
      "enable_mergejoin", "off", "enable_seqscan", "off", "jit", "off", "random_page_cost", "0.1"));

  /** Whether this class sets the prepare threshold; false if the URL sets it. */
  private final boolean prepares;

  PostgresSource(JdbcSource.Login login, Duration connectTimeout, Duration socketTimeout) {
    prepares = !login.url().contains("prepareThreshold=");
    setApplicationName("foliot");
    setPrepareThreshold(0);
    setBinaryTransferEnable("UUID_ARRAY");
    setConnectTimeout(Math.toIntExact(connectTimeout.toSeconds()));
    setSocketTimeout(Math.toIntExact(socketTimeout.toSeconds()));
    setTcpKeepAlive(true);
    // Parameters of the URL take precedence over these settings.
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
      if (session.getBackendPID() == processId(statement)) {
        if (prepares) {
          session.setPrepareThreshold(1);
        }
        for (Map.Entry<String, String> setting : BY_INDEX.entrySet()) {
          statement.addBatch("SET " + setting.getKey() + " = " + setting.getValue());
        }
        int[] done = statement.executeBatch();
        assert done.length == BY_INDEX.size();
      }
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private static int processId(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  /** Returns whether a session already plans by index, because of the settings of this class or of the server. */
  static boolean plansByIndex(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT "
            + condition())) {
      row.next();
      return row.getBoolean(1);
    }
  }

  private static String condition() {
    return BY_INDEX.entrySet().stream()
        .map(setting -> "current_setting('" + setting.getKey() + "') = '" + setting.getValue() + "'")
        .collect(Collectors.joining(" AND "));
  }

  /** Returns a statement that makes the planner use indexes for the rest of the transaction. */
  static String planByIndex() {
    return BY_INDEX.entrySet().stream().map(setting -> set(setting.getKey(), setting.getValue()))
        .collect(Collectors.joining(", ", "SELECT ", ""));
  }

  /** Returns a statement that allows the planner to read whole tables for the rest of the transaction. */
  static String planByCost() {
    return BY_INDEX.entrySet().stream().filter(setting -> setting.getValue().equals("off"))
        .map(setting -> set(setting.getKey(), "on")).collect(Collectors.joining(", ", "SELECT ", ""));
  }

  private static String set(String name, String value) {
    return "set_config('" + name + "', '" + value + "', true)";
  }
}
