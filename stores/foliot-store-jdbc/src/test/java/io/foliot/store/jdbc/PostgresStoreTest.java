package io.foliot.store.jdbc;

import io.foliot.backends.PostgresServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the contract kit against a real PostgreSQL, with the clock of the server. */
final class PostgresStoreTest extends ServerClockStoreContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();

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
  protected void passes(Duration time) {
    Databases.sleep(time);
  }

  @Override
  protected Duration tick() {
    return Duration.ofMillis(150);
  }
}
