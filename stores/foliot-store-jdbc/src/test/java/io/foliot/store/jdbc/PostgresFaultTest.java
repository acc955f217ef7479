package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.Server;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import io.foliot.core.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Faults around a store on PostgreSQL. */
@Tag("long")
final class PostgresFaultTest extends FaultContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres().onItsOwnServer();

  @Override
  Server server() {
    return DATABASE.server();
  }

  @Override
  Database database() {
    return DATABASE.get();
  }

  @Override
  Database freshDatabase() {
    return DATABASE.another();
  }

  @Override
  void terminateSessions() {
    List<String> ended = Databases.strings(DATABASE.get(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'foliot'");
    assertThat(ended).isNotEmpty();
  }

  @Override
  String lockWaiters() {
    return "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  }

  @Override
  String lockTasks() {
    return "LOCK TABLE foliot_task IN EXCLUSIVE MODE";
  }

  @Test
  void readOnlySessionsAreReplaced() {
    Database readOnly = DATABASE.another();
    try (JdbcStore store = JdbcStore.open(Databases.options(readOnly))) {
      Databases.execute(DATABASE.get(),
          "ALTER DATABASE " + readOnly.name() + " SET default_transaction_read_only = on");
      terminateSessions();
      assertThatThrownBy(() -> {
        while (true) {
          store.submit(List.of(draft())).toCompletableFuture().join();
        }
      }).hasCauseInstanceOf(StoreException.class);
      Databases.execute(DATABASE.get(), "ALTER DATABASE " + readOnly.name() + " RESET default_transaction_read_only");
      // Each call that finds a read-only session closes it, so the store recovers without a restart.
      for (int i = 0; !succeeds(store); i++) {
        assertThat(i).as("calls that fail").isLessThan(20);
        Databases.sleep(Duration.ofMillis(100));
      }
    }
  }

  private static boolean succeeds(JdbcStore store) {
    return !store.submit(List.of(draft())).toCompletableFuture().handle((results, failure) -> results == null).join();
  }

  private static Draft draft() {
    return new Draft(TaskId.of(System.currentTimeMillis(), 1, System.nanoTime()), "q", null, Due.NOW,
        new Body(new byte[0], "text/plain", Map.of()), 0, OnConflict.RESET, null);
  }
}
