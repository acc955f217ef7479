package io.foliot.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.backends.PostgresServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.HeldStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the contract kit against a real PostgreSQL, with the clock of the server. */
final class PostgresStoreTest extends ServerClockStoreContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();
  private static HikariDataSource pool;

  @BeforeAll
  static void openPool() {
    pool = new HikariDataSource();
    pool.setJdbcUrl(DATABASE.get().jdbcUrl());
    pool.setUsername(DATABASE.get().user());
    pool.setPassword(DATABASE.get().password());
    pool.setMinimumIdle(0);
  }

  @AfterAll
  static void closePool() {
    pool.close();
  }

  @Override
  protected TaskStore open() {
    Databases.empty(DATABASE.get());
    return JdbcStore.open(Databases.options(DATABASE.get()));
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return JdbcStore.open(Databases.options(DATABASE.get()));
  }

  @Override
  protected HeldStore openHeld() {
    return new HeldJdbcStore(pool);
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
