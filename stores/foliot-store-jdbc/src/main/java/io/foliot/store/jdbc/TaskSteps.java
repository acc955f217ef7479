package io.foliot.store.jdbc;

import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.BatchSteps;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.OptimisticBatch;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.Reads;
import io.foliot.core.store.batch.RecordOverlay;
import io.foliot.core.store.batch.RequestName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls that change tasks, on one database. Thread-safe, if each thread has its own session.
 *
 * <p>Most calls first execute a statement for the frequent cases of the whole batch: for example, it inserts new tasks
 * or claims waiting tasks. The remaining items take the general path. Their rows are read, together with the
 * database's clock. {@link TaskOperations} decides by that clock, and each changed row is written if it still has the
 * version that was read. The call takes effect as of the time of the read. A task that was due at the read is still due
 * at the write, and a lease is shorter by the time between read and write, never longer. Items whose rows have changed
 * since the read are repeated.
 *
 * <p>{@link GenerationClock} ensures that no later task of a key gets a smaller generation.
 *
 * <p>This class is one file because the correctness of a call depends on both its statement for the frequent cases and
 * the general path.
 */
final class TaskSteps {
  /**
   * Delay, in milliseconds, before this node tries again to claim a task that only a newer version of Foliot can read.
   * By then, a newer node may have claimed the task.
   */
  private static final long NOT_MINE_MILLIS = 10_000;

  private static final BatchStep<Draft, SubmitResult> SUBMIT = new BatchStep<>() {
    @Override
    public void wants(Draft draft, Reads reads) {
      String key = draft.key();
      if (key == null) {
        reads.id(draft.id());
      } else {
        reads.key(new KeyName(draft.queue(), key));
      }
      if (draft.idempotency() != null) {
        reads.request(requestOf(draft, draft.idempotency()));
      }
    }

    @Override
    public List<SubmitResult> apply(TaskOperations operations, List<Draft> drafts, long nowMicros) {
      return operations.submit(drafts, nowMicros);
    }

    @Override
    public boolean changes(Draft draft) {
      return draft.onConflict() == OnConflict.RESET || draft.expectedGeneration() > 0;
    }
  };

  private final Dialect dialect;
  private final QueueIds numbers;
  private final int slotCount;
  private final Supplier<Token> tokens;
  private final TermsByQueue terms = new TermsByQueue();
  private final GenerationClock clock;
  private final GeneralPath general;
  /** Queues in which more than half of the drafts found a live key, when the latest submit was made. */
  private final Set<String> mostlyLive = ConcurrentHashMap.newKeySet();

  TaskSteps(Dialect dialect, QueueIds numbers, int slotCount, Supplier<Token> tokens, Consumer<SetAside> onSetAside) {
    this.dialect = dialect;
    this.numbers = numbers;
    this.slotCount = slotCount;
    this.tokens = tokens;
    clock = new GenerationClock(dialect);
    general = new GeneralPath(dialect, numbers, slotCount, tokens, terms, clock, onSetAside);
  }

  void configure(String queue, QueueTerms queueTerms) {
    terms.configure(queue, queueTerms);
  }

  GenerationClock clock() {
    return clock;
  }

  GeneralPath general() {
    return general;
  }

  /**
   * Submits as {@code TaskStore.submit} does. The queues must have numbers already, except those for whose numbers
   * there was no room.
   *
   * @param unnamed the queues for whose numbers there was no room, with the failure
   */
  List<SubmitResult> submit(Session session, List<Draft> drafts, Map<String, SQLException> unnamed)
      throws SQLException {
    OptimisticBatch<Draft, SubmitResult> batch = new OptimisticBatch<>(SUBMIT, drafts);
    for (int place = 0; !unnamed.isEmpty() && place < drafts.size(); place++) {
      SQLException full = unnamed.get(drafts.get(place).queue());
      if (full != null) {
        batch.refuse(place, Connections.full(full));
      }
    }
    submit(session, drafts, batch);
    noteLive(drafts, batch);
    return batch.results();
  }

  private void submit(Session session, List<Draft> drafts, OptimisticBatch<Draft, SubmitResult> batch)
      throws SQLException {
    if (!session.isOwn()) {
      // An INSERT or a locking read may also lock neighbours in the index, and a caller's transaction may keep locks
      // for long. Therefore drafts with a live key take the general path before the INSERT, and only the tasks of these
      // keys are locked.
      resubmit(session, drafts, batch, false);
    }
    long ahead = 0;
    boolean resetsFirst = drafts.stream().anyMatch(draft -> mostlyLive.contains(draft.queue()));
    for (int round = 0; !batch.open().isEmpty(); round++) {
      Rounds.await(round);
      if (round == 0 && resetsFirst) {
        ahead = reset(session, drafts, batch);
      }
      SQLException full = insert(session, drafts, batch);
      if (round == 0 && !resetsFirst) {
        ahead = Math.max(ahead, reset(session, drafts, batch));
      }
      resubmit(session, drafts, batch, session.locksReads());
      if (full != null) {
        // Each draft that is still open needs a new row.
        batch.open().forEach(place -> batch.refuse(place, Connections.full(full)));
      }
    }
    if (ahead > 0) {
      clock.raise(session, ahead);
    }
  }

  /**
   * Resets waiting tasks to later due times, which is the frequent case of a live key. Returns the largest generation
   * that is ahead of the clock, or 0 if there is none.
   */
  private long reset(Session session, List<Draft> drafts, OptimisticBatch<Draft, SubmitResult> batch)
      throws SQLException {
    Set<KeyName> names = new HashSet<>();
    List<Integer> places = new ArrayList<>();
    List<KeyTouch> items = new ArrayList<>();
    for (int place : batch.open()) {
      Draft draft = drafts.get(place);
      String key = draft.key();
      if (key != null && names.add(new KeyName(draft.queue(), key)) && draft.onConflict() == OnConflict.RESET
          && draft.idempotency() == null && draft.expectedGeneration() == Draft.ANY) {
        places.add(place);
        items.add(new KeyTouch(numbers.of(draft.queue()), key, draft.due(), terms.of(draft.queue()).maxWaitMillis(),
            draft.body(), draft.maxAttempts()));
      }
    }
    return pushBack(session, items, true, (i, micros, touched) -> {
      boolean pending = touched.kind() == TouchResult.Kind.RESET_PENDING;
      batch.answer(places.get(i), new SubmitResult(
          pending ? SubmitResult.Kind.RESET_PENDING : SubmitResult.Kind.RESET, Objects.requireNonNull(touched.id()),
          touched.generation(), touched.dueAt(),
          touched.dueAt() <= Math.floorDiv(micros, 1_000) ? TaskState.READY : TaskState.DELAYED, false));
    });
  }

  /**
   * Records the queues in which more drafts found a live key than created a task. Later submits to these queues try
   * resets first.
   */
  private void noteLive(List<Draft> drafts, OptimisticBatch<Draft, SubmitResult> batch) {
    Map<String, Integer> balance = new HashMap<>();
    for (int i = 0; i < drafts.size(); i++) {
      SubmitResult result = batch.result(i);
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

  /** Submits, by the general path, the drafts that are still open. */
  private void resubmit(Session session, List<Draft> drafts, OptimisticBatch<Draft, SubmitResult> batch,
      boolean locking) throws SQLException {
    for (List<Integer> chunk : Rounds.chunks(batch.open(), place -> bytesOf(drafts.get(place)))) {
      session.beginUnit();
      resubmitChunk(session, drafts, chunk, locking, batch);
    }
  }

  /**
   * Inserts the first open draft of each {@linkplain #nameOf name}, unless the draft expects a generation. Returns
   * null, or the failure of a statement that found no room.
   */
  private @Nullable SQLException insert(Session session, List<Draft> drafts,
      OptimisticBatch<Draft, SubmitResult> batch) throws SQLException {
    Set<Object> names = new HashSet<>();
    List<Integer> firsts = new ArrayList<>();
    for (int place : batch.open()) {
      Draft draft = drafts.get(place);
      if (names.add(nameOf(draft)) && draft.expectedGeneration() <= 0) {
        firsts.add(place);
      }
    }
    firsts.sort(Comparator.comparing(place -> drafts.get(place).id()));
    for (List<Integer> chunk : Rounds.chunks(firsts, place -> bytesOf(drafts.get(place)))) {
      session.beginUnit();
      try {
        insertChunk(session, drafts, chunk, batch);
      } catch (SQLException e) {
        if (session.wroteSince()) {
          throw e;
        }
        general.ensureOnlyFull(session, e);
        return e;
      }
    }
    return null;
  }

  private static long bytesOf(Draft draft) {
    return Rows.bodyOf(draft).payload().length;
  }

  /** Returns the name of a draft: its key, request or id. At most one draft of each name creates a task. */
  private static Object nameOf(Draft draft) {
    String key = draft.key();
    Draft.Idempotency idempotency = draft.idempotency();
    return key != null
        ? new KeyName(draft.queue(), key)
        : idempotency != null ? new RequestName(draft.queue(), null, idempotency.key()) : draft.id();
  }

  private void insertChunk(Session session, List<Draft> drafts, List<Integer> places,
      OptimisticBatch<Draft, SubmitResult> batch) throws SQLException {
    List<NewTask> tasks = new ArrayList<>(places.size());
    boolean requests = false;
    for (int place : places) {
      Draft draft = drafts.get(place);
      requests |= draft.idempotency() != null;
      tasks.add(new NewTask(draft, numbers.of(draft.queue()), draft.id().slot(slotCount)));
    }
    Inserted inserted;
    try {
      Session.Step<Inserted> step = connection -> dialect.submits().insert(connection, tasks, clock.seen());
      inserted = requests ? session.guarded(step) : session.run(step);
    } catch (SQLException e) {
      if (dialect.isDuplicate(e)) {
        session.ensureVisible(e);
        return;
      }
      throw e;
    }
    clock.seen(inserted.micros());
    ensureLast(session, tasks, inserted);
    long nowMillis = Math.floorDiv(inserted.micros(), 1_000);
    for (int i = 0; i < tasks.size(); i++) {
      long generation = inserted.generation(i);
      long dueAt = inserted.dueAt(i);
      if (generation > 0) {
        batch.answer(places.get(i), new SubmitResult(SubmitResult.Kind.CREATED, tasks.get(i).draft().id(), generation,
            dueAt, dueAt <= nowMillis ? TaskState.READY : TaskState.DELAYED, true));
      }
    }
  }

  /**
   * Ensures that the inserted tasks have the largest generations of their keys. Another task of the same key may have
   * ended during the insert. The generation of that other task may be larger in two cases:
   *
   * <ul>
   * <li>The clock was set back or has stopped. The floor was raised above the generation of the other task before that
   * task ended. If the floor is above the generations of the inserted tasks, these tasks get new generations.
   * <li>The insert waited for the transaction that ended the other task. The kept record of that task shows its
   * generation.
   * </ul>
   */
  private void ensureLast(Session session, List<NewTask> tasks, Inserted inserted) throws SQLException {
    if (inserted.last() > 0) {
      long floor = session.apart(dialect.clock()::floor);
      if (floor > inserted.last()) {
        clock.raise(session, floor);
        regenerate(session, tasks, Rounds.places(tasks.size()), inserted, floor);
      } else if (inserted.last() > inserted.micros()) {
        clock.raise(session, inserted.last());
      }
    }
    List<Integer> late = inserted.late().stream().filter(place -> tasks.get(place).draft().key() != null).boxed()
        .toList();
    if (!late.isEmpty()) {
      ensureLast(session, tasks, inserted, late);
    }
  }

  private void ensureLast(Session session, List<NewTask> tasks, Inserted inserted, List<Integer> late)
      throws SQLException {
    ReadSet reads = new ReadSet();
    for (int place : late) {
      Draft draft = tasks.get(place).draft();
      reads.key(new KeyName(draft.queue(), Objects.requireNonNull(draft.key())));
    }
    // Above READ COMMITTED, the caller's transaction does not see a task that ended after the first read of the
    // transaction. So another connection reads.
    Snapshot snapshot = session.locksReads()
        ? session.apart(other -> general.read(Session.own(other, dialect), reads, false, false))
        : general.read(session, reads, false, false);
    Map<Object, Long> ended = new HashMap<>();
    for (Row row : snapshot.rows()) {
      TaskRecord record = row.record();
      String key = record.key();
      if (!record.isLive() && key != null) {
        ended.merge(new KeyName(record.queue(), key), record.generation(), Math::max);
      }
    }
    List<Integer> older = late.stream()
        .filter(place -> ended.getOrDefault(nameOf(tasks.get(place).draft()), 0L) >= inserted.generation(place))
        .toList();
    if (older.isEmpty()) {
      return;
    }
    long generation = Math.max(Math.max(snapshot.micros(), snapshot.floor()), Collections.max(ended.values()) + 1);
    if (generation > snapshot.micros()) {
      clock.raise(session, generation);
    }
    regenerate(session, tasks, older, inserted, generation);
  }

  /** Gives the tasks at these places a new generation, unless they have changed since they were inserted. */
  private void regenerate(Session session, List<NewTask> tasks, List<Integer> places, Inserted inserted,
      long generation) throws SQLException {
    List<NewTask> old = places.stream().map(tasks::get).toList();
    long[] generations = places.stream().mapToLong(inserted::generation).toArray();
    session.run(connection -> dialect.submits().regenerate(connection, old, generations, generation)).stream()
        .forEach(i -> inserted.regenerated(places.get(i), generation));
  }

  /**
   * Submits a draft if its key is live, if its request has an answer, or if it expects a generation. Also answers a
   * draft without a key if its id has a record, because an earlier call has created this task. Leaves all other drafts
   * open.
   */
  private void resubmitChunk(Session session, List<Draft> drafts, List<Integer> places, boolean locking,
      OptimisticBatch<Draft, SubmitResult> batch) throws SQLException {
    Snapshot read = general.read(session, batch.reads(places), false, locking);
    Snapshot snapshot = locking || !session.locksReads() ? read : general.lock(session, read);
    RecordOverlay found = new RecordOverlay(snapshot, Math.floorDiv(snapshot.micros(), 1_000));
    List<Integer> undecided = new ArrayList<>();
    List<RequestName> expired = new ArrayList<>();
    Map<Integer, TaskId> held = new HashMap<>();
    for (int place : places) {
      Draft draft = drafts.get(place);
      TaskId holder = endedHolder(snapshot, draft);
      TaskRecord same = draft.key() == null ? createdEarlier(draft.id(), found, read) : null;
      if (same != null) {
        // The caller repeats a call that failed although it had taken effect.
        batch.answer(place, new SubmitResult(SubmitResult.Kind.CREATED, same.id(), same.generation(), same.dueAt(),
            same.stateAt(Math.floorDiv(snapshot.micros(), 1_000)), true));
      } else if (holder != null) {
        held.put(place, holder);
      } else if (isAnswered(snapshot, draft, expired) || isLive(found, draft) || draft.expectedGeneration() > 0) {
        undecided.add(place);
      }
    }
    if (!held.isEmpty() && !general.moveEnded(session, List.copyOf(held.values()))) {
      held.keySet().forEach(place -> batch.refuse(place,
          Connections.full(new SQLException("the row of the key's last task finds no room to move"))));
    }
    if (!expired.isEmpty()) {
      session.run(connection -> {
        dialect.records().forgetAnswers(connection, expired, numbers);
        return true;
      });
    }
    general.write(session, snapshot, general.decide(batch, undecided, snapshot), batch).forEach(batch::answer);
  }

  /** Returns the task that has ended in place, and whose row still has the key of a draft; null if there is none. */
  private static @Nullable TaskId endedHolder(Snapshot snapshot, Draft draft) {
    TaskId holder = draft.key() == null ? null : snapshot.holder(new KeyName(draft.queue(), draft.key()));
    Row row = holder == null ? null : snapshot.row(holder);
    return row != null && row.isEndedInPlace() ? holder : null;
  }

  /**
   * Returns a task that an earlier call has created, or null if there is none. Under REPEATABLE READ the task may have
   * ended since the first read of the transaction. The locking read then finds it neither live nor kept.
   */
  private static @Nullable TaskRecord createdEarlier(TaskId id, RecordTable newest, Snapshot read) {
    TaskRecord record = newest.get(id);
    TaskRecord before = read.record(id);
    return record == null && before != null && before.isLive() ? before : record;
  }

  private static RequestName requestOf(Draft draft, Draft.Idempotency idempotency) {
    return new RequestName(draft.queue(), draft.key(), idempotency.key());
  }

  /** Returns whether a draft's request has an answer; adds the request to {@code expired} if its answer has expired. */
  private static boolean isAnswered(Snapshot snapshot, Draft draft, List<RequestName> expired) {
    Draft.Idempotency idempotency = draft.idempotency();
    if (idempotency == null) {
      return false;
    }
    RequestName name = requestOf(draft, idempotency);
    RecordTable.Answered answered = snapshot.answer(name);
    if (answered != null && answered.dropAt() <= Math.floorDiv(snapshot.micros(), 1_000)) {
      expired.add(name);
      return false;
    }
    return answered != null;
  }

  private static boolean isLive(RecordTable found, Draft draft) {
    String key = draft.key();
    TaskRecord holder = key == null ? null : found.byKey(draft.queue(), key);
    return holder != null && holder.isLive();
  }

  /** Touches tasks as {@code TaskStore.touch} does. */
  List<TouchResult> touch(Session session, List<Touch> touches) throws SQLException {
    OptimisticBatch<Touch, TouchResult> batch = new OptimisticBatch<>(BatchSteps.TOUCH, touches);
    long ahead = touches.stream().allMatch(touch -> touch.ref() instanceof TaskRef.ByKey)
        ? pushBack(session, touches, batch)
        : 0;
    general.take(session, batch, false);
    if (ahead > 0) {
      clock.raise(session, ahead);
    }
    return batch.results();
  }

  /**
   * Pushes back waiting tasks, by the first touch of each key. Returns the largest generation that is ahead of the
   * clock, or 0 if there is none.
   */
  private long pushBack(Session session, List<Touch> touches, OptimisticBatch<Touch, TouchResult> batch)
      throws SQLException {
    Map<TaskRef, Integer> firsts = new HashMap<>();
    List<Integer> places = new ArrayList<>();
    List<KeyTouch> items = new ArrayList<>();
    for (int i = 0; i < touches.size(); i++) {
      Touch touch = touches.get(i);
      if (touch.ref() instanceof TaskRef.ByKey(String queue, String key)
          && firsts.putIfAbsent(touch.ref(), i) == null) {
        int number = numbers.find(session.connection(), queue);
        if (number == QueueIds.NONE) {
          batch.answer(i, TouchResult.NOT_FOUND);
        } else {
          places.add(i);
          items.add(new KeyTouch(number, key, touch.due(), terms.of(queue).maxWaitMillis(), null, 0));
        }
      }
    }
    return pushBack(session, items, false, (i, micros, result) -> batch.answer(places.get(i), result));
  }

  /** A receiver of the result of one item, with the position of the item and the time in microseconds since 1970. */
  private interface PushedBack {
    void accept(int place, long nowMicros, TouchResult result);
  }

  /**
   * Pushes back waiting tasks by key, and passes the result of each task to {@code answer}. Returns the largest
   * generation that is ahead of the clock, or 0 if there is none. The floor must be raised above that generation before
   * a caller gets the results.
   */
  private long pushBack(Session session, List<KeyTouch> items, boolean resets, PushedBack answer) throws SQLException {
    long ahead = 0;
    List<Integer> order = Rounds.places(items.size());
    order.sort(Comparator.comparingInt((Integer place) -> items.get(place).queue())
        .thenComparing(place -> items.get(place).key()));
    for (List<Integer> chunk : Rounds.chunks(order, place -> items.get(place).bytes())) {
      List<KeyTouch> sorted = chunk.stream().map(items::get).toList();
      session.beginUnit();
      Touched touched;
      try {
        touched = session.run(connection -> dialect.submits().touch(connection, sorted, resets, clock.seen()));
      } catch (SQLException e) {
        // The general path changes the rows that have room in their pages.
        general.ensureOnlyFull(session, e);
        continue;
      }
      clock.seen(touched.micros());
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

  /** Cancels tasks as {@code TaskStore.cancel} does. */
  List<CancelResult> cancel(Session session, List<TaskRef> refs) throws SQLException {
    return take(session, BatchSteps.CANCEL, refs);
  }

  /** Runs a call that takes only the general path. */
  private <Q, R> List<R> take(Session session, BatchStep<Q, R> step, List<Q> items) throws SQLException {
    OptimisticBatch<Q, R> batch = new OptimisticBatch<>(step, items);
    general.take(session, batch, false);
    return batch.results();
  }

  /** Returns the position of the first item of each task, in the order of ids. */
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

  /** Parks tasks as {@code TaskStore.park} does. */
  List<Boolean> park(Session session, List<DueEntry> entries) throws SQLException {
    OptimisticBatch<DueEntry, Boolean> batch = new OptimisticBatch<>(BatchSteps.PARK, entries);
    for (List<Integer> chunk : Rounds.chunks(firsts(entries, DueEntry::id))) {
      List<DueEntry> items = chunk.stream().map(entries::get).toList();
      BitSet parked = session.run(connection -> dialect.claims().park(connection, items));
      parked.stream().forEach(i -> batch.answer(chunk.get(i), true));
    }
    general.take(session, batch, false);
    return batch.results();
  }

  /** Probes tasks as {@code TaskStore.probe} does. */
  List<Probed> probe(Session session, List<TaskId> ids) throws SQLException {
    List<Probed> found = new ArrayList<>(ids.size());
    for (List<TaskId> chunk : Rounds.chunks(ids)) {
      found.addAll(session.run(connection -> dialect.queries().probe(connection, chunk)));
    }
    return found;
  }

  /** Claims tasks as {@code TaskStore.claim} does. */
  ClaimBatch claim(Session session, List<Claim> claims) throws SQLException {
    ClaimStep step = new ClaimStep();
    OptimisticBatch<Claim, ClaimResult> batch = new OptimisticBatch<>(step, claims);
    boolean onlyMoves = !claims.isEmpty() && claims.stream().allMatch(claim -> claim.leaseMillis() == 0);
    for (List<Integer> chunk : Rounds.chunks(firsts(claims, Claim::id))) {
      List<NewClaim> items = chunk.stream().map(claims::get)
          .map(claim -> new NewClaim(claim.id(), claim.leaseMillis(), claim.notAfterMillis(), tokens.get(),
              claim.id().slot(slotCount)))
          .toList();
      Claimed claimed = session.run(connection -> onlyMoves
          ? dialect.claims().move(connection, numbers, items, slotCount)
          : dialect.claims().claim(connection, numbers, items, slotCount));
      clock.seen(claimed.micros());
      step.noteTime(Math.floorDiv(claimed.micros(), 1_000));
      for (int i = 0; i < items.size(); i++) {
        ClaimResult result = claimed.results().get(i);
        if (result != null) {
          batch.answer(chunk.get(i), result);
        }
      }
    }
    general.take(session, batch, !onlyMoves, !onlyMoves);
    long now = claims.isEmpty()
        ? Math.floorDiv(session.run(dialect.clock()::micros), 1_000)
        : step.latestMillis;
    return new ClaimBatch(now, batch.results());
  }

  /** The step of claims on the general path. It also keeps the latest reading of the clock. Not thread-safe. */
  private static final class ClaimStep implements BatchStep<Claim, ClaimResult> {
    private long latestMillis = Long.MIN_VALUE;

    void noteTime(long nowMillis) {
      latestMillis = Math.max(latestMillis, nowMillis);
    }

    @Override
    public void wants(Claim claim, Reads reads) {
      reads.id(claim.id());
    }

    @Override
    public List<ClaimResult> apply(TaskOperations operations, List<Claim> claims, long nowMicros) {
      ClaimBatch batch = operations.claim(claims, nowMicros);
      noteTime(batch.nowMillis());
      return batch.results();
    }

    @Override
    public ClaimResult ofNewerVersion(Claim claim, long nowMicros) {
      return new ClaimResult.Later(Math.floorDiv(nowMicros, 1_000) + NOT_MINE_MILLIS);
    }
  }

  /** Extends leases as {@code TaskStore.extend} does. */
  List<ExtendResult> extend(Session session, List<Extension> extensions) throws SQLException {
    return take(session, BatchSteps.EXTEND, extensions);
  }

  /** Settles attempts as {@code TaskStore.settle} does. */
  List<SettleResult> settle(Session session, List<AttemptEnd> settlements) throws SQLException {
    OptimisticBatch<AttemptEnd, SettleResult> batch = new OptimisticBatch<>(BatchSteps.SETTLE, settlements);
    List<Integer> finished = firsts(settlements, AttemptEnd::id);
    finished.removeIf(place -> !(settlements.get(place).outcome() instanceof Outcome.Finished)
        || !settlements.get(place).note().isEmpty());
    List<Retention> retentions = finished.isEmpty() ? List.of() : retentions(session);
    for (List<Integer> chunk : Rounds.chunks(finished)) {
      List<AttemptEnd> items = chunk.stream().map(settlements::get).toList();
      try {
        BitSet done = session.run(connection -> dialect.claims().finish(connection, items, retentions,
            Rows.retention(QueueTerms.DEFAULT)));
        done.stream().forEach(
            i -> batch.answer(chunk.get(i), new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0)));
      } catch (SQLException e) {
        // The general path ends the tasks in place.
        general.ensureOnlyFull(session, e);
      }
    }
    nameQueues(session, settlements, batch);
    plan(session, settlements, batch);
    general.take(session, batch, false);
    return batch.results();
  }

  /**
   * Writes the plans of tasks that were not reset or cancelled. Plans that share a child take the general path. The
   * first of these plans must insert the child, but a statement writes its plans in no particular order.
   */
  private void plan(Session session, List<AttemptEnd> settlements, OptimisticBatch<AttemptEnd, SettleResult> batch)
      throws SQLException {
    List<Integer> places = new ArrayList<>();
    List<NewPlan> plans = new ArrayList<>();
    Set<TaskId> shared = shared(settlements);
    for (int place : firsts(settlements, AttemptEnd::id)) {
      AttemptEnd settlement = settlements.get(place);
      if (batch.isOpen(place) && settlement.outcome() instanceof Outcome.Rearm rearm && rearm.isPlan()
          && settlement.note().isEmpty()
          && rearm.children().stream().map(Outcome.Child::id).noneMatch(shared::contains)) {
        places.add(place);
        plans.add(new NewPlan(settlement, rearm, settlement.id().slot(slotCount), rearm.children().stream()
            .map(child -> new NewPlan.ChildRow(child, numbers.of(child.queue()))).toList()));
      }
    }
    int done = 0;
    for (List<NewPlan> chunk : Rounds.chunks(plans, NewPlan::bytes)) {
      Planned planned;
      try {
        planned = session.run(connection -> dialect.claims().plan(connection, chunk, clock.seen()));
      } catch (SQLException e) {
        // The general path writes the plans for which there is room.
        general.ensureOnlyFull(session, e);
        done += chunk.size();
        continue;
      }
      clock.seen(planned.micros());
      for (long dueAt : planned.dueAts()) {
        if (dueAt != Planned.NOT_WRITTEN) {
          batch.answer(places.get(done), new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, dueAt));
        }
        done++;
      }
    }
  }

  /** Returns the ids of the children that occur more than once in these settlements. */
  private static Set<TaskId> shared(List<AttemptEnd> settlements) {
    Set<TaskId> seen = new HashSet<>();
    Set<TaskId> shared = new HashSet<>();
    for (AttemptEnd settlement : settlements) {
      if (settlement.outcome() instanceof Outcome.Rearm rearm) {
        rearm.children().stream().map(Outcome.Child::id).filter(id -> !seen.add(id)).forEach(shared::add);
      }
    }
    return shared;
  }

  /**
   * Ensures that the queues of children have numbers. This process may not have used these queues yet. Refuses the
   * settlements with children in a queue for whose number there is no room.
   */
  private void nameQueues(Session session, List<AttemptEnd> settlements,
      OptimisticBatch<AttemptEnd, SettleResult> batch) throws SQLException {
    Map<String, @Nullable SQLException> queues = new HashMap<>();
    for (int place = 0; place < settlements.size(); place++) {
      if (settlements.get(place).outcome() instanceof Outcome.Rearm rearm) {
        for (Outcome.Child child : rearm.children()) {
          if (!queues.containsKey(child.queue())) {
            queues.put(child.queue(), nameQueue(session, child.queue()));
          }
          SQLException full = queues.get(child.queue());
          if (full != null) {
            batch.refuse(place, Connections.full(full));
          }
        }
      }
    }
  }

  /** Ensures that a queue has a number. Returns null, or the failure of the statement if it found no room. */
  @Nullable
  SQLException nameQueue(Session session, String queue) throws SQLException {
    try {
      int number = session.apart(connection -> numbers.take(connection, queue));
      assert number != QueueIds.NONE : queue;
      return null;
    } catch (SQLException e) {
      general.ensureOnlyFull(session, e);
      return e;
    }
  }

  /** Returns the retention of finished tasks for each queue that does not have the default. */
  private List<Retention> retentions(Session session) throws SQLException {
    List<String> queues = new ArrayList<>();
    terms.forEach((queue, own) -> {
      if (own.retainFinishedMillis() != QueueTerms.DEFAULT.retainFinishedMillis()) {
        queues.add(queue);
      }
    });
    List<Retention> retentions = new ArrayList<>(queues.size());
    for (String queue : queues) {
      int number = session.ask(connection -> numbers.take(connection, queue));
      retentions.add(new Retention(number, Rows.retention(terms.of(queue))));
    }
    return retentions;
  }

  /** Redrives tasks as {@code TaskStore.redrive} does. */
  List<RedriveResult> redrive(Session session, List<Redrive> redrives) throws SQLException {
    Map<TaskId, KeyName> keys = keysOf(session, redrives);
    return take(session, new BatchStep<>() {
      @Override
      public void wants(Redrive redrive, Reads reads) {
        BatchSteps.REDRIVE.wants(redrive, reads);
        KeyName key = keys.get(redrive.id());
        if (key != null) {
          reads.key(key);
        }
      }

      @Override
      public List<RedriveResult> apply(TaskOperations operations, List<Redrive> items, long nowMicros) {
        return BatchSteps.REDRIVE.apply(operations, items, nowMicros);
      }
    }, redrives);
  }

  /** Returns the keys of the tasks to redrive. A key never changes, so it can be read before the records. */
  private Map<TaskId, KeyName> keysOf(Session session, List<Redrive> redrives) throws SQLException {
    Map<TaskId, KeyName> keys = new HashMap<>();
    for (List<Redrive> chunk : Rounds.chunks(redrives)) {
      ReadSet reads = new ReadSet();
      chunk.forEach(redrive -> reads.id(redrive.id()));
      for (Row row : session.run(connection -> dialect.records().read(connection, numbers, reads, false, false))
          .rows()) {
        String key = row.record().key();
        if (key != null) {
          keys.put(row.record().id(), new KeyName(row.record().queue(), key));
        }
      }
    }
    return keys;
  }

  /** Adopts tasks as {@code TaskStore.adopt} does. The queues must have numbers already. */
  List<Boolean> adopt(Session session, List<TaskRecord> tasks) throws SQLException {
    return take(session, BatchSteps.ADOPT, tasks);
  }
}
