package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract kit against a real PostgreSQL, by a clock that stands still until it is moved. */
@Tag("long")
final class PostgresModelTest extends TaskStoreContract {
  private static PostgresServer server;
  private static Database database;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
    database = server.createDatabase();
    ClockedStore.prepare(database, List.of("CREATE TABLE test_clock (micros bigint NOT NULL)",
        "INSERT INTO test_clock VALUES (0)", "CREATE FUNCTION test_micros() RETURNS bigint VOLATILE LANGUAGE sql"
            + " AS 'SELECT micros FROM test_clock'"));
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
        (source, name, timeout) -> new PostgresDialect(Math.toIntExact(timeout.toSeconds()), false, "test_micros()")),
        database, storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return openAgain(storeClock);
  }
}
