package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Damaged rows in PostgreSQL. */
@Tag("long")
final class PostgresDamageTest extends DamageContract {
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
}
