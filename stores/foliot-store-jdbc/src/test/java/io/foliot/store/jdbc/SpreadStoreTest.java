package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.TaskId;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.SealFormat;
import io.foliot.testkit.ServerClockStoreContract;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs the contract kit against a store that is spread over two databases, and tests the properties of such a store.
 */
@Tag("long")
final class SpreadStoreTest extends ServerClockStoreContract {
  /** First slot of the second database. */
  private static final int SECOND_FIRST_SLOT = 100;

  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();
  private static Database first;
  private static Database second;

  @BeforeAll
  static void startServer() {
    first = DATABASE.get();
    second = DATABASE.another();
  }

  private static JdbcOptions options(int secondFirstSlot) {
    return Databases.options(first).toBuilder().parts(List.of(part(0, first), part(secondFirstSlot, second))).build();
  }

  private static JdbcPart part(int firstSlot, Database database) {
    return new JdbcPart(firstSlot, JdbcSource.of(database.jdbcUrl(), database.user(), database.password()));
  }

  private boolean full;

  @Override
  protected void setFull(boolean isFull) {
    if (full != isFull) {
      Databases.setFull(first, isFull);
      Databases.setFull(second, isFull);
      full = isFull;
    }
  }

  @Override
  protected TaskStore open() {
    Databases.empty(first);
    Databases.empty(second);
    return JdbcStore.open(options(SECOND_FIRST_SLOT));
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return JdbcStore.open(options(SECOND_FIRST_SLOT));
  }

  @Override
  protected void passes(Duration time) {
    Databases.sleep(time);
  }

  @Override
  protected Duration tick() {
    return Duration.ofMillis(150);
  }

  private static Draft draft(int hash16) {
    return new Draft(TaskId.of(System.currentTimeMillis(), hash16, ThreadLocalRandom.current().nextLong()), "orders",
        null, Due.after(60_000), Body.EMPTY, 0, OnConflict.RESET, null);
  }

  @Test
  void eachDatabaseHoldsTheTasksOfItsSlots() {
    try (JdbcStore store = (JdbcStore) open()) {
      assertThat(store.submit(List.of(draft(0), draft(99), draft(100), draft(255), draft(256 + 99)))
          .toCompletableFuture().join()).extracting(SubmitResult::kind).containsOnly(SubmitResult.Kind.CREATED);
      assertThat(Databases.strings(first, "SELECT part FROM foliot_task ORDER BY part")).containsExactly("0", "99",
          "99");
      assertThat(Databases.strings(second, "SELECT part FROM foliot_task ORDER BY part")).containsExactly("100",
          "255");
    }
  }

  @Test
  void aTransactionAcceptsOnlyTasksOfItsDatabase() throws SQLException {
    try (JdbcStore store = (JdbcStore) open(); Connection transaction = second.connect()) {
      transaction.setAutoCommit(false);
      assertThat(store.submit(transaction, List.of(draft(100), draft(255)))).hasSize(2);
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft(100), draft(99))))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("slot=99")
          .hasMessageContaining("idempotency key");
      transaction.commit();
      assertThat(Databases.strings(second, "SELECT part FROM foliot_task ORDER BY part")).containsExactly("100",
          "255");
    }
  }

  @Test
  void aSealRefusesTransactionsOfEachDatabase() throws SQLException {
    byte[] seal = SealFormat.encode(StoreSeal.of(StoreSeal.State.DRAINING, "elsewhere"));
    try (JdbcStore store = (JdbcStore) open(); Connection transaction = second.connect()) {
      transaction.setAutoCommit(false);
      assertThat(store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, 0, seal).toCompletableFuture().join())
          .isTrue();
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft(100))))
          .isInstanceOf(StoreAwayException.class);
      transaction.rollback();
      long version = store.document(DocumentKind.CLUSTER, StoreSeal.NAME).toCompletableFuture().join().orElseThrow()
          .version();
      assertThat(
          store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, version, null).toCompletableFuture().join())
          .isTrue();
      assertThat(store.submit(transaction, List.of(draft(100)))).hasSize(1);
      transaction.commit();
    }
  }

  @Test
  void aRemovalWithAnOldVersionLeavesBothDatabasesSealed() throws SQLException {
    byte[] seal = SealFormat.encode(StoreSeal.of(StoreSeal.State.DRAINING, "elsewhere"));
    try (JdbcStore store = (JdbcStore) open()) {
      assertThat(store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, 0, seal).toCompletableFuture().join())
          .isTrue();
      long version = store.document(DocumentKind.CLUSTER, StoreSeal.NAME).toCompletableFuture().join().orElseThrow()
          .version();
      assertThat(store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, version - 1, null).toCompletableFuture()
          .join()).isFalse();
      for (Database database : List.of(first, second)) {
        try (Connection transaction = database.connect()) {
          transaction.setAutoCommit(false);
          assertThatThrownBy(() -> store.submit(transaction, List.of(draft(database == first ? 0 : 100))))
              .isInstanceOf(StoreAwayException.class);
        }
      }
    }
  }

  @Test
  void databasesThatHoldOtherSlotsAreRefused() {
    open().close();
    assertThatThrownBy(() -> JdbcStore.open(options(128))).isInstanceOf(StoreException.class)
        .hasMessageContaining("0-99 of 256").hasMessageContaining("0-127 of 256");
    assertThatThrownBy(() -> JdbcStore.open(Databases.options(first))).isInstanceOf(StoreException.class)
        .hasMessageContaining("0-99 of 256");
    assertThatThrownBy(() -> JdbcStore.open(Databases.options(second))).isInstanceOf(StoreException.class)
        .hasMessageContaining("100-255 of 256");
  }
}
