package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Damaged rows in MariaDB. */
@Tag("long")
final class MariaDbDamageTest extends DamageContract {
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
}
