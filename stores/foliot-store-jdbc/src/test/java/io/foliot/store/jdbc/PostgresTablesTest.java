package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rows and index entries that the statements read, change or skip in PostgreSQL. */
final class PostgresTablesTest {
  private static final String QUEUE = "orders";
  private static final int TASKS = 100_000;
  private static final int BATCH = 500;
  private static final int SMALL = 10_000;
  private static final long HOUR = 3_600_000;

  /**
   * A separate server. On a shared server, an open transaction in another database could delay the removal of dead rows
   * in this database.
   */
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres().onItsOwnServer();

  private Database database;
  private JdbcStore store;

  @BeforeEach
  void open() {
    // Each test has a new database, because statistics outlive the rows that they describe.
    database = DATABASE.another();
    store = JdbcStore.open(Databases.options(database));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static Draft draft(String key, long delayMillis) {
    TaskId id = TaskId.of(System.currentTimeMillis(), SlotHash.of(QUEUE, key), ThreadLocalRandom.current().nextLong());
    return new Draft(id, QUEUE, key, Due.after(delayMillis), null, 0, OnConflict.RESET, null);
  }

  private List<TaskId> submit(int from, int to, long delayMillis) {
    List<TaskId> ids = new ArrayList<>();
    for (int at = from; at < to; at += 5_000) {
      List<Draft> drafts = new ArrayList<>();
      for (int i = at; i < Math.min(to, at + 5_000); i++) {
        drafts.add(draft("key " + i, delayMillis));
      }
      get(store.submit(drafts)).forEach(result -> ids.add(result.id()));
    }
    return ids;
  }

  private List<TaskRecord> claim(List<TaskId> ids) {
    List<TaskRecord> won = new ArrayList<>();
    for (ClaimResult result : get(store.claim(ids.stream().map(id -> new Claim(id, HOUR)).toList())).results()) {
      assertThat(result).isInstanceOf(ClaimResult.Won.class);
      won.add(((ClaimResult.Won) result).task());
    }
    return won;
  }

  private static AttemptEnd settlement(TaskRecord task, Outcome outcome) {
    return new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()), outcome, 0, "");
  }

  private long statistic(String column, String table) {
    return Long.parseLong(Databases.strings(database,
        "SELECT " + column + " FROM pg_stat_user_tables WHERE relname = '" + table + "'").getFirst());
  }

  /**
   * Closes the store, waits until its sessions have ended, and opens a new store. A session reports all of its
   * statistics before it ends.
   */
  private JdbcStore reported() {
    store.close();
    for (int i = 0; !Databases.strings(database, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'foliot'"
        + " AND datname = current_database()")
        .isEmpty(); i++) {
      assertThat(i).as("the sessions end").isLessThan(1_000);
      Databases.sleep(Duration.ofMillis(10));
    }
    return JdbcStore.open(Databases.options(database));
  }

  /**
   * Each claim moves a task in the index of due times, and PostgreSQL then writes an entry of every index of the task.
   */
  @Test
  void aTaskWithoutAKeyHasTwoIndexEntries() {
    assertThat(Databases.strings(database, "SELECT indexrelid::regclass::text FROM pg_index"
        + " WHERE indrelid = 'foliot_task'::regclass ORDER BY 1"))
        .containsExactly("foliot_task_key", "foliot_task_pkey", "foliot_task_wake");
  }

  @Test
  void onlyCountsAndDeletionsReadTheWholeTable() {
    List<TaskId> ids = submit(0, TASKS, 0);
    TaskRecord ended = claim(ids.subList(0, 1)).getFirst();
    get(store.settle(List.of(settlement(ended, new Outcome.Finished()))));
    Databases.execute(database, "ANALYZE foliot_task");
    Databases.execute(database, "ANALYZE foliot_final");
    TaskId cancelled = TaskId.of(System.currentTimeMillis(), 1, 1);
    get(store.submit(List.of(new Draft(cancelled, "gone", null, Due.after(HOUR), null, 0, OnConflict.RESET, null))));
    get(store.cancel(List.of(new TaskRef.ById(cancelled))));
    store = reported();
    long scans = statistic("seq_scan", "foliot_task");

    List<TaskRecord> won = claim(ids.subList(BATCH, 2 * BATCH));
    get(store.extend(won.stream()
        .map(task -> new Extension(task.id(), Objects.requireNonNull(task.token()), 2 * HOUR)).toList()));
    get(store.settle(won.subList(0, 300).stream().map(task -> settlement(task, new Outcome.Finished())).toList()));
    get(store.settle(won.subList(300, 400).stream().map(task -> settlement(task, new Outcome.Failed())).toList()));
    get(store.settle(won.subList(400, 500).stream()
        .map(task -> settlement(task, new Outcome.Retry(Due.after(HOUR)))).toList()));
    get(store.redrive(won.subList(300, 400).stream().map(task -> new Redrive(QUEUE, task.id())).toList()));
    submit(2 * BATCH, 3 * BATCH, HOUR);
    List<Touch> touches = new ArrayList<>();
    List<TaskRef> refs = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      touches.add(new Touch(new TaskRef.ByKey(QUEUE, "key " + (5_000 + i)), Due.after(HOUR)));
      refs.add(new TaskRef.ByKey(QUEUE, "key " + (6_000 + i)));
    }
    get(store.touch(touches));
    get(store.touch(List.of(new Touch(new TaskRef.ById(ids.get(7_000)), Due.after(HOUR)))));
    get(store.cancel(refs));
    List<DueScan> polls = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      polls.add(new DueScan(slot, Long.MIN_VALUE, null, Long.MAX_VALUE, 2));
    }
    List<DueEntry> entries = get(store.due(polls)).stream().flatMap(slice -> slice.entries().stream()).toList();
    assertThat(entries).hasSize(2 * store.slotCount());
    get(store.park(entries));
    BitSet few = new BitSet();
    few.set(3, 9);
    assertThat(get(store.parked(QUEUE, SlotSet.of(store.slotCount(), few), null, 10))).isNotEmpty();
    assertThat(get(store.parkedQueues(SlotSet.all(store.slotCount())))).containsExactly(QUEUE);
    assertThat(get(store.find(new TaskRef.ByKey(QUEUE, "key 9000")))).isPresent();
    assertThat(get(store.query(QUEUE, null, 50, null)).tasks()).hasSize(50);
    assertThat(get(store.live(50, null)).tasks()).hasSize(50);

    store = reported();
    assertThat(statistic("seq_scan", "foliot_task")).isEqualTo(scans);

    // The statistic grows by one for each worker of a parallel scan.
    assertThat(get(store.counts())).containsKey(QUEUE);
    store = reported();
    assertThat(statistic("seq_scan", "foliot_task")).isGreaterThan(scans);

    // The questions before a queue is deleted.
    assertThat(get(store.hasLive(QUEUE))).isTrue();
    assertThat(get(store.hasLive("gone"))).isFalse();
  }

  /** A call of the store. */
  private interface Call {
    void take();
  }

  /** Returns how many rows of foliot_task and entries of its indexes have been read since the database was created. */
  private long read() {
    return Long.parseLong(Databases.strings(database, "SELECT seq_tup_read + (SELECT sum(idx_tup_read)"
        + " FROM pg_stat_user_indexes WHERE relname = 'foliot_task') FROM pg_stat_user_tables"
        + " WHERE relname = 'foliot_task'").getFirst());
  }

  private void ensureReadsItsRows(String what, Call call) {
    store = reported();
    long before = read();
    call.take();
    store = reported();
    assertThat(read() - before).as("rows that %s reads, of a table of %s", what, SMALL).isBetween(1L, 4L * BATCH);
  }

  /** By default, the planner expects that reading a whole index of a small table is cheaper than one lookup per row. */
  @Test
  void aBatchReadsOnlyItsRowsOfASmallTable() {
    List<TaskId> ids = submit(0, SMALL, 0);
    Databases.execute(database, "ANALYZE foliot_task");
    List<TaskRecord> won = new ArrayList<>();
    ensureReadsItsRows("a claim", () -> won.addAll(claim(ids.subList(0, BATCH))));
    ensureReadsItsRows("the end of attempts", () -> get(store.settle(
        won.stream().map(task -> settlement(task, new Outcome.Finished())).toList())));
    won.clear();
    ensureReadsItsRows("another claim", () -> won.addAll(claim(ids.subList(BATCH, 2 * BATCH))));
    ensureReadsItsRows("the end of passes", () -> get(store.settle(won.stream()
        .map(task -> settlement(task, new Outcome.Rearm(Due.after(HOUR), Body.json("1"), List.of(child(task)))))
        .toList())));
    ensureReadsItsRows("a touch", () -> get(store.touch(IntStream.range(2 * BATCH, 3 * BATCH)
        .mapToObj(i -> new Touch(new TaskRef.ByKey(QUEUE, "key " + i), Due.after(HOUR))).toList())));
    ensureReadsItsRows("a move", () -> get(store.claim(ids.subList(2 * BATCH, 3 * BATCH).stream().map(Claim::move)
        .toList())));
    List<DueEntry> entries = ids.subList(3 * BATCH, 4 * BATCH).stream()
        .map(id -> new DueEntry(get(store.find(new TaskRef.ById(id))).orElseThrow().wakeAt(), id, QUEUE)).toList();
    ensureReadsItsRows("a park", () -> get(store.park(entries)));
    ensureReadsItsRows("a cancel", () -> get(store.cancel(ids.subList(4 * BATCH, 5 * BATCH).stream()
        .<TaskRef>map(TaskRef.ById::new).toList())));
  }

  /** A queue is deleted beside many tasks of another queue: no statement may read the whole table. */
  @Test
  void theSearchForTasksOfAQueueIsInPages() {
    TaskId last = TaskId.of(System.currentTimeMillis() + HOUR, 7, 7);
    get(store.submit(List.of(new Draft(last, "empty", null, Due.after(HOUR), null, 0, OnConflict.REJECT, null),
        draft("key", HOUR))));
    // Copies of the task with a key, as live tasks without a key.
    Databases.execute(database, "INSERT INTO foliot_task SELECT (jsonb_populate_record(task,"
        + " jsonb_build_object('id', md5(number::text)::uuid, 'key', null))).*"
        + " FROM foliot_task task, generate_series(1, " + (PostgresQueries.HAS_LIVE_PAGE + 10) + ") number"
        + " WHERE key IS NOT NULL");
    Databases.execute(database, "ANALYZE foliot_task");
    store = reported();
    long scanned = statistic("seq_tup_read", "foliot_task");
    assertThat(get(store.hasLive("empty"))).isTrue();
    assertThat(get(store.cancel(List.of(new TaskRef.ById(last))))).hasSize(1);
    assertThat(get(store.hasLive("empty"))).isFalse();
    assertThat(get(store.hasLive(QUEUE))).isTrue();
    store = reported();
    assertThat(statistic("seq_tup_read", "foliot_task")).isEqualTo(scanned);
  }

  private static Outcome.Child child(TaskRecord task) {
    return new Outcome.Child(TaskId.of(System.currentTimeMillis(), task.id().hash16(),
        ThreadLocalRandom.current().nextLong()), QUEUE, Due.NOW, Body.EMPTY, 0, false);
  }

  @Test
  @Tag("long")
  void noBatchReadsAWholeTableBeforeTheFirstAnalyze() {
    for (int at = 0; at < 3 * TASKS; at += 5_000) {
      List<Draft> drafts = new ArrayList<>();
      for (int i = 0; i < 5_000; i++) {
        TaskId id = TaskId.of(System.currentTimeMillis(), i, ThreadLocalRandom.current().nextLong());
        drafts.add(new Draft(id, QUEUE, null, Due.after(HOUR), null, 0, OnConflict.RESET, null));
      }
      get(store.submit(drafts));
    }
    List<TaskId> ids = submit(0, TASKS, 0);
    submit(TASKS, 2 * TASKS, HOUR);
    store = reported();
    long scans = statistic("seq_scan", "foliot_task");
    for (int round = 0; round < 3; round++) {
      List<Touch> touches = new ArrayList<>();
      for (int i = 0; i < 2 * BATCH; i++) {
        touches.add(new Touch(new TaskRef.ByKey(QUEUE, "key " + (TASKS + i)), Due.after(2 * HOUR)));
      }
      get(store.touch(touches));
      submit(TASKS, TASKS + 2 * BATCH, 3 * HOUR);
      List<TaskRecord> won = claim(ids.subList(2 * round * BATCH, 2 * (round + 1) * BATCH));
      get(store.settle(won.stream().map(task -> settlement(task, new Outcome.Finished())).toList()));
    }
    store = reported();
    assertThat(statistic("seq_scan", "foliot_task")).isEqualTo(scans);
  }

  @Test
  void mostTouchesChangeNoIndex() {
    int keys = 2_000;
    submit(0, keys, HOUR);
    List<Touch> touches = IntStream.range(0, keys)
        .mapToObj(i -> new Touch(new TaskRef.ByKey(QUEUE, "key " + i), Due.after(2 * HOUR))).toList();
    // The first round moves the index entries. The next rounds spread the rows until each row has space in its page.
    touch(touches, 10);
    store = reported();
    long before = statistic("n_tup_upd", "foliot_task");
    long hotBefore = statistic("n_tup_hot_upd", "foliot_task");
    int rounds = 5;
    touch(touches, rounds);
    store = reported();
    long updates = statistic("n_tup_upd", "foliot_task") - before;
    assertThat(updates).isEqualTo((long) rounds * keys);
    assertThat(statistic("n_tup_hot_upd", "foliot_task") - hotBefore).as("of %s", updates)
        .isGreaterThan(updates * 9 / 10);
  }

  private void touch(List<Touch> touches, int rounds) {
    for (int round = 0; round < rounds; round++) {
      get(store.touch(touches));
    }
  }

  /**
   * If moves waited for locked rows, a batch of moves and a batch of touches could wait for each other. The server
   * would detect the deadlock only after a second.
   */
  @Test
  void aMoveSkipsARowThatIsBeingChanged() throws Exception {
    List<TaskId> ids = submit(0, 3, HOUR);
    // A touch that postpones a task by a fifth does not move its index entry, so there are entries to move.
    long later = HOUR + HOUR / 5;
    get(store.touch(List.of(0, 1, 2).stream()
        .map(i -> new Touch(new TaskRef.ByKey(QUEUE, "key " + i), Due.after(later))).toList()));
    try (Connection other = database.connect(); Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      assertThat(statement.executeUpdate("UPDATE foliot_task SET version = version + 1 WHERE key = 'key 1'")).isOne();

      List<ClaimResult> results = store.claim(ids.stream().map(Claim::move).toList()).toCompletableFuture()
          .get(20, TimeUnit.SECONDS).results();

      assertThat(results).allMatch(result -> result instanceof ClaimResult.Later);
      assertThat(Databases.strings(database, "SELECT key FROM foliot_task WHERE wake_at = due_at ORDER BY key"))
          .containsExactly("key 0", "key 2");
      other.rollback();
    }
  }
}
