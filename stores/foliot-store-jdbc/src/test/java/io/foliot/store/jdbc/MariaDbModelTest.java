package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract kit against a real MariaDB, by a clock that stands still until it is moved. */
@Tag("long")
final class MariaDbModelTest extends TaskStoreContract {
  private static final String CLOCK = "(SELECT micros FROM test_clock)";

  private static MariaDbServer server;
  private static Database database;

  @BeforeAll
  static void startServer() {
    server = MariaDbServer.start();
    database = server.createDatabase();
    ClockedStore.prepare(database,
        List.of("CREATE TABLE test_clock (micros BIGINT NOT NULL)", "INSERT INTO test_clock VALUES (0)"));
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Override
  protected TaskStore open(TimeSource storeClock) {
    Databases.empty(database);
    return openAgain(storeClock);
  }

  private static TaskStore openAgain(TimeSource storeClock) {
    return ClockedStore.of(JdbcStore.open(Databases.options(database).toBuilder().slots(16).build(),
        (source, name, timeout) -> new MySqlDialect(Math.toIntExact(timeout.toSeconds()), true, CLOCK, CLOCK)),
        database, storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return openAgain(storeClock);
  }
}
