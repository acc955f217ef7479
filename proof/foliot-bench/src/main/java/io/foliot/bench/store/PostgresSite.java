package io.foliot.bench.store;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

/** A PostgreSQL server. */
final class PostgresSite extends SqlSite {
  private static final List<String> SETTINGS = List.of("fsync", "synchronous_commit", "full_page_writes",
      "shared_buffers", "max_wal_size");

  private final PostgresServer server = PostgresServer.start();

  @Override
  Database create() {
    return server.createDatabase();
  }

  @Override
  void drop(Database last) throws SQLException {
    try (Connection connection = server.database().connect(); Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE " + last.name() + " WITH (FORCE)");
    }
  }

  @Override
  Map<String, String> driverProperties() {
    return Map.of("reWriteBatchedInserts", "true");
  }

  /** Vacuums, updates the planner's statistics, and makes a checkpoint. */
  @Override
  public void settle() throws SQLException {
    execute("VACUUM (ANALYZE)", "CHECKPOINT");
  }

  @Override
  public String describe() throws SQLException {
    StringBuilder text = new StringBuilder("PostgreSQL " + text(server.database(), "SHOW server_version"));
    for (String setting : SETTINGS) {
      text.append(", ").append(setting).append('=').append(text(server.database(), "SHOW " + setting));
    }
    return text.toString();
  }

  @Override
  public void close() {
    server.close();
  }
}
