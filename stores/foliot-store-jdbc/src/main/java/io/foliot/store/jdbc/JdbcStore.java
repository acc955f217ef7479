package io.foliot.store.jdbc;

import io.foliot.api.TaskState;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A task store in an existing database, or in several databases that each hold a range of slots. The store is as
 * durable as its databases.
 *
 * <p><b>Shape.</b> A batch is one step or a few steps. A step is usually one statement on PostgreSQL, and one or a few
 * statements on MariaDB and MySQL. A batch needs no isolation above READ COMMITTED, because each change of a row takes
 * effect only if the row is still as it was read. Between steps, no state is kept in a session and no lock is held.
 * Each step may use a different connection, so a pooler in transaction mode can be used.
 *
 * <p><b>Threads.</b> A stage completes on a thread of the store, or before the call returns. The store has one thread
 * for each connection. An action that follows a stage must be short, or run on another thread, and must not wait for
 * another call of the store.
 *
 * <p><b>Faults.</b> Calls fail while a database is unavailable, and succeed again when it is back; lost connections are
 * always replaced. A call that fails may have taken effect, unless it fails with {@link StoreAwayException} or
 * {@link StoreFullException}.
 *
 * <p>This class is one file because it implements the SPI, one method per call, on top of the databases' steps.
 */
public final class JdbcStore implements TaskStore, TransactionalStore {
  /**
   * Recommended number of items in a batch. With server and caller on one machine, a larger batch is not cheaper per
   * item.
   */
  private static final int BATCH = 400;

  private final List<DatabaseShard> parts;
  private final int[] firstSlots;
  private final int slotCount;

  private JdbcStore(List<DatabaseShard> parts, int[] firstSlots, int slotCount) {
    this.parts = parts;
    this.firstSlots = firstSlots;
    this.slotCount = slotCount;
  }

  /**
   * Opens the store in its databases, and creates the tables where there are none.
   *
   * @throws StoreException if a database cannot be used, for example because it holds other slots than configured
   */
  public static JdbcStore open(JdbcOptions options) {
    return open(options, Schema::dialect);
  }

  /**
   * Returns whether the first database holds a store. Changes nothing. Blocks until the database responds.
   *
   * @throws StoreException if the database cannot be reached
   */
  public static boolean exists(JdbcOptions options) {
    try (Connections opened = Connections.open(options.parts().getFirst().source(), 1, options.timeout())) {
      Dialect dialect = Schema.dialect(opened.source(), opened.name(), options.timeout());
      return Schema.exists(opened.source(), dialect);
    }
  }

  /** A factory of dialects, which tests replace. */
  interface Dialects {
    Dialect of(DataSource source, String name, Duration timeout);
  }

  static JdbcStore open(JdbcOptions options, Dialects dialects) {
    List<Connections> connections = new ArrayList<>();
    List<DatabaseShard> parts = new ArrayList<>();
    try {
      int slotCount = 0;
      for (int i = 0; i < options.parts().size(); i++) {
        Connections opened = Connections.open(options.parts().get(i).source(), options.connections(),
            options.timeout());
        connections.add(opened);
        Dialect dialect = dialects.of(opened.source(), opened.name(), options.timeout());
        Schema.migrate(opened.source(), dialect, opened.name());
        int stored = opened.now(dialect, session -> {
          Schema.ensureFormat(session.connection(), dialect, opened.name());
          return Integer.parseInt(
              Schema.meta(session.connection(), dialect, "slots", Integer.toString(options.slots())));
        });
        slotCount = i == 0 ? stored : slotCount;
        String range = ensureRange(opened, dialect, options, i, stored, slotCount);
        parts.add(new DatabaseShard(dialect, opened, slotCount, range, options.onSetAside()));
      }
      parts.forEach(DatabaseShard::start);
      return new JdbcStore(List.copyOf(parts), options.parts().stream().mapToInt(JdbcPart::firstSlot).toArray(),
          slotCount);
    } catch (RuntimeException e) {
      connections.forEach(Connections::close);
      throw e;
    }
  }

  /** Ensures that a database holds exactly the slots configured for it. Tasks in other slots would never be found. */
  private static String ensureRange(Connections connections, Dialect dialect, JdbcOptions options, int part, int stored,
      int slotCount) {
    boolean last = part == options.parts().size() - 1;
    int first = options.parts().get(part).firstSlot();
    int end = last ? slotCount : options.parts().get(part + 1).firstSlot();
    String wanted = first + "-" + (end - 1) + " of " + slotCount;
    String found = stored != slotCount
        ? "some of " + stored
        : connections.now(dialect, session -> Schema.meta(session.connection(), dialect, "range", wanted));
    if (!found.equals(wanted)) {
      throw new StoreException("a database holds other slots than configured: database=" + connections.name()
          + ", holds=" + found + ", wanted=" + wanted
          + "; name the databases and their first slots as they were, or move the tasks with: foliot migrate", null);
    }
    return wanted;
  }

  private int partOf(int slot) {
    int part = firstSlots.length - 1;
    while (firstSlots[part] > slot) {
      part--;
    }
    return part;
  }

  private int slotOf(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> byId.id().slot(slotCount);
      case TaskRef.ByKey byKey -> SlotHash.of(byKey.queue(), byKey.key()) & (slotCount - 1);
    };
  }

  /** A call on one database, for the items in the slots of that database. */
  private interface Batch<Q, R> {
    List<R> take(DatabaseShard part, Session session, List<Q> items) throws SQLException;
  }

  private <R> CompletionStage<R> on(int part, PartWork<R> work) {
    DatabaseShard database = parts.get(part);
    return database.call(session -> work.with(database, session));
  }

  /** A call on one database. */
  private interface PartWork<R> {
    R with(DatabaseShard part, Session session) throws SQLException;
  }

  /**
   * Divides a batch among the databases, by slots. Returns the results in the order of the items.
   */
  private <Q, R> CompletionStage<List<R>> spread(List<Q> items, ToIntFunction<Q> slot, Batch<Q, R> batch) {
    if (parts.size() == 1 || items.isEmpty()) {
      List<Q> all = List.copyOf(items);
      return on(0, (part, session) -> all.isEmpty() ? List.of() : batch.take(part, session, all));
    }
    List<List<Q>> shares = new ArrayList<>();
    List<List<Integer>> places = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      shares.add(new ArrayList<>());
      places.add(new ArrayList<>());
    }
    for (int i = 0; i < items.size(); i++) {
      int part = partOf(slot.applyAsInt(items.get(i)));
      shares.get(part).add(items.get(i));
      places.get(part).add(i);
    }
    CompletionStage<Spread<R>> all = CompletableFuture.completedFuture(new Spread<>(items.size()));
    for (int i = 0; i < parts.size(); i++) {
      List<Q> share = shares.get(i);
      List<Integer> at = places.get(i);
      if (!share.isEmpty()) {
        CompletionStage<Share<R>> result = on(i, (part, session) -> batch.take(part, session, share))
            .handle(Share::new);
        all = all.thenCombine(result, (spread, part) -> spread.with(at, part));
      }
    }
    return all.thenApply(Spread::results);
  }

  /** The results of one database, or its failure. */
  private record Share<R>(@Nullable List<R> results, @Nullable Throwable failure) {}

  /** Collects the results of several databases. Used by one thread at a time. */
  private static final class Spread<R> {
    private final List<@Nullable R> results;
    private @Nullable StoreException failure;
    private @Nullable RuntimeException unexpected;

    Spread(int items) {
      results = new ArrayList<>(Collections.nCopies(items, null));
    }

    Spread<R> with(List<Integer> places, Share<R> share) {
      List<? extends @Nullable Object> partial = share.results();
      if (share.failure() != null) {
        Throwable cause = share.failure() instanceof CompletionException wrapped && wrapped.getCause() != null
            ? wrapped.getCause()
            : share.failure();
        partial = cause instanceof ItemsFailedException partly ? partly.results() : List.of();
        failed(cause instanceof ItemsFailedException partly ? partly.failure() : cause);
      }
      for (int i = 0; partial != null && i < partial.size(); i++) {
        @SuppressWarnings("unchecked") // the results of this call
        R result = (R) partial.get(i);
        results.set(places.get(i), result);
      }
      return this;
    }

    /** Records a failure. If the outcome on one database is unknown, the outcome of the whole call is unknown. */
    private void failed(Throwable cause) {
      if (!(cause instanceof StoreException known)) {
        unexpected = cause instanceof RuntimeException runtime ? runtime : new CompletionException(cause);
      } else if (failure == null || !hadNoEffect(known)) {
        failure = known;
      }
    }

    private static boolean hadNoEffect(StoreException failure) {
      return failure instanceof StoreAwayException || failure instanceof StoreFullException;
    }

    List<R> results() {
      if (unexpected != null) {
        throw unexpected;
      }
      if (failure != null) {
        throw ItemsFailedException.of(results, failure);
      }
      return results.stream().map(Objects::requireNonNull).toList();
    }
  }

  /** Runs work on every database, and returns the results in the order of the databases. */
  private <R> CompletionStage<List<R>> everywhere(PartWork<R> work) {
    CompletionStage<List<R>> all = CompletableFuture.completedFuture(List.of());
    for (int i = 0; i < parts.size(); i++) {
      all = all.thenCombine(on(i, work), (answers, more) -> {
        List<R> together = new ArrayList<>(answers);
        together.add(more);
        return together;
      });
    }
    return all;
  }

  @Override
  public int slotCount() {
    return slotCount;
  }

  @Override
  public Durability durability() {
    List<Durability> each = parts.stream().map(DatabaseShard::durability).toList();
    for (String worst : List.of("NONE", "B")) {
      for (Durability one : each) {
        if (one.durabilityClass().equals(worst)) {
          return one;
        }
      }
    }
    return each.getFirst();
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public int batchSize() {
    return BATCH;
  }

  @Override
  public String kind() {
    return parts.getFirst().kind();
  }

  @Override
  public void configure(String queue, QueueTerms terms) {
    parts.forEach(part -> part.steps().configure(queue, terms));
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return spread(drafts, draft -> draft.id().slot(slotCount), DatabaseShard::submit);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The rows of tasks that are reset stay locked until the transaction ends. New keys stay locked, too, so another
   * submit of the same key waits.
   */
  @Override
  public List<SubmitResult> submit(Connection transaction, List<Draft> drafts) throws SQLException {
    return within(transaction, drafts, draft -> draft.id().slot(slotCount), DatabaseShard::submit);
  }

  /**
   * Submits as {@link #submit(Connection, List)} does, with a data source that returns the connection of the current
   * transaction. Examples are Spring's {@code TransactionAwareDataSourceProxy} and the data sources of containers.
   *
   * @throws SQLException if a statement fails, or no connection is available; the caller must then roll back
   * @throws IllegalArgumentException if there is no transaction, or a draft's slot is in another database
   */
  public List<SubmitResult> submit(DataSource transactional, List<Draft> drafts) throws SQLException {
    try (Connection transaction = transactional.getConnection()) {
      return submit(transaction, drafts);
    }
  }

  @Override
  public List<TouchResult> touch(Connection transaction, List<Touch> touches) throws SQLException {
    return within(transaction, touches, touch -> slotOf(touch.ref()),
        (part, session, items) -> part.steps().touch(session, items));
  }

  @Override
  public List<CancelResult> cancel(Connection transaction, List<TaskRef> refs) throws SQLException {
    return within(transaction, refs, this::slotOf, (part, session, items) -> part.steps().cancel(session, items));
  }

  /** Runs a batch in the transaction of a caller, on the one database that holds the slots of all its items. */
  private <Q, R> List<R> within(Connection transaction, List<Q> items, ToIntFunction<Q> slot, Batch<Q, R> batch)
      throws SQLException {
    if (transaction.getAutoCommit()) {
      throw new IllegalArgumentException("expected a connection with a transaction, but this one commits each"
          + " statement: call setAutoCommit(false) first");
    }
    if (items.isEmpty()) {
      return List.of();
    }
    DatabaseShard database = parts.get(partOf(slot.applyAsInt(items.getFirst())));
    if (parts.size() > 1) {
      String range = parts.getFirst().meta(transaction, "range");
      for (Q item : items) {
        DatabaseShard part = parts.get(partOf(slot.applyAsInt(item)));
        if (!part.range().equals(range)) {
          throw new IllegalArgumentException("a task can be changed only in a transaction of the database that holds"
              + " its slot: slot=" + slot.applyAsInt(item) + ", held by " + part.name() + ", transaction of slots "
              + range + "; use a transaction of that database, or make the call after the commit (a submit: with an"
              + " idempotency key)");
        }
      }
    }
    return database.within(transaction, session -> batch.take(database, session, List.copyOf(items)));
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return spread(touches, touch -> slotOf(touch.ref()), (part, session, items) -> part.steps().touch(session, items));
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return spread(refs, this::slotOf, (part, session, items) -> part.steps().cancel(session, items));
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    for (DueScan scan : scans) {
      if (scan.slot() < 0 || scan.slot() >= slotCount || scan.limit() < 1) {
        return CompletableFuture.failedFuture(new IllegalArgumentException(
            "a scan must have a slot of this store and a limit of at least 1: slots=" + slotCount + ", scan=" + scan));
      }
    }
    return spread(scans, DueScan::slot, DatabaseShard::due);
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return spread(entries, entry -> entry.id().slot(slotCount),
        (part, session, items) -> part.steps().park(session, items));
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return parked(after == null ? 0 : partOf(after.id().slot(slotCount)), queue, slots, after, limit);
  }

  /** Reads one database after another, from this index on, until a database returns entries. */
  private CompletionStage<List<DueEntry>> parked(int at, String queue, SlotSet slots, @Nullable DueEntry after,
      int limit) {
    return on(at, (part, session) -> part.parked(session, queue, slots, after, limit))
        .thenCompose(found -> found.isEmpty() && at + 1 < parts.size()
            ? parked(at + 1, queue, slots, null, limit)
            : CompletableFuture.completedFuture(found));
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return everywhere((part, session) -> part.parkedQueues(session, slots)).thenApply(found -> {
      Set<String> queues = new HashSet<>();
      found.forEach(queues::addAll);
      return queues;
    });
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return spread(ids, id -> id.slot(slotCount), (part, session, items) -> part.steps().probe(session, items));
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    if (parts.size() == 1) {
      List<Claim> items = List.copyOf(claims);
      return on(0, (part, session) -> part.steps().claim(session, items));
    }
    long[] now = {Long.MIN_VALUE};
    return spread(claims, claim -> claim.id().slot(slotCount), (part, session, items) -> {
      ClaimBatch batch = part.steps().claim(session, items);
      synchronized (now) {
        now[0] = Math.max(now[0], batch.nowMillis());
      }
      return batch.results();
    }).thenCompose(results -> results.isEmpty()
        ? on(0, (part, session) -> part.steps().claim(session, List.of()))
        : CompletableFuture.completedFuture(new ClaimBatch(latest(now), results)));
  }

  private static long latest(long[] now) {
    synchronized (now) {
      return now[0];
    }
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return spread(extensions, extension -> extension.id().slot(slotCount),
        (part, session, items) -> part.steps().extend(session, items));
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return spread(settlements, settlement -> settlement.id().slot(slotCount),
        (part, session, items) -> part.steps().settle(session, items));
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return spread(redrives, redrive -> redrive.id().slot(slotCount),
        (part, session, items) -> part.steps().redrive(session, items));
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return spread(tasks, task -> task.id().slot(slotCount), DatabaseShard::adopt);
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return on(partOf(slotOf(ref)), (part, session) -> part.find(session, ref));
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return spread(ids, id -> id.slot(slotCount), (part, session, items) -> part.find(session, items));
  }

  /** The start of a page: one of the databases, and the last task before the page. */
  private record Cursor(int part, TaskId after) {
    static final TaskId BEGINNING = new TaskId(0, 0);

    static Cursor parse(@Nullable String cursor, int parts) {
      if (cursor == null) {
        return new Cursor(0, BEGINNING);
      }
      int colon = cursor.indexOf(':');
      try {
        int part = colon < 0 ? 0 : Integer.parseInt(cursor.substring(0, colon));
        if (part >= 0 && part < parts) {
          return new Cursor(part, TaskId.parse(cursor.substring(colon + 1)));
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("cursor: expected a cursor of this store, but got " + quoted(cursor), e);
      }
      throw new IllegalArgumentException("cursor: expected a cursor of this store, but got " + quoted(cursor));
    }

    private static String quoted(String text) {
      return '"' + (text.length() > 64 ? text.substring(0, 64) + "..." : text) + '"';
    }
  }

  private CompletionStage<RecordPage> page(@Nullable String cursor, Function<TaskId, PartWork<RecordPage>> work) {
    Cursor at;
    try {
      at = Cursor.parse(cursor, parts.size());
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(e);
    }
    return on(at.part(), work.apply(at.after())).thenApply(page -> {
      boolean more = page.cursor() != null;
      boolean moves = !more && at.part() + 1 < parts.size();
      String next = more
          ? at.part() + ":" + page.cursor()
          : moves ? (at.part() + 1) + ":" + Cursor.BEGINNING : null;
      return new RecordPage(page.tasks(), next, page.unreadable());
    });
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return page(cursor, after -> (part, session) -> part.query(session, queue, state, limit, after));
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return page(cursor, after -> (part, session) -> part.live(session, limit, after));
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    CompletionStage<Map<String, QueueCounts>> all = CompletableFuture.completedFuture(Map.of());
    for (DatabaseShard part : parts) {
      all = all.thenCombine(part.counts(), (counts, more) -> {
        Map<String, QueueCounts> together = new HashMap<>(counts);
        more.forEach((queue, count) -> together.merge(queue, count, DatabaseShard::sum));
        return together;
      });
    }
    return all;
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return everywhere((part, session) -> part.hasLive(session, queue)).thenApply(found -> found.contains(true));
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return on(partOf(slot), DatabaseShard::micros);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return on(0, (part, session) -> part.document(session, kind, name));
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return on(0, (part, session) -> part.documents(session, kind));
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    byte[] copy = content == null ? null : content.clone();
    if (parts.size() == 1 || kind != DocumentKind.CLUSTER || !name.equals(StoreSeal.NAME)) {
      return on(0, (part, session) -> part.writeDocument(session, kind, name, expectedVersion, copy));
    }
    // The document is written first and deleted last. So if only some databases are changed, the document exists, and a
    // repeated call changes the others.
    if (copy != null) {
      return on(0, (part, session) -> part.writeDocument(session, kind, name, expectedVersion, copy))
          .thenCompose(written -> written ? others(true) : CompletableFuture.completedFuture(false));
    }
    return document(kind, name)
        .thenCompose(found -> found.isPresent() && found.get().version() == expectedVersion
            ? others(false).thenCompose(
                opened -> on(0, (part, session) -> part.writeDocument(session, kind, name, expectedVersion, null)))
            : CompletableFuture.completedFuture(false));
  }

  /** Records, in each database except the first, whether the store is sealed. The first database has the document. */
  private CompletionStage<Boolean> others(boolean seals) {
    CompletionStage<Boolean> all = CompletableFuture.completedFuture(true);
    for (int i = 1; i < parts.size(); i++) {
      all = all.thenCombine(on(i, (part, session) -> part.sealed(session, seals)), Boolean::logicalAnd);
    }
    return all;
  }

  @Override
  public void close() {
    parts.forEach(DatabaseShard::close);
  }
}
