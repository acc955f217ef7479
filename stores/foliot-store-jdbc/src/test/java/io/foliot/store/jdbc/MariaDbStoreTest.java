package io.foliot.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.backends.MariaDbServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.HeldStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs the contract kit against a real MariaDB, with the clock of the server. The connections fail if a column is read
 * as NULL, see {@link MySqlDialect}.
 */
@Tag("long")
final class MariaDbStoreTest extends ServerClockStoreContract {
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb();
  private static HikariDataSource pool;

  @BeforeAll
  static void startServer() {
    pool = new HikariDataSource();
    pool.setJdbcUrl(DATABASE.get().jdbcUrl());
    pool.setUsername(DATABASE.get().user());
    pool.setPassword(DATABASE.get().password());
  }

  @AfterAll
  static void stopServer() {
    pool.close();
  }

  private boolean full;

  @Override
  protected void setFull(boolean isFull) {
    if (full != isFull) {
      Databases.setFull(DATABASE.get(), isFull);
      full = isFull;
    }
  }

  @Override
  protected TaskStore open() {
    Databases.empty(DATABASE.get());
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
