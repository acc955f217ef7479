package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** No room in MariaDB. */
@Tag("long")
final class MariaDbFullTest extends FullContract {
  private static MariaDbServer server;
  private static Database database;

  @BeforeAll
  static void startServer() {
    server = MariaDbServer.start();
    database = server.createDatabase();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Override
  Database database() {
    return database;
  }

  @Override
  SQLException full() {
    return new SQLException("The table 'foliot_task' is full", "HY000", 1114);
  }
}
