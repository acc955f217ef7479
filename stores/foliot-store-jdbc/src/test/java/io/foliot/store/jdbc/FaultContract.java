package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.Server;
import io.foliot.backends.TcpProxy;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A store during faults of the server, the network or another session; also, two stores on one database. */
@Isolated
abstract class FaultContract {
  private static final String QUEUE = "orders";
  private static final long HOUR = 3_600_000;
  private static final int HEAL_SECONDS_MAX = 60;

  private TcpProxy proxy;
  private JdbcStore store;

  abstract Server server();

  abstract Database database();

  /** Ends the store's sessions in the server. */
  abstract void terminateSessions();

  /** Returns a statement that locks all tasks against writes until the transaction ends. */
  abstract String lockTasks();

  /** Returns a query with one row for each statement that waits for a lock. */
  abstract String lockWaiters();

  @BeforeEach
  void open() {
    Databases.empty(database());
    proxy = TcpProxy.to(server());
    store = JdbcStore.open(options());
  }

  private JdbcOptions options() {
    return Databases.options(database().at(proxy.port())).toBuilder().timeout(Duration.ofSeconds(2)).build();
  }

  @AfterEach
  void close() {
    store.close();
    proxy.close();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(HEAL_SECONDS_MAX, TimeUnit.SECONDS).join();
  }

  private static Draft draft(@Nullable String key, long delayMillis, @Nullable String request) {
    int hash = key == null ? ThreadLocalRandom.current().nextInt() : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(System.currentTimeMillis(), hash, ThreadLocalRandom.current().nextLong()), QUEUE, key,
        Due.after(delayMillis), Body.json("1"), 0, OnConflict.RESET,
        request == null ? null : new Draft.Idempotency(request, 1));
  }

  private static List<Draft> drafts(int count) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      drafts.add(draft("key " + i, 0, null));
    }
    return drafts;
  }

  private static @Nullable StoreException failure(CompletionStage<?> stage) {
    try {
      Object answer = get(stage);
      assertThat(answer).isNotNull();
      return null;
    } catch (CompletionException e) {
      assertThat(e.getCause()).isInstanceOf(StoreException.class);
      return (StoreException) e.getCause();
    }
  }

  /** Repeats a call until it succeeds, for at most {@value #HEAL_SECONDS_MAX} s, and returns its result. */
  private static <T> T healed(Supplier<CompletionStage<T>> call) {
    long start = System.nanoTime();
    while (true) {
      try {
        return get(call.get());
      } catch (CompletionException e) {
        assertThat(e.getCause()).isInstanceOf(StoreException.class);
        assertThat(System.nanoTime() - start).as("healed").isLessThan(TimeUnit.SECONDS.toNanos(HEAL_SECONDS_MAX));
        Databases.sleep(Duration.ofMillis(100));
      }
    }
  }

  private static AttemptEnd finished(TaskRecord task) {
    return new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()), new Outcome.Finished(), 0,
        "");
  }

  private List<TaskRecord> won(List<TaskId> ids) {
    List<TaskRecord> won = new ArrayList<>();
    for (ClaimResult result : get(store.claim(ids.stream().map(id -> new Claim(id, HOUR)).toList())).results()) {
      if (result instanceof ClaimResult.Won(TaskRecord task)) {
        won.add(task);
      }
    }
    return won;
  }

  @Test
  void aKilledServerKeepsAllConfirmedWrites() {
    List<TaskId> ids = get(store.submit(drafts(50))).stream().map(SubmitResult::id).toList();
    List<TaskRecord> claimed = won(ids.subList(0, 20));
    get(store.settle(claimed.subList(0, 10).stream().map(FaultContract::finished).toList()));
    server().kill();
    assertThat(failure(store.submit(drafts(1)))).isNotNull();
    assertThat(failure(store.timeMicros(0))).isNotNull();
    server().restart();
    assertThat(healed(() -> store.timeMicros(0))).isPositive();
    assertThat(get(store.settle(claimed.stream().map(FaultContract::finished).toList())))
        .extracting(SettleResult::kind)
        .startsWith(Collections.nCopies(10, SettleResult.Kind.REPEATED).toArray(SettleResult.Kind[]::new))
        .endsWith(Collections.nCopies(10, SettleResult.Kind.SETTLED).toArray(SettleResult.Kind[]::new));
    assertThat(won(ids)).hasSize(30);
  }

  @Test
  void aCallWhoseReplyIsLostTakesEffectOnce() {
    get(store.submit(List.of(draft("warm", HOUR, null))));
    Draft draft = draft("a", 0, "request");
    proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.ISO_8859_1).contains("INTO foliot_task"));
    StoreException failure = failure(store.submit(List.of(draft)));
    assertThat(failure).isNotNull();
    assertThat(proxy.swallowedReplies()).isEqualTo(1);
    SubmitResult.Kind kind = get(store.submit(List.of(draft))).getFirst().kind();
    TaskRecord task = get(store.find(new TaskRef.ByKey(QUEUE, "a"))).orElseThrow();
    assertThat(task.id()).isEqualTo(draft.id());
    // The server rolls back if it had not committed when the connection was cut.
    assertThat(kind).isIn(SubmitResult.Kind.REPEATED, SubmitResult.Kind.CREATED);
    assertThat(get(store.counts()).get(QUEUE)).satisfies(counts -> assertThat(counts.live()).isEqualTo(2));
  }

  @Test
  void aClaimWhoseReplyIsLostIsTakenOverAfterItsLease() {
    TaskId id = get(store.submit(List.of(draft("a", 0, null)))).getFirst().id();
    proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.ISO_8859_1).contains("UPDATE foliot_task"));
    assertThat(failure(store.claim(List.of(new Claim(id, 1_000))))).isNotNull();
    TaskRecord second = healed(() -> store.claim(List.of(new Claim(id, HOUR))).thenApply(batch -> {
      if (batch.results().getFirst() instanceof ClaimResult.Won(TaskRecord task)) {
        return task;
      }
      throw new CompletionException(new StoreException("not yet", null));
    }));
    assertThat(second.outstanding()).as("the first claim was made").isEqualTo(second.attempt() == 2);
    assertThat(get(store.settle(List.of(finished(second)))).getFirst().kind()).isEqualTo(SettleResult.Kind.SETTLED);
  }

  @Test
  void endedSessionsAreReplaced() {
    for (int i = 0; i < 5; i++) {
      String key = "key " + i;
      assertThat(healed(() -> store.submit(List.of(draft(key, HOUR, null))))).hasSize(1);
      terminateSessions();
    }
    assertThat(healed(() -> store.live(100, null)).tasks()).hasSize(5);
  }

  @Test
  void callsFailInTimeWhileTheServerDoesNotReply() {
    get(store.submit(List.of(draft("a", HOUR, null))));
    proxy.blackHole();
    long start = System.nanoTime();
    assertThat(failure(store.submit(List.of(draft("b", HOUR, null))))).isNotNull();
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(HEAL_SECONDS_MAX));
    proxy.heal();
    assertThat(healed(() -> store.find(new TaskRef.ByKey(QUEUE, "a")))).isPresent();
  }

  @Test
  void callsFailInTimeWhileAnotherSessionHoldsALock() throws SQLException {
    get(store.submit(List.of(draft("a", HOUR, null))));
    try (Connection other = database().connect(); Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute(lockTasks());
      assertThat(failure(store.submit(List.of(draft("a", 2 * HOUR, null))))).isNotNull();
      other.rollback();
    }
    assertThat(healed(() -> store.submit(List.of(draft("a", 2 * HOUR, null)))).getFirst().kind())
        .isEqualTo(SubmitResult.Kind.RESET);
  }

  @Test
  void aClaimSucceedsDespiteADeadlock() throws SQLException {
    List<TaskId> ids = new ArrayList<>(
        get(store.submit(drafts(2))).stream().map(SubmitResult::id).sorted().toList());
    try (JdbcStore patient = JdbcStore.open(Databases.options(database()));
        Connection other = database().connect();
        Statement update = other.createStatement()) {
      other.setAutoCommit(false);
      // The store locks rows in the order of their ids; this transaction locks them in the opposite order.
      update.execute(touchRow(ids.get(1)));
      CompletableFuture<List<ClaimResult>> claims = patient
          .claim(ids.stream().map(id -> new Claim(id, HOUR)).toList()).thenApply(batch -> batch.results())
          .toCompletableFuture();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(HEAL_SECONDS_MAX);
      while (Databases.strings(database(), lockWaiters()).isEmpty()) {
        assertThat(System.nanoTime() - end).as("the claim waits for the row").isNegative();
        // InnoDB caches the table of transactions until 0.1 s have passed without a query of that table.
        Databases.sleep(Duration.ofMillis(150));
      }
      assertThat(claims).isNotDone();
      try {
        update.execute(touchRow(ids.getFirst()));
        other.commit();
      } catch (SQLException e) {
        // The server may choose either transaction as the victim.
        other.rollback();
      }
      assertThat(get(claims)).hasOnlyElementsOfType(ClaimResult.Won.class);
    }
  }

  /** Returns a statement that locks a row, and changes only its version. */
  private String touchRow(TaskId id) {
    String hex = id.toString();
    return "UPDATE foliot_task SET version = version + 1 WHERE id = "
        + (database().kind().equals("postgresql") ? "'" + hex + "'" : "X'" + hex.replace("-", "") + "'");
  }

  @Test
  void eachTaskIsWonByOneOfTwoStores() {
    List<TaskId> ids = get(store.submit(drafts(2_000))).stream().map(SubmitResult::id).toList();
    try (JdbcStore other = JdbcStore.open(Databases.options(database()))) {
      List<CompletableFuture<?>> calls = new ArrayList<>();
      List<TaskRecord> won = Collections.synchronizedList(new ArrayList<>());
      List<TaskId> shuffled = new ArrayList<>(ids);
      Collections.shuffle(shuffled);
      for (int from = 0; from < ids.size(); from += 100) {
        calls.add(claim(store, ids.subList(from, from + 100), won));
        calls.add(claim(other, shuffled.subList(from, from + 100), won));
      }
      calls.forEach(CompletableFuture::join);
      assertThat(won).extracting(TaskRecord::id).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
      assertThat(get(other.settle(won.stream().map(FaultContract::finished).toList())))
          .extracting(SettleResult::kind).containsOnly(SettleResult.Kind.SETTLED);
    }
  }

  private static CompletableFuture<?> claim(JdbcStore store, List<TaskId> ids, List<TaskRecord> won) {
    return store.claim(ids.stream().map(id -> new Claim(id, HOUR)).toList()).thenAccept(batch -> {
      for (ClaimResult result : batch.results()) {
        if (result instanceof ClaimResult.Won(TaskRecord task)) {
          won.add(task);
        }
      }
    }).toCompletableFuture();
  }

  @Test
  void storesMayCreateTheTablesAtTheSameTime() {
    Database fresh = freshDatabase();
    List<CompletableFuture<JdbcStore>> opening = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      opening.add(
          CompletableFuture.supplyAsync(() -> JdbcStore.open(Databases.options(fresh)), Thread::startVirtualThread));
    }
    List<JdbcStore> stores = opening.stream().map(CompletableFuture::join).toList();
    Set<Integer> numbers = new HashSet<>();
    stores.forEach(each -> get(each.submit(List.of(draft(null, 0, null)))));
    Databases.strings(fresh, "SELECT number FROM foliot_queue").forEach(n -> numbers.add(Integer.valueOf(n)));
    assertThat(numbers).hasSize(1);
    stores.forEach(JdbcStore::close);
  }

  /** Returns a new database without tables. */
  abstract Database freshDatabase();

  @Test
  void aPoolerMayGiveEachStatementAnotherSession() {
    try (
        JdbcStore pooled = JdbcStore.open(JdbcOptions.builder(new RotatingSource(database())).connections(2).build())) {
      List<TaskId> ids = get(pooled.submit(drafts(20))).stream().map(SubmitResult::id).toList();
      assertThat(get(pooled.submit(drafts(20)))).extracting(SubmitResult::kind)
          .containsOnly(SubmitResult.Kind.RESET);
      assertThat(get(pooled.touch(List.of(new Touch(new TaskRef.ByKey(QUEUE, "key 19"), Due.after(HOUR))))))
          .extracting(TouchResult::kind).containsOnly(TouchResult.Kind.RESET);
      assertThat(get(pooled.cancel(List.of(new TaskRef.ByKey(QUEUE, "key 18"))))).hasSize(1);
      List<TaskRecord> won = new ArrayList<>();
      CompletableFuture<?> claim = claim(pooled, ids, won);
      get(claim);
      assertThat(won).hasSize(18);
      assertThat(get(pooled.settle(won.stream().map(FaultContract::finished).toList())))
          .extracting(SettleResult::kind).containsOnly(SettleResult.Kind.SETTLED);
      assertThat(get(pooled.submit(List.of(draft("a", 0, "request"), draft("b", 0, "request")))))
          .extracting(SubmitResult::kind).containsOnly(SubmitResult.Kind.CREATED);
    }
  }

  @Test
  void expiredRowsAreDeleted() {
    store.configure(QUEUE, new QueueTerms(5, Long.MAX_VALUE, HOUR, 1, 1));
    Draft draft = draft("a", 0, "request");
    List<TaskId> ids = get(store.submit(List.of(draft, draft("b", 0, null), draft("c", 0, null)))).stream()
        .map(SubmitResult::id).toList();
    List<TaskRecord> won = won(ids.subList(0, 2));
    get(store.settle(List.of(finished(won.getFirst()), new AttemptEnd(won.get(1).id(), won.get(1).generation(),
        Objects.requireNonNull(won.get(1).token()), new Outcome.Failed(), 0, ""))));
    get(store.cancel(List.of(new TaskRef.ById(ids.get(2)))));
    Databases.execute(database(), "UPDATE foliot_request SET drop_at = 1");
    for (int i = 0; !Databases.strings(database(), "SELECT generation FROM foliot_final UNION ALL"
        + " SELECT generation FROM foliot_request").isEmpty(); i++) {
      assertThat(i).as("tenths of seconds").isLessThan(10 * HEAL_SECONDS_MAX);
      Databases.sleep(Duration.ofMillis(100));
    }
  }
}
