package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.store.Claim;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Calls on an unavailable database fail with {@link StoreAwayException}, because they have had no effect. */
@Tag("long")
@Isolated
final class PostgresAwayTest {
  private static final long HOUR = 3_600_000;
  /**
   * Pause that makes the pool check each connection before use. The pool does not check a connection that was used
   * within the previous 500 ms.
   */
  private static final Duration UNTIL_CONNECTIONS_ARE_CHECKED = Duration.ofSeconds(1);

  private static Draft draft(String key) {
    return new Draft(TaskId.of(1, SlotHash.of("q", key), key.hashCode()), "q", key, Due.after(0), Body.EMPTY, 0,
        OnConflict.RESET, null);
  }

  private static void assertAway(CompletionStage<?> call) {
    assertThatThrownBy(call.toCompletableFuture()::join).hasCauseInstanceOf(StoreAwayException.class);
  }

  /** Asserts that exactly the items in the first half of the slots have results. The other database is unavailable. */
  private static void assertHalf(CompletionStage<?> call, List<Draft> drafts) {
    assertThatThrownBy(call.toCompletableFuture()::join).cause()
        .isInstanceOfSatisfying(ItemsFailedException.class, partly -> {
          assertThat(partly.failure()).isInstanceOf(StoreAwayException.class);
          assertThat(partly.results().stream().map(Objects::nonNull).toList())
              .isEqualTo(drafts.stream().map(draft -> draft.id().slot(256) < 128).toList());
        });
  }

  private static TaskId submit(TaskStore store, String key) {
    List<SubmitResult> results = store.submit(List.of(draft(key))).toCompletableFuture().join();
    assertThat(results).hasSize(1);
    return results.getFirst().id();
  }

  @Test
  void callsOnAnUnreachableDatabaseFailAsAway() {
    try (PostgresServer server = PostgresServer.start();
        TaskStore store = JdbcStore.open(Databases.options(server.database()))) {
      submit(store, "a");
      server.kill();
      Databases.sleep(UNTIL_CONNECTIONS_ARE_CHECKED);
      assertAway(store.submit(List.of(draft("a"))));
      server.restart();
      submit(store, "a");
    }
  }

  @Test
  void callsOnAReadOnlyDatabaseFailAsAway() {
    try (PostgresServer server = PostgresServer.start();
        TaskStore store = JdbcStore.open(Databases.options(server.database()))) {
      TaskId id = submit(store, "a");
      Databases.execute(server.database(), "ALTER DATABASE postgres SET default_transaction_read_only = on");
      Databases.strings(server.database(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
          + " WHERE application_name = 'foliot'");
      Databases.sleep(UNTIL_CONNECTIONS_ARE_CHECKED);
      assertAway(store.submit(List.of(draft("a"))));
      assertAway(store.submit(List.of(draft("b"))));
      assertAway(store.claim(List.of(new Claim(id, HOUR))));
    }
  }

  @Test
  void anUnavailableDatabaseFailsOnlyTheItemsOfItsSlots() {
    try (PostgresServer server = PostgresServer.start(); PostgresServer other = PostgresServer.start()) {
      List<JdbcPart> parts = List.of(part(0, server.database()), part(128, other.database()));
      try (TaskStore store = JdbcStore.open(Databases.options(server.database()).toBuilder().parts(parts).build())) {
        List<Draft> both = List.of(draft("a"), draft("b"), draft("c"), draft("d"), draft("e"), draft("f"));
        assertThat(both.stream().map(draft -> draft.id().slot(256) / 128).distinct()).hasSize(2);
        assertThat(store.submit(both).toCompletableFuture().join()).hasSize(both.size());
        other.kill();
        Databases.sleep(UNTIL_CONNECTIONS_ARE_CHECKED);
        assertHalf(store.submit(both), both);
        Draft there = both.stream().filter(draft -> draft.id().slot(256) >= 128).findFirst().orElseThrow();
        assertAway(store.submit(List.of(there)));
      }
    }
  }

  private static JdbcPart part(int firstSlot, Database database) {
    return new JdbcPart(firstSlot, JdbcSource.of(database.jdbcUrl(), database.user(), database.password()));
  }
}
