package io.foliot.store.jdbc;

import io.foliot.core.Limits;
import io.foliot.core.OnConflict;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Generations;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.format.UnreadableException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The calls that change tasks, on one database. Any thread, each with a session of its own.
 *
 * <p>A call first lets the database do what is plain: new tasks are inserted, tasks that wait are claimed, and so on, a
 * statement for the whole batch. What that leaves takes the general way: it is read, together with the database's
 * clock; {@link TaskOperations} says what becomes of it at that time; and each changed row is written if it is still
 * the row that was read. Then the step is as if it had been taken when it was read: a due task stays due, and a lease
 * is shorter by the way there, never longer. Items whose rows have changed meanwhile go round again.
 *
 * <p><b>Generations</b> that are given out ahead of the clock (it was set back, or a key is reset more than once in a
 * microsecond) raise the floor before anyone hears of them, so that no later task of the key gets a smaller one.
 *
 * <p>One file, because the statement of a call that does what is plain and the general path that does the rest are
 * proven together.
 */
final class TaskSteps {
  private static final System.Logger LOG = System.getLogger(TaskSteps.class.getName());

  /**
   * Rows of one statement: enough that its cost is that of the rows, and few enough that nobody waits long for them.
   */
  private static final int ROWS_MAX = 1_000;
  /** What the rows of one statement carry: a statement is in memory several times over. */
  private static final long BYTES_MAX = 4 << 20;
  /** How often rows must change between read and write, with growing waits, before a call is given up. */
  private static final int ROUNDS = 60;
  /** Rounds without a wait. */
  private static final int ROUNDS_AT_ONCE = 2;
  /** When a task that only a newer version can read is looked at again; by then that one may have claimed it. */
  private static final long NOT_MINE_MILLIS = 10_000;

  private final Dialect dialect;
  private final Numbers numbers;
  private final int slotCount;
  private final Supplier<Token> tokens;
  private final Consumer<SetAside> onSetAside;
  private final Map<String, QueueTerms> terms = new ConcurrentHashMap<>();
  /** Queues whose last drafts found a live key more often than not. */
  private final Set<String> mostlyLive = ConcurrentHashMap.newKeySet();
  /** The latest that any statement of ours has read from the database's clock. */
  private final AtomicLong seenMicros = new AtomicLong();

  TaskSteps(Dialect dialect, Numbers numbers, int slotCount, Supplier<Token> tokens, Consumer<SetAside> onSetAside) {
    this.onSetAside = onSetAside;
    this.dialect = dialect;
    this.numbers = numbers;
    this.slotCount = slotCount;
    this.tokens = tokens;
  }

  void configure(String queue, QueueTerms queueTerms) {
    terms.put(queue, queueTerms);
  }

  private QueueTerms terms(String queue) {
    return terms.getOrDefault(queue, QueueTerms.DEFAULT);
  }

  /** Notes a reading of the clock. */
  void seen(long micros) {
    seenMicros.accumulateAndGet(micros, Math::max);
  }

  /** Makes sure that no generation up to this one is given out again. */
  private void raise(Session session, long generation) throws SQLException {
    raiseFloor(session, Math.addExact(generation, 1));
  }

  void raiseFloor(Session session, long floor) throws SQLException {
    int rows = session.apart(connection -> dialect.clock().raiseFloor(connection, floor));
    assert rows <= 1 : rows;
  }

  private static <T> List<List<T>> chunks(List<T> items) {
    return chunks(items, item -> 0);
  }

  private static <T> List<List<T>> chunks(List<T> items, ToLongFunction<T> bytesOf) {
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < items.size();) {
      int to = from;
      for (long bytes = 0; to < items.size() && to - from < ROWS_MAX && (to == from || bytes < BYTES_MAX); to++) {
        bytes += bytesOf.applyAsLong(items.get(to));
      }
      chunks.add(items.subList(from, to));
      from = to;
    }
    return chunks;
  }

  /** The places of a list, to be worked off in several rounds. */
  private static List<Integer> places(int count) {
    List<Integer> places = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      places.add(i);
    }
    return places;
  }

  private static <R> List<R> all(@Nullable R[] results) {
    List<R> list = new ArrayList<>(results.length);
    for (R result : results) {
      list.add(Objects.requireNonNull(result));
    }
    return list;
  }

  /** The same where items may have failed, for this reason; null if none did. */
  private static <R> List<R> all(@Nullable R[] results, @Nullable StoreException failure) {
    if (failure != null) {
      throw ItemsFailedException.of(Arrays.asList(results), failure);
    }
    return all(results);
  }

  private static void waitFor(int round) {
    if (round >= ROUNDS) {
      throw new StoreException(
          "the rows of a call changed between read and write each time: rounds=" + round + "; it may be repeated",
          null);
    }
    if (round > ROUNDS_AT_ONCE) {
      Session.pause(round - ROUNDS_AT_ONCE);
    }
  }

  /** As {@code TaskStore.submit}. The queues must have their numbers. */
  List<SubmitResult> submit(Session session, List<Draft> drafts) throws SQLException {
    @Nullable
    SubmitResult[] results = new SubmitResult[drafts.size()];
    Set<Integer> refused = new HashSet<>();
    try {
      submit(session, drafts, results, refused);
    } catch (SQLException e) {
      boolean open = Arrays.stream(results).anyMatch(Objects::isNull);
      if (session.isOwn() && open && dialect.isFull(e) && !session.wroteSince()) {
        throw ItemsFailedException.of(Arrays.asList(results), Connections.full(e));
      }
      throw e;
    }
    noteLive(drafts, results);
    return all(results, refused.isEmpty() ? null : ofNewerVersion(drafts.get(refused.iterator().next()).queue()));
  }

  private void submit(Session session, List<Draft> drafts, @Nullable SubmitResult[] results, Set<Integer> refused)
      throws SQLException {
    List<Integer> pending = places(drafts.size());
    if (!session.isOwn()) {
      // An INSERT that meets a live key may lock its neighbours too, and a caller's transaction is not over at once.
      resubmit(session, drafts, pending, false, results, refused);
    }
    long ahead = 0;
    boolean resetsFirst = drafts.stream().anyMatch(draft -> mostlyLive.contains(draft.queue()));
    for (int round = 0; !pending.isEmpty(); round++) {
      waitFor(round);
      if (round == 0 && resetsFirst) {
        ahead = reset(session, drafts, pending, results);
      }
      pending = insert(session, drafts, pending, results);
      if (round == 0 && !resetsFirst) {
        ahead = reset(session, drafts, pending, results);
      }
      resubmit(session, drafts, pending, !session.isOwn(), results, refused);
    }
    if (ahead > 0) {
      raise(session, ahead);
    }
  }

  private static StoreException ofNewerVersion(String queue) {
    return new StoreAwayException(
        "a newer version of Foliot wrote the task, and only that can change it: queue=" + queue
            + "; ask a node that runs it",
        null);
  }

  /** Resets tasks that wait and are only pushed back: the common case of a live key. */
  private long reset(Session session, List<Draft> drafts, List<Integer> pending, @Nullable SubmitResult[] results)
      throws SQLException {
    Set<KeyName> names = new HashSet<>();
    List<Integer> places = new ArrayList<>();
    List<KeyTouch> items = new ArrayList<>();
    for (int place : pending) {
      Draft draft = drafts.get(place);
      String key = draft.key();
      if (key != null && names.add(new KeyName(draft.queue(), key)) && draft.onConflict() == OnConflict.RESET
          && draft.idempotency() == null) {
        places.add(place);
        items.add(new KeyTouch(numbers.of(draft.queue()), key, draft.due(), terms(draft.queue()).maxWaitMillis(),
            draft.body(), draft.maxAttempts()));
      }
    }
    long ahead = pushBack(session, items, true, (i, micros, touched) -> {
      boolean pends = touched.kind() == TouchResult.Kind.RESET_PENDING;
      results[places.get(i)] = new SubmitResult(
          pends ? SubmitResult.Kind.RESET_PENDING : SubmitResult.Kind.RESET, Objects.requireNonNull(touched.id()),
          touched.generation(), touched.dueAt(),
          touched.dueAt() <= Math.floorDiv(micros, 1_000) ? TaskState.READY : TaskState.DELAYED, false);
    });
    pending.removeIf(place -> results[place] != null);
    return ahead;
  }

  /** Remembers of which queues drafts rather reset than create, so that the next ones are tried as such first. */
  private void noteLive(List<Draft> drafts, @Nullable SubmitResult[] results) {
    Map<String, Integer> balance = new HashMap<>();
    for (int i = 0; i < results.length; i++) {
      SubmitResult result = results[i];
      boolean created = result == null || result.kind() == SubmitResult.Kind.CREATED;
      balance.merge(drafts.get(i).queue(), created ? -1 : 1, Integer::sum);
    }
    balance.forEach((queue, live) -> {
      if (live > 0) {
        mostlyLive.add(queue);
      } else {
        mostlyLive.remove(queue);
      }
    });
  }

  private void resubmit(Session session, List<Draft> drafts, List<Integer> pending, boolean locking,
      @Nullable SubmitResult[] results, Set<Integer> refused) throws SQLException {
    for (List<Integer> chunk : chunks(List.copyOf(pending), place -> bytesOf(drafts.get(place)))) {
      session.beginUnit();
      resubmitChunk(session, drafts, chunk, locking, results, refused);
    }
    pending.removeIf(place -> results[place] != null || refused.contains(place));
  }

  /** Inserts the first draft of each name; answers the places that are left. */
  private List<Integer> insert(Session session, List<Draft> drafts, List<Integer> pending,
      @Nullable SubmitResult[] results) throws SQLException {
    Set<Object> names = new HashSet<>();
    List<Integer> firsts = new ArrayList<>();
    for (int place : pending) {
      if (names.add(nameOf(drafts.get(place)))) {
        firsts.add(place);
      }
    }
    firsts.sort(Comparator.comparing(place -> drafts.get(place).id()));
    for (List<Integer> chunk : chunks(firsts, place -> bytesOf(drafts.get(place)))) {
      session.beginUnit();
      insertChunk(session, drafts, chunk, results);
    }
    List<Integer> left = new ArrayList<>(pending);
    left.removeIf(place -> results[place] != null);
    return left;
  }

  private static long bytesOf(Draft draft) {
    return Rows.bodyOf(draft).payload().length;
  }

  /** Of drafts with the same name, at most one makes a new task. */
  private static Object nameOf(Draft draft) {
    String key = draft.key();
    Draft.Idempotency idempotency = draft.idempotency();
    return key != null
        ? new KeyName(draft.queue(), key)
        : idempotency != null ? new RequestName(draft.queue(), null, idempotency.key()) : draft.id();
  }

  private void insertChunk(Session session, List<Draft> drafts, List<Integer> places,
      @Nullable SubmitResult[] results) throws SQLException {
    List<NewTask> tasks = new ArrayList<>(places.size());
    boolean requests = false;
    for (int place : places) {
      Draft draft = drafts.get(place);
      requests |= draft.idempotency() != null;
      tasks.add(new NewTask(draft, numbers.of(draft.queue()), draft.id().slot(slotCount)));
    }
    Inserted inserted;
    try {
      Session.Step<Inserted> step = connection -> dialect.submits().insert(connection, tasks, seenMicros.get());
      inserted = requests ? session.guarded(step) : session.run(step);
    } catch (SQLException e) {
      if (dialect.isDuplicate(e)) {
        return;
      }
      throw e;
    }
    seen(inserted.micros());
    if (inserted.last() > 0) {
      ensureLast(session, tasks, inserted);
    }
    long nowMillis = Math.floorDiv(inserted.micros(), 1_000);
    for (int i = 0; i < tasks.size(); i++) {
      long generation = inserted.generations()[i];
      long dueAt = inserted.dueAts()[i];
      if (generation > 0) {
        results[places.get(i)] = new SubmitResult(SubmitResult.Kind.CREATED, tasks.get(i).draft().id(), generation,
            dueAt, dueAt <= nowMillis ? TaskState.READY : TaskState.DELAYED, true);
      }
    }
  }

  /**
   * Where generations are not told apart by the clock, because it was set back or stands still, a task of the same key
   * may have ended while ours were being inserted, with a generation that is no smaller. It has raised the floor then,
   * before it ended: if the floor is beyond ours, they get new ones.
   */
  private void ensureLast(Session session, List<NewTask> tasks, Inserted inserted) throws SQLException {
    long floor = session.apart(dialect.clock()::floor);
    if (floor > inserted.last()) {
      raise(session, floor);
      long[] generations = inserted.generations();
      session.run(connection -> dialect.submits().regenerate(connection, tasks, generations, floor)).stream()
          .forEach(i -> generations[i] = floor);
    } else if (inserted.last() > inserted.micros()) {
      raise(session, inserted.last());
    }
  }

  /** What was not inserted: its key is live, or its request was answered. */
  private void resubmitChunk(Session session, List<Draft> drafts, List<Integer> places, boolean locking,
      @Nullable SubmitResult[] results, Set<Integer> refused) throws SQLException {
    Wanted wanted = new Wanted();
    for (int place : places) {
      Draft draft = drafts.get(place);
      wanted.key(draft.queue(), draft.key());
      if (draft.key() == null) {
        wanted.id(draft.id());
      }
      if (draft.idempotency() != null) {
        wanted.request(requestOf(draft, draft.idempotency()));
      }
    }
    Overlay overlay = read(session, wanted, false, locking);
    List<Integer> mine = new ArrayList<>();
    List<Draft> items = new ArrayList<>();
    List<RequestName> over = new ArrayList<>();
    for (int place : places) {
      Draft draft = drafts.get(place);
      TaskRecord same = draft.key() == null ? overlay.get(draft.id()) : null;
      if (same != null) {
        // A caller that had no answer repeats itself.
        results[place] = new SubmitResult(SubmitResult.Kind.CREATED, same.id(), same.generation(), same.dueAt(),
            same.stateAt(Math.floorDiv(overlay.micros(), 1_000)), true);
      } else if (isOfNewerVersion(overlay, draft)) {
        refused.add(place);
      } else if (isAnswered(overlay, draft, over) || isLive(overlay, draft)) {
        mine.add(place);
        items.add(draft);
      }
    }
    if (!over.isEmpty()) {
      session.run(connection -> {
        dialect.records().forgetAnswers(connection, over, numbers);
        return true;
      });
    }
    List<SubmitResult> answers = operations(overlay).submit(items, overlay.micros());
    Set<TaskId> failed = new HashSet<>();
    if (write(session, overlay, failed)) {
      for (int i = 0; i < items.size(); i++) {
        Draft draft = items.get(i);
        String key = draft.key();
        if (key == null || !overlay.restsOn(overlay.byKey(draft.queue(), key), failed)) {
          results[mine.get(i)] = answers.get(i);
        }
      }
    }
  }

  private static RequestName requestOf(Draft draft, Draft.Idempotency idempotency) {
    return new RequestName(draft.queue(), draft.key(), idempotency.key());
  }

  private static boolean isAnswered(Overlay overlay, Draft draft, List<RequestName> over) {
    Draft.Idempotency idempotency = draft.idempotency();
    if (idempotency == null) {
      return false;
    }
    RecordTable.Answered answered = overlay.answered(draft.queue(), draft.key(), idempotency.key());
    if (answered != null && answered.dropAt() <= Math.floorDiv(overlay.micros(), 1_000)) {
      over.add(requestOf(draft, idempotency));
      return false;
    }
    return answered != null;
  }

  private static boolean isOfNewerVersion(Overlay overlay, Draft draft) {
    String key = draft.key();
    TaskRecord holder = key == null ? null : overlay.byKey(draft.queue(), key);
    return holder != null && draft.onConflict() == OnConflict.RESET && overlay.isOfNewerVersion(holder);
  }

  private static boolean isLive(Overlay overlay, Draft draft) {
    String key = draft.key();
    TaskRecord holder = key == null ? null : overlay.byKey(draft.queue(), key);
    return holder != null && holder.isLive();
  }

  /** Reads records. Live ones that cannot be read are set aside first, so that none of them is among these. */
  Overlay read(Session session, Wanted wanted, boolean bodies, boolean locking) throws SQLException {
    for (int round = 0;; round++) {
      waitFor(round);
      Snapshot snapshot = session
          .ask(connection -> dialect.records().read(connection, numbers, wanted, bodies, locking));
      seen(snapshot.micros());
      List<Row> damaged = snapshot.toSetAside();
      if (damaged.isEmpty()) {
        return new Overlay(snapshot);
      }
      setAside(session, damaged, snapshot.micros());
    }
  }

  /** Ends tasks whose rows cannot be read, and says so. Rows that have changed meanwhile stay. */
  void setAside(Session session, List<Row> damaged, long nowMicros) throws SQLException {
    List<Row> sorted = damaged.stream().sorted(Comparator.comparing(row -> row.record().id())).toList();
    long last = sorted.stream().mapToLong(row -> row.record().generation()).max().orElse(0);
    if (last >= nowMicros && last < Long.MAX_VALUE) {
      // A task that gets the key later must not get a smaller generation.
      raise(session, last);
    }
    List<SetAside> told = sorted.stream().map(TaskSteps::toldOf).toList();
    List<Dialect.Unreadable> rows = new ArrayList<>();
    for (int i = 0; i < sorted.size(); i++) {
      TaskRecord record = sorted.get(i).record();
      rows.add(new Dialect.Unreadable(record.id(), sorted.get(i).version(), Rows.cut(told.get(i).finalReason()),
          Math.min(terms(record.queue()).retainFailedMillis(), Limits.MAX_DELAY_MILLIS)));
    }
    session.run(connection -> dialect.records().setAside(connection, rows)).stream().mapToObj(told::get)
        .forEach(one -> {
          LOG.log(System.Logger.Level.ERROR,
              "a task was set aside because its record cannot be read; its bytes are kept in"
                  + " foliot_final: task={0}, queue={1}, reason={2}",
              one.id(), one.queue(), one.reason());
          onSetAside.accept(one);
        });
  }

  static SetAside toldOf(Row row) {
    UnreadableException damage = Objects.requireNonNull(row.damage());
    return new SetAside(row.record().id(), row.record().queue(), damage.getMessage() + "");
  }

  private TaskOperations operations(Overlay overlay) {
    TaskOperations operations = new TaskOperations(overlay, tokens, Math.max(overlay.floor(), seenMicros.get()));
    terms.forEach(operations::configure);
    return operations;
  }

  /**
   * Writes what a batch has made of its records.
   *
   * @param failed takes the tasks whose rows were no longer those that were read
   * @return false if nothing was written because a request has been answered meanwhile
   */
  private boolean write(Session session, Overlay overlay, Set<TaskId> failed) throws SQLException {
    List<Change> changes = overlay.changes(numbers, slotCount);
    changes.sort(Comparator.comparing(change -> change.after().id()));
    List<Change> updates = new ArrayList<>();
    List<Change> ends = new ArrayList<>();
    List<Change> entries = new ArrayList<>();
    long last = 0;
    for (Change change : changes) {
      TaskRecord before = change.before();
      boolean wasLive = before != null && before.isLive();
      (!change.after().isLive() ? ends : wasLive ? updates : entries).add(change);
      last = Math.max(last, Generations.aheadOfClock(before, change.after(), overlay.micros()));
    }
    if (last > 0 && last >= overlay.floor()) {
      raise(session, last);
    }
    if (!update(session, overlay, updates, failed)) {
      return false;
    }
    if (!ends.isEmpty()) {
      note(ends, session.run(connection -> dialect.records().end(connection, ends)), failed);
    }
    if (!entries.isEmpty()) {
      note(entries, session.run(connection -> dialect.records().enter(connection, entries)), failed);
    }
    return true;
  }

  /** False if nothing was written because a request has been answered meanwhile. */
  private boolean update(Session session, Overlay overlay, List<Change> updates, Set<TaskId> failed)
      throws SQLException {
    List<NewAnswer> answers = overlay.newAnswers(updates, numbers);
    if (answers.isEmpty()) {
      for (List<Change> chunk : chunks(updates, Change::bytes)) {
        note(chunk, session.run(connection -> dialect.records().update(connection, chunk, List.of())), failed);
      }
      return true;
    }
    try {
      note(updates, session.guarded(connection -> dialect.records().update(connection, updates, answers)), failed);
      return true;
    } catch (SQLException e) {
      if (dialect.isDuplicate(e)) {
        return false;
      }
      throw e;
    }
  }

  private static void note(List<Change> changes, BitSet written, Set<TaskId> failed) {
    for (int i = 0; i < changes.size(); i++) {
      if (!written.get(i)) {
        failed.add(changes.get(i).after().id());
      }
    }
  }

  /** What a batch does on the general way. */
  private interface Batch<Q, R> {
    List<R> take(TaskOperations operations, List<Q> items, long nowMicros);
  }

  /**
   * Takes items the general way until all are answered, or refused because their records are of a newer version.
   *
   * @param wants what an item needs to have read
   * @param recordOf the record that an item is about, or null
   * @param writes false to return what the batch finds and to write nothing: a look whose row another statement is
   *     changing would wait for it, and after it there may be nothing to move
   * @param newer what an item is answered about a record of a newer version, by the clock; null if it fails
   * @return why items without a result have failed, or null if none has
   */
  private <Q, R> @Nullable StoreException general(Session session, List<Q> items, List<Integer> pending, boolean bodies,
      boolean writes, BiConsumer<Wanted, Q> wants, BiFunction<Overlay, Q, @Nullable TaskRecord> recordOf,
      Batch<Q, R> batch,
      LongFunction<@Nullable R> newer, @Nullable R[] results) throws SQLException {
    StoreException failure = null;
    for (List<Integer> chunk : chunks(pending)) {
      List<Integer> left = chunk;
      for (int round = 0; !left.isEmpty(); round++) {
        waitFor(round);
        Overlay overlay = read(session, wanted(items, left, wants), bodies, false);
        List<Integer> mine = new ArrayList<>(left.size());
        for (int place : left) {
          TaskRecord record = recordOf.apply(overlay, items.get(place));
          if (record == null || !overlay.isOfNewerVersion(record)) {
            mine.add(place);
          } else {
            results[place] = newer.apply(overlay.micros());
            failure = results[place] == null ? ofNewerVersion(record.queue()) : failure;
          }
        }
        left = round(session, overlay, items, mine, writes, recordOf, batch, results);
      }
    }
    return failure;
  }

  private <Q, R> @Nullable StoreException general(Session session, List<Q> items, List<Integer> pending, boolean bodies,
      BiConsumer<Wanted, Q> wants, BiFunction<Overlay, Q, @Nullable TaskRecord> recordOf, Batch<Q, R> batch,
      LongFunction<@Nullable R> newer, @Nullable R[] results) throws SQLException {
    return general(session, items, pending, bodies, true, wants, recordOf, batch, newer, results);
  }

  private static <Q> Wanted wanted(List<Q> items, List<Integer> places, BiConsumer<Wanted, Q> wants) {
    Wanted wanted = new Wanted();
    places.forEach(place -> wants.accept(wanted, items.get(place)));
    return wanted;
  }

  private <Q, R> List<Integer> round(Session session, Overlay overlay, List<Q> items, List<Integer> places,
      boolean writes, BiFunction<Overlay, Q, @Nullable TaskRecord> recordOf, Batch<Q, R> batch, @Nullable R[] results)
      throws SQLException {
    List<Q> mine = places.stream().map(items::get).toList();
    List<R> answers = batch.take(operations(overlay), mine, overlay.micros());
    Set<TaskId> failed = new HashSet<>();
    boolean written = !writes || write(session, overlay, failed);
    assert written : "only a submit remembers answers";
    List<Integer> left = new ArrayList<>();
    for (int i = 0; i < mine.size(); i++) {
      if (!failed.isEmpty() && overlay.restsOn(recordOf.apply(overlay, mine.get(i)), failed)) {
        left.add(places.get(i));
      } else {
        results[places.get(i)] = answers.get(i);
      }
    }
    return left;
  }

  private static @Nullable TaskRecord recordOf(Overlay overlay, TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> overlay.get(byId.id());
      case TaskRef.ByKey byKey -> overlay.byKey(byKey.queue(), byKey.key());
    };
  }

  /** As {@code TaskStore.touch}. */
  List<TouchResult> touch(Session session, List<Touch> touches) throws SQLException {
    @Nullable
    TouchResult[] results = new TouchResult[touches.size()];
    long ahead = touches.stream().allMatch(touch -> touch.ref() instanceof TaskRef.ByKey)
        ? pushBack(session, touches, results)
        : 0;
    StoreException failure = general(session, touches, unanswered(results), false,
        (wanted, touch) -> wanted.ref(touch.ref()), (overlay, touch) -> recordOf(overlay, touch.ref()),
        TaskOperations::touch, nowMicros -> null, results);
    if (ahead > 0) {
      raise(session, ahead);
    }
    return all(results, failure);
  }

  private static <R> List<Integer> unanswered(@Nullable R[] results) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < results.length; i++) {
      if (results[i] == null) {
        places.add(i);
      }
    }
    return places;
  }

  private long pushBack(Session session, List<Touch> touches, @Nullable TouchResult[] results) throws SQLException {
    Map<TaskRef, Integer> firsts = new HashMap<>();
    List<Integer> places = new ArrayList<>();
    List<KeyTouch> items = new ArrayList<>();
    for (int i = 0; i < touches.size(); i++) {
      Touch touch = touches.get(i);
      if (touch.ref() instanceof TaskRef.ByKey(String queue, String key)
          && firsts.putIfAbsent(touch.ref(), i) == null) {
        int number = numbers.find(session.connection(), queue);
        if (number == Numbers.NONE) {
          results[i] = TouchResult.NOT_FOUND;
        } else {
          places.add(i);
          items.add(new KeyTouch(number, key, touch.due(), terms(queue).maxWaitMillis(), null, 0));
        }
      }
    }
    return pushBack(session, items, false, (i, micros, result) -> results[places.get(i)] = result);
  }

  /** Takes what became of an item, by its place, and the clock. */
  private interface PushedBack {
    void accept(int place, long nowMicros, TouchResult result);
  }

  /**
   * Answers the largest generation that is ahead of the clock, for the floor to be raised before anyone hears of it; or
   * 0.
   */
  private long pushBack(Session session, List<KeyTouch> items, boolean resets, PushedBack answer) throws SQLException {
    long ahead = 0;
    List<Integer> order = places(items.size());
    order.sort(Comparator.comparingInt((Integer place) -> items.get(place).queue())
        .thenComparing(place -> items.get(place).key()));
    for (List<Integer> chunk : chunks(order, place -> items.get(place).bytes())) {
      List<KeyTouch> sorted = chunk.stream().map(items::get).toList();
      session.beginUnit();
      Touched touched = session
          .run(connection -> dialect.submits().touch(connection, sorted, resets, seenMicros.get()));
      seen(touched.micros());
      for (int i = 0; i < sorted.size(); i++) {
        TouchResult result = touched.results().get(i);
        if (result != null) {
          ahead = Math.max(ahead, result.generation() > touched.micros() ? result.generation() : 0);
          answer.accept(chunk.get(i), touched.micros(), result);
        }
      }
    }
    return ahead;
  }

  /** As {@code TaskStore.cancel}. */
  List<CancelResult> cancel(Session session, List<TaskRef> refs) throws SQLException {
    @Nullable
    CancelResult[] results = new CancelResult[refs.size()];
    return all(results, general(session, refs, places(refs.size()), false, Wanted::ref, TaskSteps::recordOf,
        TaskOperations::cancel, nowMicros -> null, results));
  }

  /** The first item of each task, in the order of ids. */
  private static <Q> List<Integer> firsts(List<Q> items, Function<Q, TaskId> id) {
    Set<TaskId> seen = new HashSet<>();
    List<Integer> firsts = new ArrayList<>(items.size());
    for (int i = 0; i < items.size(); i++) {
      if (seen.add(id.apply(items.get(i)))) {
        firsts.add(i);
      }
    }
    firsts.sort(Comparator.comparing(place -> id.apply(items.get(place))));
    return firsts;
  }

  /** As {@code TaskStore.park}. */
  List<Boolean> park(Session session, List<DueEntry> entries) throws SQLException {
    @Nullable
    Boolean[] results = new Boolean[entries.size()];
    for (List<Integer> chunk : chunks(firsts(entries, DueEntry::id))) {
      List<DueEntry> items = chunk.stream().map(entries::get).toList();
      BitSet parked = session.run(connection -> dialect.claims().park(connection, items));
      parked.stream().forEach(i -> results[chunk.get(i)] = true);
    }
    return all(results, general(session, entries, unanswered(results), false,
        (wanted, entry) -> wanted.id(entry.id()), (overlay, entry) -> overlay.get(entry.id()), TaskOperations::park,
        nowMicros -> false, results));
  }

  /** As {@code TaskStore.probe}. */
  List<Probed> probe(Session session, List<TaskId> ids) throws SQLException {
    List<Probed> found = new ArrayList<>(ids.size());
    for (List<TaskId> chunk : chunks(ids)) {
      found.addAll(session.run(connection -> dialect.queries().probe(connection, chunk)));
    }
    return found;
  }

  /** As {@code TaskStore.claim}. */
  ClaimBatch claim(Session session, List<Claim> claims) throws SQLException {
    @Nullable
    ClaimResult[] results = new ClaimResult[claims.size()];
    long[] latest = {Long.MIN_VALUE};
    boolean onlyLooks = !claims.isEmpty() && claims.stream().allMatch(claim -> claim.leaseMillis() == 0);
    for (List<Integer> chunk : chunks(firsts(claims, Claim::id))) {
      List<NewClaim> items = chunk.stream().map(claims::get)
          .map(claim -> new NewClaim(claim.id(), claim.leaseMillis(), claim.notAfterMillis(), tokens.get(),
              claim.id().slot(slotCount)))
          .toList();
      Claimed claimed = session.run(connection -> onlyLooks
          ? dialect.claims().look(connection, numbers, items, slotCount)
          : dialect.claims().claim(connection, numbers, items, slotCount));
      seen(claimed.micros());
      latest[0] = Math.max(latest[0], Math.floorDiv(claimed.micros(), 1_000));
      for (int i = 0; i < items.size(); i++) {
        results[chunk.get(i)] = claimed.results().get(i);
      }
    }
    StoreException failure = general(session, claims, unanswered(results), !onlyLooks, !onlyLooks,
        (wanted, claim) -> wanted.id(claim.id()),
        (overlay, claim) -> overlay.get(claim.id()), (operations, items, nowMicros) -> {
          ClaimBatch batch = operations.claim(items, nowMicros);
          latest[0] = Math.max(latest[0], batch.nowMillis());
          return batch.results();
        }, nowMicros -> new ClaimResult.Later(Math.floorDiv(nowMicros, 1_000) + NOT_MINE_MILLIS), results);
    assert failure == null : failure;
    long now = claims.isEmpty() ? Math.floorDiv(session.run(dialect.clock()::micros), 1_000) : latest[0];
    return new ClaimBatch(now, all(results));
  }

  /** As {@code TaskStore.extend}. */
  List<ExtendResult> extend(Session session, List<Extension> extensions) throws SQLException {
    @Nullable
    ExtendResult[] results = new ExtendResult[extensions.size()];
    return all(results, general(session, extensions, places(extensions.size()), false,
        (wanted, extension) -> wanted.id(extension.id()), (overlay, extension) -> overlay.get(extension.id()),
        TaskOperations::extend, nowMicros -> new ExtendResult(ExtendResult.Kind.STALE, 0), results));
  }

  /** As {@code TaskStore.settle}. */
  List<SettleResult> settle(Session session, List<Settlement> settlements) throws SQLException {
    @Nullable
    SettleResult[] results = new SettleResult[settlements.size()];
    List<Integer> finished = firsts(settlements, Settlement::id);
    finished.removeIf(place -> !(settlements.get(place).outcome() instanceof Outcome.Finished));
    List<Retention> retentions = finished.isEmpty() ? List.of() : retentions(session);
    for (List<Integer> chunk : chunks(finished)) {
      List<Settlement> items = chunk.stream().map(settlements::get).toList();
      BitSet done = session.run(connection -> dialect.claims().finish(connection, items, retentions,
          Rows.retention(QueueTerms.DEFAULT)));
      done.stream().forEach(
          i -> results[chunk.get(i)] = new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0));
    }
    return all(results, general(session, settlements, unanswered(results), false,
        (wanted, item) -> wanted.id(item.id()), (overlay, item) -> overlay.get(item.id()), TaskOperations::settle,
        nowMicros -> new SettleResult(SettleResult.Kind.STALE, TaskState.RUNNING, 0), results));
  }

  /** What queues keep that differ from the default. */
  private List<Retention> retentions(Session session) throws SQLException {
    List<Retention> retentions = new ArrayList<>();
    for (Map.Entry<String, QueueTerms> entry : terms.entrySet()) {
      if (entry.getValue().retainFinishedMillis() != QueueTerms.DEFAULT.retainFinishedMillis()) {
        int queue = session.ask(connection -> numbers.take(connection, entry.getKey()));
        retentions.add(new Retention(queue, Rows.retention(entry.getValue())));
      }
    }
    return retentions;
  }

  /** As {@code TaskStore.redrive}. */
  List<RedriveResult> redrive(Session session, List<Redrive> redrives) throws SQLException {
    @Nullable
    RedriveResult[] results = new RedriveResult[redrives.size()];
    List<Integer> pending = places(redrives.size());
    Map<TaskId, KeyName> keys = keysOf(session, redrives.stream().map(Redrive::id).toList());
    return all(results, general(session, redrives, pending, false, (wanted, redrive) -> {
      wanted.id(redrive.id());
      KeyName key = keys.get(redrive.id());
      if (key != null) {
        wanted.key(key.queue(), key.key());
      }
    }, (overlay, redrive) -> overlay.get(redrive.id()), TaskOperations::redrive, nowMicros -> null, results));
  }

  /** The keys of kept tasks never change: they can be read before. */
  private Map<TaskId, KeyName> keysOf(Session session, List<TaskId> ids) throws SQLException {
    Map<TaskId, KeyName> keys = new HashMap<>();
    for (List<TaskId> chunk : chunks(ids)) {
      Wanted wanted = new Wanted();
      chunk.forEach(wanted::id);
      for (Row row : session.run(connection -> dialect.records().read(connection, numbers, wanted, false, false))
          .rows()) {
        String key = row.record().key();
        if (key != null) {
          keys.put(row.record().id(), new KeyName(row.record().queue(), key));
        }
      }
    }
    return keys;
  }

  /** As {@code TaskStore.adopt}. The queues must have their numbers. */
  List<Boolean> adopt(Session session, List<TaskRecord> tasks) throws SQLException {
    @Nullable
    Boolean[] results = new Boolean[tasks.size()];
    return all(results, general(session, tasks, places(tasks.size()), false, (wanted, task) -> {
      wanted.id(task.id());
      wanted.key(task.queue(), task.key());
    }, (overlay, task) -> {
      TaskRecord here = overlay.get(task.id());
      String key = task.key();
      return here == null && key != null ? overlay.byKey(task.queue(), key) : here;
    }, TaskOperations::adopt, nowMicros -> true, results));
  }
}
