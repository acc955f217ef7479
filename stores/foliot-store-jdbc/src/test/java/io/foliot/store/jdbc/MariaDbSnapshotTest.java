package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.Touch;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls in transactions of callers, on a MariaDB with snapshot isolation, which is the default from 11.6.2. */
@Tag("long")
final class MariaDbSnapshotTest extends TransactionContract {
  private static final long HOUR = 3_600_000;

  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase
      .mariaDb(Map.of("innodb-snapshot-isolation", "ON"));

  @Override
  Database database() {
    return DATABASE.get();
  }

  @Override
  boolean changedRowsFail() {
    return true;
  }

  private static TaskRef key(int number) {
    return new TaskRef.ByKey("orders", "key " + number);
  }

  private static List<Draft> drafts(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Draft(TaskId.of(System.currentTimeMillis(),
        SlotHash.of("orders", "key " + i), ThreadLocalRandom.current().nextLong()), "orders", "key " + i,
        Due.after(HOUR), Body.EMPTY, 0, OnConflict.RESET, null)).toList();
  }

  @Test
  void aChangedRowFailsWithTheStateOfADeadlock() throws SQLException {
    try (JdbcStore store = JdbcStore.open(Databases.options(database()));
        Connection transaction = database().connect()) {
      store.submit(drafts(1)).toCompletableFuture().join();
      transaction.setAutoCommit(false);
      assertThat(Databases.strings(transaction, "SELECT id FROM foliot_task")).isNotEmpty();
      store.touch(List.of(new Touch(key(0), Due.after(2 * HOUR)))).toCompletableFuture().join();
      assertThatThrownBy(() -> store.cancel(transaction, List.of(key(0))))
          .isInstanceOfSatisfying(SQLTransactionRollbackException.class, e -> {
            assertThat(e.getSQLState()).isEqualTo("40001");
            assertThat(e.getErrorCode()).isEqualTo(1020);
          });
      transaction.rollback();
      assertThat(store.cancel(transaction, List.of(key(0)))).extracting(CancelResult::kind)
          .containsExactly(Cancellation.CANCELLED);
      transaction.commit();
    }
  }

  /** The sessions of this pool have snapshot isolation. */
  @ParameterizedTest
  @ValueSource(strings = {"TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ"})
  void aStoreOnThePoolOfTheApplicationRepeatsLostRaces(String isolation) {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setTransactionIsolation(isolation);
      pool.setJdbcUrl(database().jdbcUrl());
      pool.setUsername(database().user());
      pool.setPassword(database().password());
      try (JdbcStore store = JdbcStore.open(JdbcOptions.builder(pool).connections(4).build())) {
        for (int round = 0; round < 20; round++) {
          List<CompletableFuture<List<SubmitResult>>> calls = new ArrayList<>();
          for (int i = 0; i < 4; i++) {
            calls.add(store.submit(drafts(20)).toCompletableFuture());
          }
          calls.forEach(call -> assertThat(call.join()).extracting(SubmitResult::kind)
              .isSubsetOf(SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET));
          assertThat(store.cancel(IntStream.range(0, 20).mapToObj(MariaDbSnapshotTest::key).toList())
              .toCompletableFuture().join()).extracting(CancelResult::kind).containsOnly(Cancellation.CANCELLED);
        }
      }
    }
  }
}
