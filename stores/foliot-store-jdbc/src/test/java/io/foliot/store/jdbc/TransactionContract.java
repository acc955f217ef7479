package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.backends.Database;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.format.SealFormat;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Submits, touches and cancels in transactions of callers. */
abstract class TransactionContract {
  private static final String QUEUE = "orders";
  private static final long HOUR = 3_600_000;

  private JdbcStore store;

  abstract Database database();

  /**
   * Returns whether, at the default isolation level of the database, a call fails if another transaction has changed a
   * row since the first read of the caller's transaction.
   */
  boolean changedRowsFail() {
    return false;
  }

  @BeforeEach
  void open() {
    Databases.empty(database());
    store = JdbcStore.open(Databases.options(database()));
    get(store.submit(List.of(draft("warm", HOUR))));
    if (Databases.strings(database(), "SELECT 1 FROM information_schema.tables WHERE table_name = 'orders'")
        .isEmpty()) {
      Databases.execute(database(), "CREATE TABLE orders (name VARCHAR(64) PRIMARY KEY)");
    }
    Databases.execute(database(), "DELETE FROM orders");
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static Draft draft(@Nullable String key, long delayMillis) {
    return draft(key, Due.after(delayMillis), OnConflict.RESET, null);
  }

  private static Draft draft(@Nullable String key, Due due, OnConflict onConflict, @Nullable String request) {
    int hash = key == null ? ThreadLocalRandom.current().nextInt() : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(System.currentTimeMillis(), hash, ThreadLocalRandom.current().nextLong()), QUEUE, key,
        due, Body.json("\"" + key + "\""), 0, onConflict, request == null ? null : new Draft.Idempotency(request, 1));
  }

  private Connection transaction() throws SQLException {
    Connection connection = database().connect();
    connection.setAutoCommit(false);
    return connection;
  }

  private static void order(Connection transaction, String name) throws SQLException {
    try (PreparedStatement insert = transaction.prepareStatement("INSERT INTO orders (name) VALUES (?)")) {
      insert.setString(1, name);
      assertThat(insert.executeUpdate()).isEqualTo(1);
    }
  }

  private List<String> orders() {
    return Databases.strings(database(), "SELECT name FROM orders ORDER BY name");
  }

  private Optional<TaskRecord> find(String key) {
    return get(store.find(new TaskRef.ByKey(QUEUE, key)));
  }

  private List<TaskId> due() {
    return get(store.due(IntStream.range(0, store.slotCount())
        .mapToObj(slot -> new DueScan(slot, Long.MIN_VALUE, null, now(), 100)).toList())).stream()
        .flatMap(slice -> slice.entries().stream()).map(DueEntry::id).toList();
  }

  private long now() {
    return Math.floorDiv(get(store.timeMicros(0)), 1_000);
  }

  /** Returns a data source that returns the connection of a transaction. Closing that connection has no effect. */
  private static DataSource aware(Connection transaction) {
    Connection kept = (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
        new Class<?>[]{Connection.class}, (proxy, method, arguments) -> {
          try {
            return method.getName().equals("close") ? null : method.invoke(transaction, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
    return (DataSource) Proxy.newProxyInstance(DataSource.class.getClassLoader(), new Class<?>[]{DataSource.class},
        (proxy, method, arguments) -> kept);
  }

  @Test
  void aSubmitOfAKnownQueueNeedsNoSecondConnection() throws SQLException {
    AtomicBoolean isExhausted = new AtomicBoolean();
    DataSource pool = (DataSource) Proxy.newProxyInstance(DataSource.class.getClassLoader(),
        new Class<?>[]{DataSource.class}, (proxy, method, arguments) -> {
          if (method.getName().equals("isWrapperFor")) {
            return false;
          }
          if (isExhausted.get()) {
            throw new SQLException("no connection is free");
          }
          return database().connect();
        });
    try (JdbcStore own = JdbcStore.open(JdbcOptions.builder(pool).connections(2).build());
        Connection transaction = transaction()) {
      get(own.submit(List.of(draft("known", HOUR))));
      isExhausted.set(true);
      assertThat(own.submit(transaction, List.of(draft("order-a", HOUR)))).hasSize(1);
      transaction.rollback();
      isExhausted.set(false);
    }
  }

  @Test
  void aTransactionAwareDataSourceUsesTheTransaction() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      assertThat(store.submit(aware(transaction), List.of(draft("order-a", HOUR)))).hasSize(1);
      transaction.rollback();
      assertThat(find("order-a")).isEmpty();
      assertThat(store.submit(aware(transaction), List.of(draft("order-a", HOUR)))).hasSize(1);
      transaction.commit();
      assertThat(find("order-a")).isPresent();
    }
    try (Connection alone = database().connect()) {
      assertThatThrownBy(() -> store.submit(aware(alone), List.of(draft("order-b", HOUR))))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("setAutoCommit(false)");
    }
  }

  @Test
  void aRolledBackTaskNeverExisted() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      List<SubmitResult> results = store.submit(transaction,
          List.of(draft("a", 0), draft(null, 0), draft("warm", 2 * HOUR)));
      assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.CREATED,
          SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET);
      transaction.rollback();
      assertThat(orders()).isEmpty();
      assertThat(find("a")).isEmpty();
      assertThat(get(store.find(new TaskRef.ById(results.get(1).id())))).isEmpty();
      assertThat(find("warm").orElseThrow().generation()).isLessThan(results.get(2).generation());
      assertThat(due()).isEmpty();
    }
  }

  @Test
  void aCommittedTaskIsStoredWithTheCallersRows() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      SubmitResult result = store.submit(transaction, List.of(draft("a", 0))).getFirst();
      assertThat(find("a")).as("before the commit").isEmpty();
      transaction.commit();
      assertThat(orders()).containsExactly("a");
      TaskRecord task = find("a").orElseThrow();
      assertThat(task.id()).isEqualTo(result.id());
      assertThat(task.generation()).isEqualTo(result.generation());
      assertThat(task.dueAt()).isEqualTo(result.dueAt());
      ClaimResult claim = get(store.claim(List.of(new Claim(task.id(), HOUR)))).results().getFirst();
      assertThat(claim).isInstanceOf(ClaimResult.Won.class);
    }
  }

  @Test
  void aHeadPollFindsATaskThatIsCommittedLate() throws SQLException {
    try (Connection transaction = transaction()) {
      SubmitResult late = store.submit(transaction,
          List.of(draft("late", Due.at(now() - HOUR), OnConflict.RESET, null))).getFirst();
      Draft next = draft("next", 0);
      get(store.submit(List.of(next)));
      assertThat(due()).containsExactly(next.id());
      transaction.commit();
      assertThat(due()).containsExactlyInAnyOrder(late.id(), next.id());
    }
  }

  @Test
  void aLiveKeyDoesNotEndTheTransaction() throws SQLException {
    try (Connection transaction = transaction()) {
      List<SubmitResult> results = store.submit(transaction,
          List.of(draft("warm", Due.NOW, OnConflict.REJECT, null), draft("warm", Due.NOW, OnConflict.KEEP, null),
              draft("warm", 2 * HOUR), draft("new", HOUR), draft("new", 3 * HOUR)));
      assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.REJECTED,
          SubmitResult.Kind.KEPT, SubmitResult.Kind.RESET, SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET);
      assertThat(store.submit(transaction, List.of(draft("new", 4 * HOUR))).getFirst().kind())
          .as("the transaction sees its own writes").isEqualTo(SubmitResult.Kind.RESET);
      order(transaction, "a");
      transaction.commit();
      assertThat(orders()).containsExactly("a");
      assertThat(find("new").orElseThrow().state()).isEqualTo(TaskState.DELAYED);
    }
  }

  @Test
  void aRequestIsRecognisedAndDoesNotEndTheTransaction() throws SQLException {
    Draft first = draft("once", Due.after(HOUR), OnConflict.RESET, "request");
    get(store.submit(List.of(first)));
    try (Connection transaction = transaction()) {
      Draft here = draft("here", Due.after(HOUR), OnConflict.RESET, "request");
      assertThat(store.submit(transaction, List.of(first, here, here))).extracting(SubmitResult::kind)
          .containsExactly(SubmitResult.Kind.REPEATED, SubmitResult.Kind.CREATED, SubmitResult.Kind.REPEATED);
      order(transaction, "a");
      transaction.rollback();
      assertThat(store.submit(transaction, List.of(here)).getFirst().kind())
          .as("the answer was rolled back too").isEqualTo(SubmitResult.Kind.CREATED);
      transaction.commit();
      assertThat(get(store.submit(List.of(here))).getFirst().kind()).isEqualTo(SubmitResult.Kind.REPEATED);
    }
  }

  @Test
  void submitsSeeTasksThatOthersHaveCommitted() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      store.submit(transaction, List.of(draft("first", HOUR)));
      long generation = get(store.submit(List.of(draft("warm", 2 * HOUR)))).getFirst().generation();
      get(store.submit(List.of(draft("meanwhile", HOUR))));
      List<SubmitResult> results = repeatedIfChanged(transaction,
          () -> store.submit(transaction, List.of(draft("warm", 3 * HOUR), draft("meanwhile", 3 * HOUR))));
      assertThat(results).extracting(SubmitResult::kind).containsOnly(SubmitResult.Kind.RESET);
      assertThat(results.getFirst().generation()).isGreaterThan(generation);
      transaction.commit();
      assertThat(find("warm").orElseThrow().generation()).isEqualTo(results.getFirst().generation());
    }
  }

  private static TaskRef key(String key) {
    return new TaskRef.ByKey(QUEUE, key);
  }

  private static Touch touch(String key, long delayMillis) {
    return new Touch(key(key), Due.after(delayMillis));
  }

  @Test
  void aTouchTakesEffectAtTheCommit() throws SQLException {
    long before = find("warm").orElseThrow().generation();
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      assertThat(store.touch(transaction, List.of(touch("warm", 5 * HOUR), touch("none", HOUR))))
          .extracting(TouchResult::kind).containsExactly(TouchResult.Kind.RESET, TouchResult.Kind.NOT_FOUND);
      transaction.rollback();
      assertThat(find("warm").orElseThrow().generation()).isEqualTo(before);
      TouchResult result = store.touch(transaction, List.of(touch("warm", 5 * HOUR))).getFirst();
      assertThat(find("warm").orElseThrow().generation()).as("before the commit").isEqualTo(before);
      transaction.commit();
      assertThat(find("warm").orElseThrow().generation()).isEqualTo(result.generation())
          .isGreaterThan(before);
      assertThat(find("warm").orElseThrow().dueAt()).isEqualTo(result.dueAt());
    }
  }

  @Test
  void aCancelTakesEffectAtTheCommit() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      assertThat(store.cancel(transaction, List.of(key("warm"), key("none")))).extracting(CancelResult::kind)
          .containsExactly(Cancellation.CANCELLED, Cancellation.NOT_FOUND);
      transaction.rollback();
      assertThat(find("warm").orElseThrow().state()).isEqualTo(TaskState.DELAYED);
      store.cancel(transaction, List.of(key("warm")));
      assertThat(find("warm").orElseThrow().state()).as("before the commit").isEqualTo(TaskState.DELAYED);
      transaction.commit();
      assertThat(find("warm").orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
    }
  }

  @Test
  void aTransactionCanChangeTasksThatItSubmitted() throws SQLException {
    try (Connection transaction = transaction()) {
      store.submit(transaction, List.of(draft("a", HOUR), draft("b", HOUR)));
      assertThat(store.touch(transaction, List.of(touch("a", 2 * HOUR))).getFirst().kind())
          .isEqualTo(TouchResult.Kind.RESET);
      assertThat(store.cancel(transaction, List.of(key("b"))).getFirst().kind())
          .isEqualTo(Cancellation.CANCELLED);
      transaction.commit();
      assertThat(find("a").orElseThrow().state()).isEqualTo(TaskState.DELAYED);
      assertThat(find("b").orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
    }
  }

  /**
   * Under REPEATABLE READ, a read without locks would return the old version of a row that another transaction has
   * changed. No compare-and-set of this row would then succeed.
   */
  @Test
  void touchAndCancelSeeChangesThatOthersHaveCommitted() throws SQLException {
    get(store.submit(List.of(draft("other", HOUR))));
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).containsExactly("a");
      long generation = get(store.touch(List.of(touch("warm", 2 * HOUR)))).getFirst().generation();
      get(store.submit(List.of(draft("other", 2 * HOUR))));
      assertThat(repeatedIfChanged(transaction,
          () -> store.touch(transaction, List.of(touch("warm", 3 * HOUR)))).getFirst().generation())
          .isGreaterThan(generation);
      assertThat(store.cancel(transaction, List.of(key("other"))).getFirst().kind())
          .isEqualTo(Cancellation.CANCELLED);
      transaction.commit();
      assertThat(find("other").orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
    }
  }

  @Test
  void anOpenTransactionDelaysOnlyCallsForItsKeys() throws SQLException {
    try (Connection transaction = transaction()) {
      store.submit(transaction, List.of(draft("a", HOUR), draft("warm", 2 * HOUR)));
      get(store.submit(List.of(draft("b", 0), draft(null, 0))));
      for (TaskId id : due()) {
        assertThat(get(store.claim(List.of(new Claim(id, HOUR)))).results().getFirst())
            .isInstanceOf(ClaimResult.Won.class);
      }
      CompletableFuture<List<SubmitResult>> waits = store.submit(List.of(draft("a", 3 * HOUR)))
          .toCompletableFuture();
      get(store.submit(List.of(draft("c", 0))));
      assertThat(waits).isNotDone();
      transaction.commit();
      assertThat(get(waits).getFirst().kind()).isEqualTo(SubmitResult.Kind.RESET);
    }
  }

  /** A call in the transaction of a caller. */
  interface Call<R> {
    R call() throws SQLException;
  }

  /** Makes a call. If the database cannot serialize the transaction, repeats it as a caller does. */
  private static <R> R repeated(Connection transaction, Call<R> call) throws SQLException {
    try {
      return call.call();
    } catch (SQLException e) {
      assertThat(e.getSQLState()).isEqualTo("40001");
      transaction.rollback();
      return call.call();
    }
  }

  private <R> R repeatedIfChanged(Connection transaction, Call<R> call) throws SQLException {
    return changedRowsFail() ? repeated(transaction, call) : call.call();
  }

  private List<SubmitResult> submitOrRepeat(Connection transaction, List<Draft> drafts) throws SQLException {
    return repeated(transaction, () -> store.submit(transaction, drafts));
  }

  @Test
  void anOldSnapshotDoesNotKeepATaskThatHasEnded() throws SQLException {
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).isEmpty();
      get(store.cancel(List.of(key("warm"))));
      assertThat(submitOrRepeat(transaction, List.of(draft("warm", Due.after(HOUR), OnConflict.KEEP, null),
          draft("other", Due.after(HOUR), OnConflict.KEEP, null)))).extracting(SubmitResult::kind)
          .containsOnly(SubmitResult.Kind.CREATED);
      transaction.commit();
      assertThat(find("warm").orElseThrow().state()).isEqualTo(TaskState.DELAYED);
    }
  }

  @Test
  void anOldSnapshotDoesNotHideAnAnswer() throws SQLException {
    Draft once = draft("once", Due.after(HOUR), OnConflict.RESET, "request");
    Draft warm = draft("warm", Due.after(HOUR), OnConflict.RESET, "request");
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).isEmpty();
      get(store.submit(List.of(once, warm)));
      assertThat(submitOrRepeat(transaction, List.of(once, draft("new", HOUR), warm)))
          .extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.REPEATED, SubmitResult.Kind.CREATED,
              SubmitResult.Kind.REPEATED);
      transaction.commit();
    }
  }

  /** The caller repeats a call that has taken effect, and meanwhile the task has run. */
  @Test
  void anOldSnapshotDoesNotCreateATaskAgain() throws SQLException {
    Draft once = draft(null, HOUR);
    get(store.submit(List.of(once)));
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT id FROM foliot_task")).isNotEmpty();
      get(store.cancel(List.of(new TaskRef.ById(once.id()))));
      assertThat(submitOrRepeat(transaction, List.of(once)).getFirst().kind()).isEqualTo(SubmitResult.Kind.CREATED);
      transaction.commit();
      assertThat(get(store.find(new TaskRef.ById(once.id()))).orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
    }
  }

  /** Only the unique index of the answers shows that the task was created. */
  @Test
  void anOldSnapshotDoesNotHideTheAnswerOfAnEndedTask() throws SQLException {
    Draft once = draft("once", Due.after(HOUR), OnConflict.RESET, "request");
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).isEmpty();
      get(store.submit(List.of(once)));
      get(store.cancel(List.of(key("once"))));
      assertThat(submitOrRepeat(transaction, List.of(once))).extracting(SubmitResult::kind)
          .containsExactly(SubmitResult.Kind.REPEATED);
      transaction.commit();
    }
  }

  /** Under REPEATABLE READ, MariaDB and MySQL do not return the kept record of the task. */
  @Test
  void aCancelAfterAnOldSnapshotChangesNothing() throws SQLException {
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).isEmpty();
      get(store.cancel(List.of(key("warm"))));
      assertThat(repeated(transaction, () -> store.cancel(transaction, List.of(key("warm")))).getFirst().kind())
          .isIn(Cancellation.NOT_FOUND, Cancellation.ALREADY_FINISHED);
      transaction.commit();
      assertThat(find("warm").orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
    }
  }

  private CompletableFuture<Boolean> seal(long version, StoreSeal.@Nullable State state) {
    return store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, version,
        state == null ? null : SealFormat.encode(StoreSeal.of(state, "elsewhere"))).toCompletableFuture();
  }

  private void unseal() {
    Optional<Document> seal = get(store.document(DocumentKind.CLUSTER, StoreSeal.NAME));
    assertThat(get(seal(seal.orElseThrow().version(), null))).isTrue();
  }

  /**
   * Without the wait, a transaction could commit tasks after the migration had read the store. These tasks would be
   * lost.
   */
  @Test
  void theSealWaitsForOpenTransactions() throws SQLException {
    try (Connection first = transaction(); Connection second = transaction()) {
      store.submit(first, List.of(draft("a", HOUR)));
      store.touch(second, List.of(touch("warm", 2 * HOUR)));
      CompletableFuture<Boolean> sealed = seal(0, StoreSeal.State.DRAINING);
      first.commit();
      ensureWaits(sealed);
      second.commit();
      assertThat(get(sealed)).isTrue();
      assertThat(find("a")).isPresent();
      unseal();
    }
  }

  @Test
  void aSealedStoreRefusesTransactions() throws SQLException {
    try (Connection transaction = transaction()) {
      order(transaction, "a");
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).containsExactly("a");
      assertThat(get(seal(0, StoreSeal.State.DRAINING))).isTrue();
      assertThatThrownBy(
          () -> repeatedIfChanged(transaction, () -> store.submit(transaction, List.of(draft("a", HOUR)))))
          .isInstanceOf(StoreAwayException.class).hasMessageContaining("sealed");
      assertThatThrownBy(() -> store.touch(transaction, List.of(touch("warm", 2 * HOUR))))
          .isInstanceOf(StoreAwayException.class);
      assertThatThrownBy(() -> store.cancel(transaction, List.of(key("warm"))))
          .isInstanceOf(StoreAwayException.class);
      transaction.rollback();
      unseal();
      assertThat(store.submit(transaction, List.of(draft("a", HOUR)))).hasSize(1);
      transaction.commit();
      assertThat(find("a")).isPresent();
    }
  }

  /**
   * If the first read was before the seal, the call fails on PostgreSQL, and reads the newest row on MariaDB.
   */
  @Test
  void anOldSnapshotDoesNotHideTheSeal() throws SQLException {
    try (Connection transaction = repeatable()) {
      assertThat(Databases.strings(transaction, "SELECT name FROM orders")).isEmpty();
      assertThat(get(seal(0, StoreSeal.State.DRAINING))).isTrue();
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft("a", HOUR))))
          .isInstanceOfAny(StoreAwayException.class, SQLException.class);
      transaction.rollback();
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft("a", HOUR))))
          .isInstanceOf(StoreAwayException.class);
      transaction.rollback();
      unseal();
    }
  }

  private Connection repeatable() throws SQLException {
    Connection connection = transaction();
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    return connection;
  }

  /** An older version of Foliot wrote only the document. */
  @Test
  void anUpgradeFindsTheSeal() throws SQLException {
    assertThat(get(seal(0, StoreSeal.State.MOVED))).isTrue();
    store.close();
    Databases.execute(database(), "DELETE FROM foliot_meta WHERE name = 'sealed'");
    Databases.execute(database(), "UPDATE foliot_meta SET value = '2' WHERE name = 'schema'");
    Databases.execute(database(), "DELETE FROM foliot_schema_history WHERE version IN ('3', '4', '5')");
    Databases.execute(database(), "ALTER TABLE foliot_task DROP COLUMN drop_at, DROP COLUMN end_reason");
    store = JdbcStore.open(Databases.options(database()));
    try (Connection transaction = transaction()) {
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft("a", HOUR))))
          .isInstanceOf(StoreAwayException.class);
    }
    unseal();
  }

  @Test
  void anOldVersionOfTheSealChangesNothing() throws SQLException {
    assertThat(get(seal(0, StoreSeal.State.DRAINING))).isTrue();
    assertThat(get(seal(0, StoreSeal.State.MOVED))).isFalse();
    assertThat(get(seal(7, null))).isFalse();
    try (Connection transaction = transaction()) {
      assertThatThrownBy(() -> store.submit(transaction, List.of(draft("a", HOUR))))
          .isInstanceOf(StoreAwayException.class);
    }
    unseal();
  }

  private static void ensureWaits(CompletableFuture<?> call) {
    assertThatThrownBy(() -> call.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
  }

  /** The INSERT reads its generation before it waits. */
  @Test
  void aTaskWhoseInsertWaitedForADeleteHasTheLargestGeneration() throws SQLException {
    try (Connection transaction = transaction()) {
      store.cancel(transaction, List.of(key("warm")));
      CompletableFuture<List<SubmitResult>> waits = store.submit(List.of(draft("warm", HOUR))).toCompletableFuture();
      ensureWaits(waits);
      long ended = store.submit(transaction, List.of(draft("warm", HOUR))).getFirst().generation();
      store.cancel(transaction, List.of(key("warm")));
      transaction.commit();
      ensureCreatedAfter(ended, waits);
    }
  }

  @Test
  void aTaskWhoseInsertWaitedForATouchHasTheLargestGeneration() throws SQLException {
    try (Connection transaction = transaction()) {
      store.touch(transaction, List.of(touch("warm", 2 * HOUR)));
      CompletableFuture<List<SubmitResult>> waits = store.submit(List.of(draft("warm", HOUR))).toCompletableFuture();
      ensureWaits(waits);
      long ended = store.touch(transaction, List.of(touch("warm", 3 * HOUR))).getFirst().generation();
      store.cancel(transaction, List.of(key("warm")));
      transaction.commit();
      ensureCreatedAfter(ended, waits);
    }
  }

  /** The transaction of the insert does not see the task that ended while the insert waited. */
  @Test
  void anInsertThatWaitedAboveReadCommittedIsTheLatest() throws Exception {
    try (Connection ending = transaction(); Connection inserting = repeatable()) {
      assertThat(Databases.strings(inserting, "SELECT name FROM orders")).isEmpty();
      long first = store.submit(ending, List.of(draft("new", HOUR))).getFirst().generation();
      CompletableFuture<List<SubmitResult>> waits = new CompletableFuture<>();
      Thread thread = Thread.ofVirtual().start(() -> {
        try {
          waits.complete(store.submit(inserting, List.of(draft("new", HOUR))));
        } catch (SQLException | RuntimeException e) {
          waits.completeExceptionally(e);
        }
      });
      if (changedRowsFail()) {
        // Depending on the version of the server, the insert fails before or after the wait.
        ending.commit();
        assertThatThrownBy(() -> get(waits)).cause().isInstanceOfSatisfying(SQLException.class,
            e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        inserting.rollback();
        thread.join();
        return;
      }
      ensureWaits(waits);
      long ended = store.touch(ending, List.of(touch("new", 2 * HOUR))).getFirst().generation();
      assertThat(ended).isGreaterThan(first);
      store.cancel(ending, List.of(key("new")));
      ending.commit();
      SubmitResult result = get(waits).getFirst();
      assertThat(result.kind()).isEqualTo(SubmitResult.Kind.CREATED);
      assertThat(result.generation()).isGreaterThan(ended);
      inserting.commit();
      thread.join();
    }
  }

  /**
   * The answer is stored with the first generation of the task. The task then gets the largest generation of its key.
   */
  @Test
  void aRepeatedRequestReturnsTheGenerationOfTheTask() throws SQLException {
    Draft once = draft("warm", Due.after(HOUR), OnConflict.RESET, "request");
    try (Connection transaction = transaction()) {
      store.cancel(transaction, List.of(key("warm")));
      CompletableFuture<List<SubmitResult>> waits = store.submit(List.of(once, draft("other", HOUR)))
          .toCompletableFuture();
      ensureWaits(waits);
      long ended = store.submit(transaction, List.of(draft("warm", HOUR))).getFirst().generation();
      store.cancel(transaction, List.of(key("warm")));
      transaction.commit();
      ensureCreatedAfter(ended, waits);
    }
    SubmitResult again = get(store.submit(List.of(once))).getFirst();
    assertThat(again.kind()).isEqualTo(SubmitResult.Kind.REPEATED);
    assertThat(again.generation()).isEqualTo(find("warm").orElseThrow().generation());
  }

  private void ensureCreatedAfter(long generation, CompletableFuture<List<SubmitResult>> submitted) {
    SubmitResult result = get(submitted).getFirst();
    assertThat(result.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(result.generation()).isGreaterThan(generation);
    assertThat(find("warm").orElseThrow().generation()).isEqualTo(result.generation());
  }

  @Test
  void aConnectionInAutoCommitModeIsRefused() throws SQLException {
    try (Connection connection = database().connect()) {
      assertThatThrownBy(() -> store.submit(connection, List.of(draft("a", 0))))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("setAutoCommit(false)");
      assertThatThrownBy(() -> store.touch(connection, List.of(touch("warm", 0))))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("setAutoCommit(false)");
      assertThatThrownBy(() -> store.cancel(connection, List.of(key("warm"))))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("setAutoCommit(false)");
      assertThat(find("a")).isEmpty();
    }
  }
}
