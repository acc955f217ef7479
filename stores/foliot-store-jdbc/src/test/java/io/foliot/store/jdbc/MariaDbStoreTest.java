package io.foliot.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract kit against a real MariaDB, by its own clock, through connections that give no NULL: see
 * {@link MySqlDialect}.
 */
final class MariaDbStoreTest extends ServerClockStoreContract {
  private static MariaDbServer server;
  private static Database database;
  private static HikariDataSource pool;

  @BeforeAll
  static void startServer() {
    server = MariaDbServer.start();
    database = server.createDatabase();
    pool = new HikariDataSource();
    pool.setJdbcUrl(database.jdbcUrl());
    pool.setUsername(database.user());
    pool.setPassword(database.password());
  }

  @AfterAll
  static void stopServer() {
    pool.close();
    server.close();
  }

  @Override
  protected TaskStore open() {
    Databases.empty(database);
    return openAgain();
  }

  private static TaskStore openAgain() {
    return JdbcStore.open(JdbcOptions.builder(WholeRows.of(pool)).connections(4).build());
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return openAgain();
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
