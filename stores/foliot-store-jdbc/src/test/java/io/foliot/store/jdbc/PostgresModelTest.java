package io.foliot.store.jdbc;

import io.foliot.backends.PostgresServer;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract kit against a real PostgreSQL, with a clock that only the test moves. */
@Tag("long")
final class PostgresModelTest extends TaskStoreContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();

  @BeforeAll
  static void startServer() {
    ClockedStore.prepare(DATABASE.get(), List.of("CREATE TABLE test_clock (micros bigint NOT NULL)",
        "INSERT INTO test_clock VALUES (0)", "CREATE FUNCTION test_micros() RETURNS bigint VOLATILE LANGUAGE sql"
            + " AS 'SELECT micros FROM test_clock'"));
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
  protected TaskStore open(TimeSource storeClock) {
    Databases.empty(DATABASE.get());
    return openAgain(storeClock);
  }

  private static TaskStore openAgain(TimeSource storeClock) {
    return ClockedStore.of(() -> JdbcStore.open(Databases.options(DATABASE.get()).toBuilder().slots(16).build(),
        (source, name, timeout) -> new PostgresDialect(Math.toIntExact(timeout.toSeconds()), false, "test_micros()")),
        DATABASE.get(), storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return openAgain(storeClock);
  }
}
