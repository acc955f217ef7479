package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.PgBouncer;
import io.foliot.backends.PostgresServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.postgresql.PGConnection;

/**
 * Direct sessions keep their statements prepared, and get the planner's settings of the store. Sessions behind a pooler
 * prepare no statements, and their settings stay unchanged.
 */
@Isolated
final class PostgresPoolerTest {
  private static final String QUEUE = "orders";
  private static final int CALLERS = 8;
  private static final int ROUNDS = 25;
  private static final int BATCH = 20;

  private static PostgresServer server;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static Connection connection(Database database) throws SQLException {
    return new PostgresSource(new JdbcSource.Login(database.jdbcUrl(), database.user(), database.password()),
        Duration.ofSeconds(5), Duration.ofSeconds(5)).getConnection();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  @Test
  void aDirectSessionKeepsItsStatementsPrepared() throws SQLException {
    try (Connection connection = connection(server.createDatabase())) {
      assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold()).isEqualTo(1);
      assertThat(PostgresSource.plansByIndex(connection)).isTrue();
    }
  }

  @Test
  @Tag("machine")
  void behindAPoolerSessionsStayUnchanged() throws SQLException {
    Database database = server.createDatabase();
    try (PgBouncer pooler = PgBouncer.before(database, 3)) {
      try (Connection connection = connection(pooler.database())) {
        assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold()).isZero();
        assertThat(PostgresSource.plansByIndex(connection)).isFalse();
      }
      try (JdbcStore store = JdbcStore
          .open(Databases.options(pooler.database()).toBuilder().connections(CALLERS).build())) {
        List<CompletableFuture<Void>> callers = new ArrayList<>();
        for (int caller = 0; caller < CALLERS; caller++) {
          int number = caller;
          callers.add(CompletableFuture.runAsync(() -> call(store, number), Thread::startVirtualThread));
        }
        callers.forEach(CompletableFuture::join);
        assertThat(get(store.counts()).getOrDefault(QUEUE, QueueCounts.NONE).live()).isZero();
      }
      assertThat(Databases.strings(database, "SELECT count(*) FROM foliot_final"))
          .containsExactly(Integer.toString(CALLERS * ROUNDS * BATCH));
    }
  }

  private static void call(JdbcStore store, int caller) {
    for (int round = 0; round < ROUNDS; round++) {
      List<Draft> drafts = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        // Half of the drafts have keys.
        String key = i % 2 == 0 ? "key " + caller + " " + round + " " + i : null;
        int hash = key == null ? ThreadLocalRandom.current().nextInt() : SlotHash.of(QUEUE, key);
        drafts.add(new Draft(TaskId.of(System.currentTimeMillis(), hash, ThreadLocalRandom.current().nextLong()), QUEUE,
            key, Due.NOW, Body.json("1"), 0, OnConflict.RESET, null));
      }
      Set<TaskId> ids = new HashSet<>();
      get(store.submit(drafts.subList(0, 1))).forEach(result -> ids.add(result.id()));
      get(store.submit(drafts.subList(1, BATCH))).forEach(result -> ids.add(result.id()));
      assertThat(get(store.submit(drafts.subList(0, 1)))).extracting(SubmitResult::kind)
          .containsExactly(SubmitResult.Kind.RESET);
      List<AttemptEnd> settlements = new ArrayList<>();
      for (ClaimResult result : get(store.claim(ids.stream().map(id -> new Claim(id, 60_000)).toList())).results()) {
        assertThat(result).isInstanceOf(ClaimResult.Won.class);
        TaskRecord task = ((ClaimResult.Won) result).task();
        settlements.add(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
            new Outcome.Finished(), 0, ""));
      }
      assertThat(get(store.settle(settlements))).extracting(SettleResult::kind)
          .containsOnly(SettleResult.Kind.SETTLED);
    }
  }
}
