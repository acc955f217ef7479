package io.foliot.engine;

import io.foliot.core.Clock;
import io.foliot.core.Limits;
import io.foliot.core.Meter;
import io.foliot.core.Queue;
import io.foliot.core.Scheduler;
import io.foliot.core.SlotHash;
import io.foliot.core.Submission;
import io.foliot.core.Target;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Due;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.Seal;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.engine.coordination.StoreCoordinator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine: a {@link Scheduler} over a store, with event loops that fire what is due. Calls are gathered into store
 * batches; the loops look after their slots.
 */
public final class Engine implements Scheduler {
  private static final System.Logger LOG = System.getLogger(Engine.class.getName());
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  /** Tries to write a queue's settings while others write them, too. */
  private static final int WRITE_TRIES = 16;
  /** What a call's item holds in memory beside its payload. */
  private static final int ITEM_BYTES = 200;
  private static final int MAX_PAGE = 1_000;
  /** Batches of one kind of call that the store has at the same time. */
  private static final int BATCHES_UNDER_WAY = 2;
  /** How long a node that leaves goes on, until the others have what it had. */
  private static final long HAND_OVER_NANOS = 3 * StoreCoordinator.LOOK.toNanos();
  /** A loop that has not turned for so long is stuck: it turns ten times a second when there is nothing to do. */
  private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(3);
  /** Smaller changes of the clock's offset are not told. */
  private static final long OFFSET_STEP_MILLIS = 10;

  private final EngineOptions options;
  private final Environment environment;
  private final TaskStore store;
  private final Clock clock;
  private final Meter meter;
  private final RandomSource random;
  private final QueueRegistry registry;
  private final EngineLoop[] loops;
  private final ClusterPermits ledger;
  private final ParkedHeads parkedHeads;
  private final QueueWatch watch;
  private final QueueDeletions deletions;
  private final SlotOwnership ownership;
  /** How many slots there were at the start: whatever they become, a task stays with its loop. */
  private final int firstSlotCount;

  private final GroupCommit<Draft, SubmitResult> submits;
  private final GroupCommit<Touch, TouchResult> touches;
  private final GroupCommit<TaskRef, CancelResult> cancels;
  private final GroupCommit<Settlement, SettleResult> settles;
  private final GroupCommit<Extension, ExtendResult> extensions;
  private final GroupCommit<Redrive, RedriveResult> redrives;

  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

  private volatile boolean running;
  private volatile boolean stopped;
  private volatile @Nullable Seal seal;
  private volatile Coordinator.@Nullable View view;
  /** What the others are told of this node. */
  private volatile Coordinator.Member self;

  /** An engine that is not yet started. */
  public Engine(EngineOptions options, Environment environment) {
    this.options = options;
    this.environment = environment;
    store = environment.store();
    clock = environment.clock();
    meter = environment.meter();
    random = new RandomSource(environment.random());
    registry = new QueueRegistry(store, clock, environment.deliveries(), options, this::hungry);
    self = new Coordinator.Member(options.node(), options.zone());
    firstSlotCount = store.slotCount();
    loops = new EngineLoop[options.loops()];
    for (int i = 0; i < loops.length; i++) {
      loops[i] = new EngineLoop(options, environment, environment.loops().get(), registry, random, share(i),
          i == 0 ? this::eachSecond : () -> {}, i == 0 ? this::upkeep : nanos -> {});
    }
    for (Delivery delivery : environment.deliveries()) {
      ServedQueues served = delivery.servedQueues();
      if (served != null) {
        served.addListener(this::reconfigure);
      }
    }
    parkedHeads = new ParkedHeads(store, loops[0].inbox());
    for (EngineLoop loop : loops) {
      CompletableFuture<Void> unused = loop.death().thenAccept(this::failed);
    }
    ownership = new SlotOwnership(options.node(), store, clock, environment.coordinator(), this::own);
    ledger = new ClusterPermits(store, clock, registry, options.node(), random.next(1)[0], loops[0].inbox());
    watch = new QueueWatch(store, registry, clock, loops[0]::storeMicros, loops[0].inbox(), this::changed);
    deletions = new QueueDeletions(store, registry, clock, this::storeMillis, this::refresh);
    Admission calls = new Admission(options.callItems(), options.callBytes());
    Admission reports = new Admission(options.callItems(), options.callBytes());
    submits = new GroupCommit<>("submit", store::submit, this::submitted, BATCHES_UNDER_WAY, calls, clock, meter);
    touches = new GroupCommit<>("touch", store::touch, this::touched, BATCHES_UNDER_WAY, calls, clock, meter);
    cancels = new GroupCommit<>("cancel", store::cancel, Engine::nothing, BATCHES_UNDER_WAY, calls, clock, meter);
    redrives = new GroupCommit<>("redrive", store::redrive, Engine::nothing, BATCHES_UNDER_WAY, calls, clock, meter);
    settles = new GroupCommit<>("report", store::settle, this::reported, BATCHES_UNDER_WAY, reports, clock, meter);
    extensions = new GroupCommit<>("extend", store::extend, Engine::nothing, BATCHES_UNDER_WAY, reports, clock, meter);
  }

  /** The settings of a queue have changed, or whether this node serves it. */
  private void reconfigure(String queue) {
    for (EngineLoop loop : loops) {
      loop.changed(queue);
    }
  }

  private void failed(Throwable cause) {
    failure.complete(cause);
    LOG.log(System.Logger.Level.ERROR,
        "an event loop has ended, and this engine does nothing any more; stop it and start"
            + " another one, or end the process",
        cause);
  }

  @Override
  public CompletableFuture<Throwable> failure() {
    return failure.copy();
  }

  /** Something waits for a permit of the cluster's. */
  private void hungry() {
    ledger.hungry();
  }

  /** Each turn of the first loop. */
  private void upkeep(long nowNanos) {
    watch.turn(nowNanos);
    deletions.turn(nowNanos);
    if (store.isShared()) {
      ledger.turn(nowNanos);
    }
  }

  private static <T, R> void nothing(List<T> items, List<R> results) {}

  private SlotSet share(int loop) {
    BitSet slots = new BitSet();
    for (int slot = loop; slot < firstSlotCount; slot += options.loops()) {
      slots.set(slot);
    }
    return SlotSet.of(firstSlotCount, slots);
  }

  /**
   * Reads the queues and begins to fire.
   *
   * @return completes when the engine serves; fails if the store does not answer, or is sealed
   */
  public CompletableFuture<Void> start() {
    CompletableFuture<?>[] clocks = new CompletableFuture<?>[loops.length];
    for (int i = 0; i < loops.length; i++) {
      clocks[i] = loops[i].measureClock().toCompletableFuture();
    }
    return CompletableFuture.allOf(clocks).thenCompose(read -> store.document(DocumentKind.CLUSTER, Seal.NAME))
        .thenCompose(found -> {
          if (found.isPresent()) {
            throw new StoreException(Seal.decode(found.get().content()).reason(), null);
          }
          QueueRegistry.Read read = new QueueRegistry.Read(clock.monotonicNanos(), loops[0].storeMicros());
          return store.documents(DocumentKind.QUEUE)
              .thenApply(documents -> registry.replaceAll(documents, registry.changes(), read));
        }).thenAccept(queues -> {
          assert queues != null;
          for (EngineLoop loop : loops) {
            loop.start();
          }
          if (isCoordinated()) {
            ownership.begin();
          }
          environment.coordinator().join(self, this::coordinated);
          running = true;
        });
  }

  /** Who is there has changed, or who looks after what. The coordinator's thread. */
  private void coordinated(Coordinator.View seen) {
    view = seen;
    if (isCoordinated()) {
      ownership.changed(seen);
    }
  }

  /** Whether there may be others, who share the slots. */
  private boolean isCoordinated() {
    return !environment.coordinator().kind().equals(SoleCoordinator.KIND);
  }

  private void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption) {
    for (EngineLoop loop : loops) {
      loop.own(owned, assignment, adoption);
    }
  }

  private EngineLoop loopOf(TaskId id) {
    return loops[id.slot(firstSlotCount) % loops.length];
  }

  private long storeMillis() {
    return Math.floorDiv(loops[0].storeMicros(), 1_000);
  }

  /** Runs a call that changes something. */
  private <T> CompletableFuture<T> answering(Supplier<CompletionStage<T>> call) {
    Seal sealed = seal;
    return sealed == null
        ? reading(call)
        : CompletableFuture.failedFuture(new OverloadedException(sealed.refusal()));
  }

  /** Runs a call that tells of the end of an attempt. */
  private <T> CompletableFuture<T> reporting(Supplier<CompletionStage<T>> call) {
    Seal sealed = seal;
    return sealed == null || sealed.state() == Seal.State.DRAINING ? reading(call) : answering(call);
  }

  /** Runs a call, turning what it throws into a failed future. */
  private <T> CompletableFuture<T> reading(Supplier<CompletionStage<T>> call) {
    if (failure.isDone()) {
      return CompletableFuture.failedFuture(new FailedException(failure.join()));
    }
    if (!running || stopped) {
      return CompletableFuture.failedFuture(
          new OverloadedException(stopped ? "this node is stopping; ask another one" : "this node is not ready yet"));
    }
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Runs a call about a queue; fails with {@link UnknownQueueException} if the store does not know of it, either. */
  private <T> CompletionStage<T> withQueue(String name, Function<Queue, CompletionStage<T>> call) {
    Queue known = registry.queue(name);
    return known == null ? watch.find(name).thenCompose(call) : call.apply(known);
  }

  /** Runs a call about several queues, likewise. */
  private <T> CompletionStage<T> withQueues(List<Submission> submissions, Supplier<CompletionStage<T>> call) {
    for (Submission submission : submissions) {
      if (registry.queue(submission.queue()) == null) {
        return watch.find(submission.queue()).thenCompose(found -> withQueues(submissions, call));
      }
    }
    return call.get();
  }

  /** Ensures that a queue takes tasks, as far as this node knows. */
  private void ensureOpen(String queue) {
    if (registry.queue(queue) == null) {
      throw new UnknownQueueException(queue);
    }
    if (registry.isClosing(queue)) {
      throw new OverloadedException("the queue is being deleted: queue=" + queue);
    }
  }

  private static void ensureBatch(int size) {
    if (size > Limits.MAX_BATCH) {
      throw new IllegalArgumentException("a batch has at most 10000 items: items=" + size);
    }
  }

  // Submits, touches, cancels.

  @Override
  public CompletableFuture<SubmitResult> submit(Submission submission) {
    return submitAll(List.of(submission)).thenApply(results -> results.get(0));
  }

  @Override
  public CompletableFuture<List<SubmitResult>> submitAll(List<Submission> submissions) {
    return answering(() -> {
      ensureBatch(submissions.size());
      return withQueues(submissions, () -> {
        long bytes = 0;
        for (Submission submission : submissions) {
          bytes += ITEM_BYTES + (submission.body() == null ? 0 : submission.body().payload().length);
        }
        return submits.call(drafts(submissions), bytes).thenCompose(results -> confirmed(submissions, results));
      });
    });
  }

  /** These results, once it is sure that the queues of the tasks were not deleted before the store had written. */
  private CompletionStage<List<SubmitResult>> confirmed(List<Submission> submissions, List<SubmitResult> results) {
    Set<String> doubtful = new TreeSet<>();
    Map<TaskId, Long> written = new HashMap<>();
    for (int i = 0; i < results.size(); i++) {
      SubmitResult result = results.get(i);
      if (result.kind().isPlaced() && !watch.isConfirmed(submissions.get(i).queue(), result.generation())) {
        doubtful.add(submissions.get(i).queue());
        written.merge(result.id(), result.generation(), Math::max);
      }
    }
    return doubtful.isEmpty()
        ? CompletableFuture.completedFuture(results)
        : watch.confirm(doubtful).thenCompose(done -> ensureKept(written)).thenApply(done -> results);
  }

  /**
   * Ensures that tasks whose acknowledgement had to wait are still in a store that may lose its last writes: what it loses was
   * acknowledged shortly before, and not afterwards.
   */
  private CompletionStage<Void> ensureKept(Map<TaskId, Long> written) {
    CompletionStage<Void> kept = CompletableFuture.completedFuture(null);
    if (store.durability().windowMillis() == 0) {
      return kept;
    }
    for (Map.Entry<TaskId, Long> each : written.entrySet()) {
      CompletionStage<Optional<TaskRecord>> found = store.find(new TaskRef.ById(each.getKey()))
          .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
              new StoreException("the task was written, but whether the store has kept it cannot be read", failure)));
      kept = kept.thenCombine(found, (done, task) -> {
        if (task.filter(record -> hasReached(record, each.getValue())).isEmpty()) {
          throw new StoreException("the store does not have the task any more: task=" + each.getKey(), null);
        }
        return null;
      });
    }
    return kept;
  }

  private static boolean hasReached(TaskRecord task, long generation) {
    TaskRecord.Successor successor = task.successor();
    return task.generation() >= generation || (successor != null && successor.generation() >= generation);
  }

  /**
   * What the store is to write for these submissions, for a store that can write them as part of something larger, such as
   * the caller's own transaction. Once that is done, {@link #committed} makes them fire on the millisecond; without it the
   * head poll finds them, a tenth of a second late. A queue that is deleted while the transaction is open leaves the tasks
   * without one: they wait until it is created again, and this node warns of them.
   *
   * @throws UnknownQueueException if there is no such queue
   * @throws IllegalArgumentException if one can never work
   */
  public List<Draft> drafts(List<Submission> submissions) {
    ensureBatch(submissions.size());
    long now = storeMillis();
    long[] bits = random.next(2 * submissions.size());
    List<Draft> drafts = new ArrayList<>(submissions.size());
    for (int i = 0; i < submissions.size(); i++) {
      Submission submission = submissions.get(i);
      ensureOpen(submission.queue());
      drafts.add(draft(submission, now, bits[2 * i], (int) bits[2 * i + 1]));
    }
    return drafts;
  }

  /** Tells the engine that what {@link #drafts} gave is written and can be seen. */
  public void committed(List<Draft> drafts, List<SubmitResult> results) {
    submitted(drafts, results);
  }

  private static Draft draft(Submission submission, long now, long bits, int randomHash) {
    String key = submission.key();
    String idempotencyKey = submission.idempotencyKey();
    int hash = key != null
        ? SlotHash.of(submission.queue(), key)
        : idempotencyKey != null ? SlotHash.of(submission.queue(), idempotencyKey) : randomHash;
    Draft.Idempotency idempotency = idempotencyKey == null
        ? null
        : new Draft.Idempotency(idempotencyKey, Digest.of(submission));
    return new Draft(TaskId.of(now, hash, bits), submission.queue(), key, due(submission, now), submission.body(),
        submission.maxAttempts(), submission.onConflict(), idempotency);
  }

  private static Due due(Submission submission, long now) {
    if (submission.delay() != null) {
      return Due.after(QueueRegistry.ceilMillis(submission.delay()));
    }
    Instant dueAt = submission.dueAt();
    assert dueAt != null;
    if (dueAt.getEpochSecond() > (now + Limits.MAX_DELAY_MILLIS) / 1_000) {
      throw new IllegalArgumentException("a task is due within 100 years: dueAt=" + dueAt);
    }
    if (dueAt.getEpochSecond() < 0) {
      return Due.at(0);
    }
    long millis = dueAt.toEpochMilli();
    return Due.at(dueAt.getNano() % 1_000_000 == 0 ? millis : millis + 1);
  }

  /** Rounded up: never early. */
  private void submitted(List<Draft> drafts, List<SubmitResult> results) {
    Tally tally = new Tally(meter, "");
    List<DueEntry> written = new ArrayList<>();
    long horizon = storeMillis() + options.windowMillis();
    for (int i = 0; i < drafts.size(); i++) {
      SubmitResult result = results.get(i);
      String queue = drafts.get(i).queue();
      tally.add(queue, result.kind());
      if (result.indexed() && result.dueAt() <= horizon) {
        written.add(new DueEntry(result.dueAt(), result.id(), queue));
      }
    }
    tally.tell();
    tell(written);
  }

  /** Tells the loops of index entries within the window. */
  private void tell(List<DueEntry> written) {
    if (written.isEmpty()) {
      return;
    }
    if (loops.length == 1) {
      loops[0].written(written);
      return;
    }
    for (EngineLoop loop : loops) {
      List<DueEntry> own = written.stream().filter(entry -> loopOf(entry.id()) == loop).toList();
      if (!own.isEmpty()) {
        loop.written(own);
      }
    }
  }

  @Override
  public CompletableFuture<List<TouchResult>> touch(String queue, List<String> keys, Duration delay) {
    return answering(() -> {
      ensureBatch(keys.size());
      Due due = Due.after(QueueRegistry.ceilMillis(ensureDelay(delay)));
      List<Touch> batch = new ArrayList<>(keys.size());
      for (String key : keys) {
        Limits.ensureKey(key);
        batch.add(new Touch(new TaskRef.ByKey(queue, key), due));
      }
      return withQueue(queue, known -> touches.call(batch, (long) ITEM_BYTES * keys.size()));
    });
  }

  private static Duration ensureDelay(Duration delay) {
    if (delay.isNegative() || delay.compareTo(Duration.ofMillis(Limits.MAX_DELAY_MILLIS)) > 0) {
      throw new IllegalArgumentException("a delay is from 0 to 100 years: delay=" + delay);
    }
    return delay;
  }

  private void touched(List<Touch> items, List<TouchResult> results) {
    List<DueEntry> written = new ArrayList<>();
    long horizon = storeMillis() + options.windowMillis();
    Tally tally = new Tally(meter, "touch_");
    for (int i = 0; i < items.size(); i++) {
      TouchResult result = results.get(i);
      TaskId id = result.id();
      // What is touched by its id has a queue that this call does not know: runNow tells the loop itself.
      if (items.get(i).ref() instanceof TaskRef.ByKey byKey) {
        tally.add(byKey.queue(), result.kind());
        if (result.indexed() && id != null && result.dueAt() <= horizon) {
          written.add(new DueEntry(result.dueAt(), id, byKey.queue()));
        }
      }
    }
    tally.tell();
    tell(written);
  }

  @Override
  public CompletableFuture<TouchResult> runNow(TaskId id) {
    return answering(() -> store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(TouchResult.NOT_FOUND);
      }
      return touches.call(List.of(new Touch(new TaskRef.ById(id), Due.NOW)), ITEM_BYTES).thenApply(results -> {
        TouchResult result = results.get(0);
        if (result.indexed()) {
          tell(List.of(new DueEntry(result.dueAt(), id, found.get().queue())));
        }
        return result;
      });
    }));
  }

  @Override
  public CompletableFuture<CancelResult> cancel(TaskRef ref) {
    return answering(() -> cancels.call(List.of(ref), ITEM_BYTES).thenApply(results -> results.get(0)));
  }

  // Reads.

  @Override
  public CompletableFuture<Optional<TaskRecord>> find(TaskRef ref) {
    return reading(() -> store.find(ref));
  }

  @Override
  public CompletableFuture<TaskPage> tasks(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return reading(() -> {
      if (limit < 1 || limit > MAX_PAGE) {
        throw new IllegalArgumentException("a page has from 1 to 1000 tasks: limit=" + limit);
      }
      return withQueue(queue, known -> store.query(queue, state, limit, cursor));
    });
  }

  @Override
  public CompletableFuture<Optional<Explanation>> explain(TaskId id) {
    return reading(() -> store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      TaskRecord task = found.get();
      return find(task.queue()).thenCompose(queue -> loopOf(id).laneStatus(task.queue()))
          .thenApply(lane -> Optional.of(Explainer.explain(task, lane.orElse(null), clock.monotonicNanos(),
              registry, storeMillis(), id.slot(store.slotCount()), options.node())));
    }));
  }

  // Redrive, pull, reports.

  @Override
  public CompletableFuture<List<RedriveResult>> redrive(String queue, List<TaskId> ids) {
    return answering(() -> {
      ensureBatch(ids.size());
      List<Redrive> items = ids.stream().map(id -> new Redrive(queue, id)).toList();
      return withQueue(queue, known -> {
        ensureOpen(queue);
        return redrives.call(items, (long) ITEM_BYTES * items.size());
      }).thenCompose(results -> redriven(queue, results));
    });
  }

  private CompletionStage<List<RedriveResult>> redriven(String queue, List<RedriveResult> results) {
    List<RedriveResult> live = results.stream().filter(result -> result.kind() == RedriveResult.Kind.REDRIVEN).toList();
    tell(live.stream().map(result -> new DueEntry(result.dueAt(), result.id(), queue)).toList());
    if (live.stream().allMatch(result -> watch.isConfirmed(queue, result.generation()))) {
      return CompletableFuture.completedFuture(results);
    }
    Map<TaskId, Long> written = new HashMap<>();
    live.forEach(result -> written.merge(result.id(), result.generation(), Math::max));
    return watch.confirm(List.of(queue)).thenCompose(done -> ensureKept(written)).thenApply(done -> results);
  }

  @Override
  public CompletableFuture<List<TaskRecord>> pull(Pull pull, CompletionStage<?> payloadsTaken) {
    return answering(() -> withQueue(pull.queue(), queue -> {
      if (!queue.target().type().equals(Target.PULL)) {
        throw new IllegalArgumentException("tasks are claimed from queues whose delivery is pull: queue=" + queue.name()
            + ", delivery=" + queue.target().type());
      }
      long leaseMillis = pull.leaseMillis() == 0 ? queue.target().timeout().toMillis() : pull.leaseMillis();
      LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(pull.max(), leaseMillis,
          clock.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(pull.waitMillis()), payloadsTaken);
      registry.shared(queue.name()).longPolls().add(waiter);
      for (EngineLoop loop : loops) {
        loop.asked(queue.name());
      }
      return waiter.answer();
    }));
  }

  @Override
  public CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next) {
    return report(id, token, "", (task, queue) -> next == null
        ? new Outcome.Finished()
        : QueueRegistry.again(ensureDelay(next)));
  }

  @Override
  public CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason) {
    long delayMillis = delay == null ? -1 : QueueRegistry.ceilMillis(ensureDelay(delay));
    return report(id, token, reason, (task, queue) -> {
      if (queue == null) {
        return new Outcome.Retry(Due.NOW);
      }
      return delayMillis < 0
          ? QueueRegistry.failed(task, queue, null, random.nextDouble())
          : QueueRegistry.failed(task, queue, delayMillis);
    });
  }

  private CompletableFuture<SettleResult> report(TaskId id, Token token, String detail,
      BiFunction<TaskRecord, @Nullable Queue, Outcome> outcome) {
    return reporting(() -> store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(new SettleResult(SettleResult.Kind.NOT_FOUND, TaskState.FINISHED, 0));
      }
      TaskRecord task = found.get();
      // The settle waits for a commit, and the payload must not stay in memory with it.
      String queue = task.queue();
      long claimedAt = task.claimedAt();
      long generation = task.generation();
      return find(queue).thenCompose(settings -> {
        Settlement settlement = new Settlement(id, generation, token, outcome.apply(task, settings.orElse(null)),
            claimedAt, detail);
        return settles.call(List.of(settlement), ITEM_BYTES);
      }).thenApply(results -> {
        SettleResult result = results.get(0);
        if (result.wakeAt() != 0) {
          tell(List.of(new DueEntry(result.wakeAt(), id, queue)));
        }
        if (result.kind() == SettleResult.Kind.SETTLED) {
          meter.settled(queue, result.state().name().toLowerCase(Locale.ROOT),
              Math.max(0, (storeMillis() - claimedAt) * 1_000));
        }
        return result;
      });
    }));
  }

  private void reported(List<Settlement> settlements, List<SettleResult> results) {
    for (int i = 0; i < settlements.size(); i++) {
      if (results.get(i).kind() == SettleResult.Kind.SETTLED) {
        loopOf(settlements.get(i).id()).reported(settlements.get(i).token());
      }
    }
  }

  @Override
  public CompletableFuture<ExtendResult> extend(TaskId id, Token token, Duration lease) {
    return reporting(() -> {
      if (lease.isNegative() || lease.isZero() || lease.compareTo(Duration.ofHours(24)) > 0) {
        throw new IllegalArgumentException("a lease is from 1 ms to 24 h: lease=" + lease);
      }
      return extensions.call(List.of(new Extension(id, token, QueueRegistry.ceilMillis(lease))), ITEM_BYTES)
          .thenApply(results -> results.get(0));
    });
  }

  // Queues.

  @Override
  public CompletableFuture<Queue> putQueue(Queue queue) {
    return answering(() -> {
      if (!queue.target().type().equals(Target.PULL)) {
        Delivery delivery = registry.delivery(queue.target());
        if (delivery == null) {
          throw new IllegalArgumentException("there is no delivery of that type here: type=" + queue.target().type()
              + ", known=" + registry.deliveries().stream().map(Delivery::type).sorted().toList() + " and pull");
        }
        delivery.check(queue.target());
      }
      return write(queue.name(), old -> queue, WRITE_TRIES);
    });
  }

  @Override
  public CompletableFuture<Queue> setPaused(String name, boolean paused) {
    return answering(() -> write(name, old -> {
      if (old == null) {
        throw new UnknownQueueException(name);
      }
      return old.withPaused(paused);
    }, WRITE_TRIES));
  }

  private CompletionStage<Queue> write(String name, Function<@Nullable Queue, Queue> change,
      int tries) {
    return store.document(DocumentKind.QUEUE, name).thenCompose(found -> {
      Queue old = found.map(document -> QueueCodec.decode(document.content())).orElse(null);
      long version = found.map(Document::version).orElse(0L);
      Queue changed = change.apply(old);
      return store.writeDocument(DocumentKind.QUEUE, name, version, QueueCodec.encode(changed)).thenCompose(written -> {
        if (written) {
          return refresh(name).thenApply(done -> changed);
        }
        if (tries <= 1) {
          throw new OverloadedException("too many write the settings of this queue at the same time: queue=" + name);
        }
        return write(name, change, tries - 1);
      });
    });
  }

  /** Reads the settings of one queue again. */
  private CompletionStage<Void> refresh(String name) {
    long changes = registry.changes();
    return store.document(DocumentKind.QUEUE, name).thenCompose(found -> {
      if (!registry.put(name, found.orElse(null), changes)) {
        return refresh(name);
      }
      changed(Set.of(name));
      return CompletableFuture.completedFuture(null);
    });
  }

  private void changed(Set<String> queues) {
    queues.forEach(this::reconfigure);
  }

  @Override
  public Optional<Queue> queue(String name) {
    return Optional.ofNullable(registry.queue(name));
  }

  @Override
  public CompletableFuture<Optional<Queue>> findQueue(String name) {
    return reading(() -> find(name));
  }

  private CompletableFuture<Optional<Queue>> find(String name) {
    return watch.find(name).thenApply(Optional::of)
        .exceptionallyCompose(failure -> GroupCommit.unwrapped(failure) instanceof UnknownQueueException
            ? CompletableFuture.completedFuture(Optional.empty())
            : CompletableFuture.failedFuture(failure));
  }

  @Override
  public CompletableFuture<List<QueueStatus>> queues() {
    return reading(() -> store.counts().thenApply(counts -> registry.queues().stream()
        .map(queue -> statusOf(queue, counts.getOrDefault(queue.name(), QueueCounts.NONE)))
        .sorted(Comparator.comparing(status -> status.queue().name())).toList()));
  }

  private QueueStatus statusOf(Queue queue, QueueCounts counts) {
    double rate = 0;
    long lagMillis = parkedHeads.overdueMillis(queue.name(), storeMillis());
    for (EngineLoop loop : loops) {
      LoopStatus status = loop.status();
      rate += status.settledPerSecond().getOrDefault(queue.name(), 0.0);
      lagMillis = Math.max(lagMillis, status.overdueElsewhere().getOrDefault(queue.name(), 0L));
      for (LaneStatus lane : status.lanes()) {
        if (lane.queue().equals(queue.name())) {
          lagMillis = Math.max(lagMillis, lane.oldestDueMillis());
        }
      }
    }
    return new QueueStatus(queue, counts, rate, Duration.ofMillis(lagMillis));
  }

  @Override
  public CompletableFuture<Boolean> deleteQueue(String name) {
    return answering(() -> deletions.delete(name));
  }

  // Status.

  @Override
  public ClusterStatus cluster() {
    Coordinator.View seen = view;
    Coordinator.Member me = self;
    List<Coordinator.Member> members = seen == null || seen.members().isEmpty() ? List.of(me) : seen.members();
    List<ClusterNode> nodes = members.stream().map(member -> new ClusterNode(member.node(), member.zone(),
        member.node().equals(me.node()) ? ownedSlots() : ownership.slotsOf(member.node()).size(),
        member.takesSlots(), member.clockOffsetMillis())).toList();
    return new ClusterStatus(options.node(), options.zone(), seen == null ? null : seen.leader(), nodes,
        store.slotCount(), ownedSlots(), store.kind(), store.durability(), environment.coordinator().kind(),
        loops[0].storeOffsetMicros());
  }

  private int ownedSlots() {
    int owned = 0;
    for (EngineLoop loop : loops) {
      owned += loop.ownedSlots();
    }
    return owned;
  }

  @Override
  public EngineStatus status() {
    List<LaneStatus> lanes = new ArrayList<>();
    int wheelEntries = 0;
    long oldest = parkedHeads.overdueMillis(storeMillis());
    for (EngineLoop loop : loops) {
      LoopStatus status = loop.status();
      lanes.addAll(status.lanes());
      wheelEntries += status.wheelEntries();
      oldest = Math.max(oldest, status.oldestDueMillis());
      oldest = status.overdueElsewhere().values().stream().reduce(oldest, Math::max);
    }
    return new EngineStatus(wheelEntries, merged(lanes), registry.destinations().stream()
        .map(one -> new DestinationStatus(one.name(), one.limit(), one.running())).toList(), oldest, unready(),
        registry.missing().names());
  }

  private List<String> unready() {
    if (failure.isDone()) {
      return List.of("the engine has failed: " + failure.join());
    }
    if (!running || stopped) {
      return List.of(stopped ? "the engine is stopping" : "the engine has not started");
    }
    Seal sealed = seal;
    List<String> reasons = new ArrayList<>();
    if (sealed != null) {
      reasons.add(sealed.reason());
    }
    for (int i = 0; i < loops.length; i++) {
      long stillNanos = loops[i].stillNanos();
      if (stillNanos > STALL_NANOS) {
        reasons.add("event loop " + i + " has not turned for " + TimeUnit.NANOSECONDS.toMillis(stillNanos) + " ms");
      } else if (!loops[i].status().isStoreServing()) {
        reasons.add("the store does not answer, or refuses writes");
      }
    }
    return reasons.stream().distinct().toList();
  }

  /** The lanes of one queue on several loops, as one. */
  private static List<LaneStatus> merged(List<LaneStatus> lanes) {
    Map<String, LaneStatus> byQueue = new TreeMap<>();
    for (LaneStatus lane : lanes) {
      byQueue.merge(lane.queue(), lane,
          (a, b) -> new LaneStatus(a.queue(), a.waiting() + b.waiting(), a.running() + b.running(),
              a.parkedElsewhere() || b.parkedElsewhere(), Math.max(a.oldestDueMillis(), b.oldestDueMillis())));
    }
    return List.copyOf(byQueue.values());
  }

  private void eachSecond() {
    parkedHeads.turn();
    refresh();
  }

  /** Once a second: reads whether the store is sealed, and undoes what other nodes have left off. */
  private void refresh() {
    deletions.takeBackLeftOff();
    if (!store.isShared()) {
      return;
    }
    guardClock(loops[0].storeOffsetMicros() / 1_000);
    if (isCoordinated()) {
      ownership.eachSecond();
    }
    store.document(DocumentKind.CLUSTER, Seal.NAME).whenComplete((found, failure) -> {
      if (found != null) {
        sealed(found.map(document -> Seal.decode(document.content())).orElse(null));
      }
    });
  }

  /**
   * Due times are reckoned by the store's clock, whatever this node's says. But a node whose clock is far off is not one to rely
   * on, and what it signs and shows is dated wrongly: it leaves the slots to others, and says so, until its clock is set.
   */
  private void guardClock(long offsetMillis) {
    Coordinator.Member before = self;
    boolean isRight = Math.abs(offsetMillis) <= options.maxClockOffsetMillis();
    if (isRight == before.takesSlots() && Math.abs(offsetMillis - before.clockOffsetMillis()) < OFFSET_STEP_MILLIS) {
      return;
    }
    Coordinator.Member now = new Coordinator.Member(before.node(), before.zone(), isRight, offsetMillis);
    self = now;
    environment.coordinator().update(now);
    if (isRight != before.takesSlots() && isCoordinated()) {
      if (isRight) {
        LOG.log(System.Logger.Level.INFO, "this node's clock is right again; it takes slots");
      } else {
        LOG.log(System.Logger.Level.ERROR, "this node''s clock is {0} ms {1} that of the store, and {2} ms are allowed:"
            + " it takes no slots until the clock is set (NTP)", Math.abs(offsetMillis),
            offsetMillis > 0 ? "behind" : "ahead of", options.maxClockOffsetMillis());
      }
      ownership.takesSlots(isRight);
    }
  }

  private void sealed(@Nullable Seal found) {
    if (!Objects.equals(found, seal)) {
      LOG.log(System.Logger.Level.WARNING, found == null ? "the store is open again" : found.reason());
      seal = found;
      for (EngineLoop loop : loops) {
        loop.sealed(found == null ? null : found.state());
      }
    }
  }

  // The end.

  @Override
  public CompletableFuture<Void> stop(Duration patience) {
    if (stopped) {
      return CompletableFuture.completedFuture(null);
    }
    stopped = true;
    // The others take over while this node still does what it did, and then what was begun here comes to its end.
    environment.coordinator().close();
    Coordinator.View seen = view;
    long afterNanos = seen != null && seen.members().size() > 1 ? HAND_OVER_NANOS : 0;
    long untilNanos = clock.monotonicNanos() + patience.toNanos();
    List<CompletableFuture<Boolean>> drained = new ArrayList<>();
    for (EngineLoop loop : loops) {
      drained.add(running ? loop.drain(afterNanos, patience.toNanos()) : CompletableFuture.completedFuture(true));
    }
    return CompletableFuture.allOf(drained.toArray(CompletableFuture<?>[]::new))
        .thenCompose(
            done -> running && store.isShared() ? ledger.leave(untilNanos) : CompletableFuture.completedFuture(null))
        .thenRun(() -> {
          if (!drained.stream().allMatch(CompletableFuture::join)) {
            LOG.log(System.Logger.Level.WARNING,
                "attempts were still under way when patience ended; they are repeated when their leases end");
          }
          for (EngineLoop loop : loops) {
            loop.close();
          }
          environment.deliveries().forEach(Delivery::close);
        });
  }

  @Override
  public void close() {
    stop(PATIENCE).join();
  }
}
