package io.foliot.store.jdbc;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RecordOverlay;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One database of a store, with the background work on it while the store is open. Thread-safe. */
final class DatabaseShard implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DatabaseShard.class.getName());

  /** Largest number of rows of a table that a page scans. Such a scan takes a few milliseconds of the server's time. */
  private static final int PAGE_SCAN = 10_000;
  /** Pause between two runs of the background work. */
  private static final Duration TICK = Duration.ofSeconds(1);
  /** Largest number of rows that one statement drops. A larger number would hold locks for too long. */
  private static final int FORGET_ROWS = 2_000;
  /** Largest number of statements per tick and table. Together they drop more tasks than can end in one tick. */
  private static final int FORGET_STATEMENTS = 50;

  private final Dialect dialect;
  private final Connections connections;
  private final String range;
  private final QueueIds numbers;
  private final TaskSteps steps;
  private final Documents documents;
  private final SealRow seal;
  private final Durability durability;
  private final ScheduledThreadPoolExecutor background = new ScheduledThreadPoolExecutor(1,
      task -> Connections.daemon(task, "foliot-jdbc-background"));
  private final QueueTally tally = new QueueTally(() -> call(this::count), System::nanoTime);
  // used only by the background thread
  private boolean failing;

  DatabaseShard(Dialect dialect, Connections connections, int slotCount, String range, Consumer<SetAside> onSetAside) {
    this.dialect = dialect;
    this.connections = connections;
    this.range = range;
    numbers = new QueueIds(dialect);
    steps = new TaskSteps(dialect, numbers, slotCount, new SecureTokens(), onSetAside);
    documents = new Documents(dialect, steps.clock());
    seal = new SealRow(dialect);
    durability = connections.now(dialect, session -> dialect.durability(session.connection()));
  }

  void start() {
    background.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    var ticks = background.scheduleWithFixedDelay(this::tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
    assert !ticks.isCancelled();
  }

  /**
   * Raises the floor of generations ({@link GenerationClock}) to the clock, drops expired tasks and answers, and moves
   * tasks that have ended in place.
   */
  private void tick() {
    try {
      connections.now(dialect, session -> {
        long now = dialect.clock().micros(session.connection());
        steps.clock().seen(now);
        steps.clock().raiseFloor(session, now);
        int forgotten = forget(session);
        steps.general().moveEnded(session);
        return forgotten;
      });
      failing = false;
    } catch (StoreException e) {
      if (!failing) {
        LOG.log(System.Logger.Level.WARNING, "background work on the database failed; it is retried every second: {0}",
            e.getMessage());
      }
      failing = true;
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "background work on the database failed; it is retried every second", e);
    }
  }

  private int forget(Session session) throws SQLException {
    int forgotten = 0;
    int rows = FORGET_ROWS;
    for (int i = 0; i < FORGET_STATEMENTS && rows == FORGET_ROWS && !background.isShutdown(); i++) {
      rows = session.run(connection -> dialect.queries().forgetKept(connection, FORGET_ROWS));
      forgotten += rows;
    }
    rows = FORGET_ROWS;
    for (int i = 0; i < FORGET_STATEMENTS && rows == FORGET_ROWS && !background.isShutdown(); i++) {
      rows = session.run(connection -> dialect.queries().forgetAnswers(connection, FORGET_ROWS));
      forgotten += rows;
    }
    return forgotten;
  }

  String kind() {
    return dialect.kind();
  }

  Durability durability() {
    return durability;
  }

  TaskSteps steps() {
    return steps;
  }

  <R> CompletionStage<R> call(Connections.Work<R> work) {
    return connections.call(dialect, work);
  }

  /**
   * Runs work in the transaction of a caller. The store cannot be sealed until the transaction ends.
   *
   * @throws StoreAwayException if the store is sealed
   */
  <R> R within(Connection transaction, Connections.Work<R> work) throws SQLException {
    try {
      return work.with(Session.within(transaction, dialect, connections, seal.ensureOpen(transaction)));
    } catch (SQLException e) {
      throw dialect.ofTransaction(e);
    }
  }

  /** Returns a property of the database of this connection. Writes a missing property as an empty text. */
  String meta(Connection connection, String name) throws SQLException {
    return Schema.meta(connection, dialect, name, "");
  }

  String name() {
    return connections.name();
  }

  /** Returns the range of slots that the database holds. */
  String range() {
    return range;
  }

  List<SubmitResult> submit(Session session, List<Draft> drafts) throws SQLException {
    Map<String, SQLException> unnamed = new HashMap<>();
    for (String queue : queuesOf(drafts)) {
      if (numbers.isKnown(queue)) {
        // The number is known, so the step below is not needed. In a caller's transaction, that step would use a second
        // connection, which might wait for this one.
        continue;
      }
      SQLException full = steps.nameQueue(session, queue);
      if (full != null) {
        unnamed.put(queue, full);
      }
    }
    return steps.submit(session, drafts, unnamed);
  }

  List<Boolean> adopt(Session session, List<TaskRecord> tasks) throws SQLException {
    for (TaskRecord task : tasks) {
      int number = session.ask(connection -> numbers.take(connection, task.queue()));
      assert number != QueueIds.NONE;
    }
    return steps.adopt(session, tasks);
  }

  private static Set<String> queuesOf(List<Draft> drafts) {
    Set<String> queues = new HashSet<>();
    drafts.forEach(draft -> queues.add(draft.queue()));
    return queues;
  }

  List<DueSlice> due(Session session, List<DueScan> scans) throws SQLException {
    return session.run(connection -> dialect.queries().due(connection, numbers, scans));
  }

  List<DueEntry> parked(Session session, String queue, SlotSet slots, @Nullable DueEntry after, int limit)
      throws SQLException {
    int number = numbers.find(session.connection(), queue);
    return number == QueueIds.NONE
        ? List.of()
        : session.run(connection -> dialect.queries().parked(connection, number, queue, slots, after, limit));
  }

  Set<String> parkedQueues(Session session, SlotSet slots) throws SQLException {
    Set<String> names = new HashSet<>();
    for (int number : session.run(connection -> dialect.queries().parkedQueues(connection, slots))) {
      names.add(numbers.name(session.connection(), number));
    }
    return names;
  }

  Optional<TaskRecord> find(Session session, TaskRef ref) throws SQLException {
    ReadSet reads = new ReadSet();
    reads.ref(ref);
    Snapshot snapshot = steps.general().read(session, reads, true, false);
    RecordOverlay overlay = new RecordOverlay(snapshot, Math.floorDiv(snapshot.micros(), 1_000));
    return Optional.ofNullable(switch (ref) {
      case TaskRef.ById byId -> overlay.get(byId.id());
      case TaskRef.ByKey byKey -> overlay.byKey(byKey.queue(), byKey.key());
    });
  }

  List<Optional<TaskRecord>> find(Session session, List<TaskId> ids) throws SQLException {
    List<Optional<TaskRecord>> found = new ArrayList<>(ids.size());
    for (List<TaskId> chunk : Rounds.chunks(ids)) {
      ReadSet reads = new ReadSet();
      chunk.forEach(reads::id);
      Snapshot snapshot = steps.general().read(session, reads, true, false);
      RecordOverlay overlay = new RecordOverlay(snapshot, Math.floorDiv(snapshot.micros(), 1_000));
      chunk.forEach(id -> found.add(Optional.ofNullable(overlay.get(id))));
    }
    return found;
  }

  RecordPage query(Session session, String queue, @Nullable TaskState state, int limit, TaskId after)
      throws SQLException {
    int number = numbers.find(session.connection(), queue);
    if (number == QueueIds.NONE) {
      return new RecordPage(List.of(), null);
    }
    int code = state == null ? 0 : state == TaskState.READY ? ColumnCodes.DELAYED : ColumnCodes.of(state);
    Page page = session
        .run(connection -> dialect.queries().pageOfQueue(connection, numbers, number, code, after, limit, PAGE_SCAN));
    List<Row> damaged = page.rows().stream().filter(Row::isToSetAside).toList();
    if (!damaged.isEmpty()) {
      // Later queries return these tasks as failed.
      steps.general().setAside(session, damaged, page.micros());
    }
    long nowMillis = Math.floorDiv(page.micros(), 1_000);
    List<TaskRecord> found = page.rows().stream().filter(row -> !row.isToSetAside()).map(Row::record)
        .filter(task -> (state == null || task.stateAt(nowMillis) == state)
            && (task.isLive() || task.dropAt() > nowMillis))
        .toList();
    return new RecordPage(found, page.end() == null ? null : page.end().toString());
  }

  /** Returns a page of live tasks. Leaves unreadable records unchanged, because a migration must not change them. */
  RecordPage live(Session session, int limit, TaskId after) throws SQLException {
    Page page = session.run(connection -> dialect.queries().pageOfLive(connection, numbers, after, limit, PAGE_SCAN));
    return new RecordPage(page.rows().stream().filter(row -> row.damage() == null).map(Row::record).toList(),
        page.end() == null ? null : page.end().toString(),
        page.rows().stream().filter(row -> row.damage() != null).map(GeneralPath::reportOf).toList());
  }

  boolean hasLive(Session session, String queue) throws SQLException {
    int number = numbers.find(session.connection(), queue);
    return number != QueueIds.NONE && session.run(connection -> dialect.queries().hasLive(connection, number));
  }

  /** Returns the counts of each queue, which may be a little old. */
  CompletionStage<Map<String, QueueCounts>> counts() {
    return tally.counts();
  }

  private Map<String, QueueCounts> count(Session session) throws SQLException {
    Map<String, QueueCounts> counts = new HashMap<>();
    for (Map.Entry<Dialect.RowGroup, Long> entry : session.run(dialect.queries()::tally).entrySet()) {
      String queue = numbers.name(session.connection(), entry.getKey().queue());
      counts.merge(queue, counts(entry.getKey(), entry.getValue()), DatabaseShard::sum);
    }
    return Map.copyOf(counts);
  }

  private static QueueCounts counts(Dialect.RowGroup group, long rows) {
    int state = group.state();
    boolean running = state == ColumnCodes.RUNNING;
    boolean parked = group.parked() && (running || state == ColumnCodes.DELAYED);
    return new QueueCounts(state == ColumnCodes.DELAYED ? rows : 0, parked ? rows : 0, running ? rows : 0,
        state == ColumnCodes.FINISHED ? rows : 0, state == ColumnCodes.FAILED ? rows : 0,
        state == ColumnCodes.CANCELLED ? rows : 0);
  }

  static QueueCounts sum(QueueCounts a, QueueCounts b) {
    return new QueueCounts(a.delayed() + b.delayed(), a.parked() + b.parked(), a.running() + b.running(),
        a.finished() + b.finished(), a.failed() + b.failed(), a.cancelled() + b.cancelled());
  }

  long micros(Session session) throws SQLException {
    return session.run(dialect.clock()::micros);
  }

  Optional<Document> document(Session session, DocumentKind kind, String name) throws SQLException {
    List<Document> found = session.run(connection -> documents.find(connection, kind, name));
    return found.stream().findFirst();
  }

  List<Document> documents(Session session, DocumentKind kind) throws SQLException {
    return List.copyOf(new ArrayList<>(session.run(connection -> documents.find(connection, kind, null))));
  }

  boolean writeDocument(Session session, DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) throws SQLException {
    if (kind != DocumentKind.CLUSTER || !name.equals(StoreSeal.NAME)) {
      return documents.write(session, kind, name, expectedVersion, content);
    }
    if (content == null) {
      // Within the transaction below, this step would wait for a second connection, so it comes first.
      documents.ensureLarger(session, expectedVersion);
    }
    return seal.change(session, content != null,
        transaction -> documents.put(Session.within(transaction, dialect, connections, false), kind, name,
            expectedVersion, content));
  }

  /** Records whether the store is sealed. This method is for databases that do not have the store's documents. */
  boolean sealed(Session session, boolean seals) throws SQLException {
    return seal.change(session, seals, transaction -> true);
  }

  @Override
  public void close() {
    background.shutdown();
    try {
      while (!background.awaitTermination(1, TimeUnit.MINUTES)) {
        // Every statement has a timeout, so the background thread ends.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.close();
  }
}
