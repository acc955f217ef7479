package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** No room in PostgreSQL. */
@Tag("long")
final class PostgresFullTest extends FullContract {
  private static PostgresServer server;
  private static Database database;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
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
    return new SQLException("could not extend file: No space left on device", "53100");
  }
}
