package io.foliot.store.jdbc;

import io.foliot.backends.MariaDbServer;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the contract kit against a real MariaDB, with a clock that only the test moves. */
@Tag("long")
final class MariaDbModelTest extends TaskStoreContract {
  private static final String CLOCK = "(SELECT micros FROM test_clock)";

  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb();

  @BeforeAll
  static void startServer() {
    ClockedStore.prepare(DATABASE.get(),
        List.of("CREATE TABLE test_clock (micros BIGINT NOT NULL)", "INSERT INTO test_clock VALUES (0)"));
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
        (source, name, timeout) -> new MySqlDialect(Math.toIntExact(timeout.toSeconds()), true, CLOCK, CLOCK)),
        DATABASE.get(), storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return openAgain(storeClock);
  }
}
