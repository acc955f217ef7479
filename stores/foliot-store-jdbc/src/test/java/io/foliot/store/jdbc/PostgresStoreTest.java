package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract kit against a real PostgreSQL, by its own clock. */
final class PostgresStoreTest extends ServerClockStoreContract {
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
  protected TaskStore open() {
    Databases.empty(database);
    return JdbcStore.open(Databases.options(database));
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return JdbcStore.open(Databases.options(database));
  }

  @Override
  protected void passes(Duration time) {
    Databases.sleep(time);
  }

  @Override
  protected Duration tick() {
    return Duration.ofMillis(150);
  }
}
