package io.foliot.bench.store;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A MariaDB server. */
final class MariaDbSite extends SqlSite {
  private static final List<String> SETTINGS = List.of("innodb_flush_log_at_trx_commit", "innodb_doublewrite",
      "log_bin",
      "innodb_buffer_pool_size", "innodb_log_file_size");

  private final MariaDbServer server = MariaDbServer.start();

  @Override
  Database create() {
    return server.createDatabase();
  }

  @Override
  void drop(Database last) throws SQLException {
    try (Connection connection = server.database().connect(); Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE " + last.name());
    }
  }

  @Override
  Map<String, String> driverProperties() {
    return Map.of("useBulkStmts", "true");
  }

  /** Updates the planner's statistics, and makes no checkpoint. */
  @Override
  public void settle() throws SQLException {
    List<String> tables = new ArrayList<>();
    try (Connection connection = database().connect();
        Statement statement = connection.createStatement();
        ResultSet names = statement.executeQuery("SHOW TABLES")) {
      while (names.next()) {
        tables.add("ANALYZE TABLE " + names.getString(1));
      }
    }
    execute(tables.toArray(String[]::new));
  }

  @Override
  public String describe() throws SQLException {
    StringBuilder text = new StringBuilder("MariaDB " + text(server.database(), "SELECT @@version"));
    for (String setting : SETTINGS) {
      text.append(", ").append(setting).append('=').append(text(server.database(), "SELECT @@" + setting));
    }
    return text.toString();
  }

  @Override
  public void close() {
    server.close();
  }
}
