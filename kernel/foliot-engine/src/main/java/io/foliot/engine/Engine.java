package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskReason;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SealedException;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.format.SealFormat;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.engine.coordination.StoreCoordinator;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The engine: a {@link Scheduler} over a store, with event loops that fire due tasks. This class wires the parts of a
 * node and passes each call on; any thread may call.
 *
 * <ul>
 * <li>{@link CallGate}: whether a call is accepted at all
 * <li>{@link TaskCalls}, {@link ReportCalls}, {@link QueueSettings}, {@link QueueDeletions}: the calls
 * <li>{@link QueueRegistry} and {@link QueueWatch}: the queues as this node last read them
 * <li>{@link LoopGroup} of {@link EngineLoop}s: firing
 * <li>{@link Membership}, {@link ClusterPermits}: the cluster
 * <li>{@link NodeStatus}, {@link Explainer}: status and explanations
 * </ul>
 */
public final class Engine implements Scheduler {
  private static final System.Logger LOG = System.getLogger(Engine.class.getName());
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int MAX_PAGE = 1_000;
  /** Time that a leaving node keeps firing. In this time the other nodes read that they now own its slots. */
  private static final long HAND_OVER_NANOS = 3 * StoreCoordinator.POLL.toNanos();

  private final Environment environment;
  private final TaskStore store;
  private final TimeSource clock;
  private final CallGate gate;
  private final QueueRegistry registry;
  private final LoopGroup loops;
  private final ClusterPermits permits;
  private final ParkedHeads parkedHeads;
  private final QueueWatch watch;
  private final QueueSettings settings;
  private final QueueDeletions deletions;
  private final Membership membership;
  private final TaskCalls tasks;
  private final ReportCalls reports;
  private final EndHints hints;
  private final FleetKeeper fleet;
  private final NodeStatus status;
  /** Completes when the engine has stopped; null until the first call of {@link #stop}. Guarded by this. */
  private @Nullable CompletableFuture<Void> stopped;

  /** Creates an engine that is not yet started. */
  public Engine(EngineOptions options, Environment environment) {
    this.environment = environment;
    store = environment.store();
    clock = environment.clock();
    RandomSource random = new RandomSource(environment.random());
    registry = new QueueRegistry(store, clock, environment.deliveries(), options, this::requestPermits);
    StoreOutage outage = new StoreOutage(options.loops());
    gate = new CallGate(() -> outage.isAway(clock.monotonicNanos()));
    RoomGate room = new RoomGate();
    hints = new EndHints(environment.deliveries(), this::wakeAwaiting);
    loops = new LoopGroup(options.loops(), store.slotCount(),
        (index, share) -> new EngineLoop(options, environment, environment.loops().get(), registry, outage, room,
            hints, random, share, index == 0 ? this::eachSecond : () -> {}, index == 0 ? this::eachTurn : nanos -> {}));
    EngineLoop first = loops.get(0);
    for (Delivery delivery : environment.deliveries()) {
      delivery.queuesKnown(name -> Optional.ofNullable(registry.callersQueue(name)));
      ServedQueues served = delivery.servedQueues();
      if (served != null) {
        served.addListener(loops::changed);
      }
    }
    parkedHeads = new ParkedHeads(store, first.inbox());
    loops.forEach(loop -> {
      CompletableFuture<Void> unused = loop.death().thenAccept(this::failed);
    });
    membership = new Membership(options, store, clock, environment.coordinator(), loops);
    permits = new ClusterPermits(store, clock, registry, options.node(), random.next(1)[0], first.inbox());
    watch = new QueueWatch(store, registry, clock, first.inbox(),
        queues -> queues.forEach(loops::changed));
    settings = new QueueSettings(store, registry, loops::changed);
    deletions = new QueueDeletions(store, registry, clock, settings::refresh);
    tasks = new TaskCalls(options, store, registry, watch, loops, random, clock, environment.meter());
    fleet = new FleetKeeper(store, registry, options, first.inbox(), membership::isGone);
    reports = new ReportCalls(options, store, registry, watch, loops, room, hints, fleet.roster(), random, clock,
        environment.meter());
    status = new NodeStatus(options, environment, registry, loops, parkedHeads, membership, gate);
  }

  // Life.

  /**
   * Reads the queues and begins to fire.
   *
   * @return a future that completes when the engine serves; fails if the store does not answer, or is sealed
   */
  public CompletableFuture<Void> start() {
    return loops.measureClocks().thenCompose(read -> store.document(DocumentKind.CLUSTER, StoreSeal.NAME))
        .thenCompose(found -> {
          if (found.isPresent()) {
            throw new SealedException(SealFormat.decode(found.get().content()));
          }
          return QueueWatch.read(store, clock)
              .thenApply(read -> registry.replaceAll(read.documents(), registry.changes(), read.at()));
        }).thenAccept(queues -> {
          assert queues != null;
          loops.forEach(EngineLoop::start);
          membership.join();
          gate.open();
        });
  }

  private void failed(Throwable cause) {
    gate.fail(cause);
    LOG.log(System.Logger.Level.ERROR,
        "an event loop has ended, and this engine has stopped working; close it and start a new one, or end the"
            + " process",
        cause);
  }

  @Override
  public CompletableFuture<Throwable> failure() {
    return gate.failure().copy();
  }

  /** Requests permits of the cluster, because a task waits for one. */
  private void requestPermits() {
    permits.requestPermits();
  }

  /** Does the work that is done once per node, not once per loop. Called in each turn of the first loop. */
  private void eachTurn(long nowNanos) {
    watch.turn(nowNanos);
    deletions.turn(nowNanos);
    hints.turn(nowNanos);
    fleet.turn(nowNanos);
    if (store.isShared()) {
      permits.turn(nowNanos);
    }
  }

  /**
   * Wakes tasks that wait for the end of another task. If this fails, the waiting task finds the end itself, later.
   */
  private void wakeAwaiting(String queue, List<String> keys) {
    CompletableFuture<?> unused = wake(queue, keys).whenComplete((woken, failure) -> {
      if (failure != null) {
        LOG.log(System.Logger.Level.DEBUG, "tasks that wait for others were not woken: queue=" + queue, failure);
      }
    });
  }

  /** Does the work that is done once a second per node, not per loop. Called by the first loop. */
  private void eachSecond() {
    parkedHeads.turn();
    deletions.takeBackAbandoned();
    boolean hasOthers = membership.hasOthers();
    loops.forEach(loop -> loop.others(hasOthers));
    if (store.isShared()) {
      membership.eachSecond(loops.get(0).storeOffsetMicros() / 1_000);
      store.document(DocumentKind.CLUSTER, StoreSeal.NAME).whenComplete((found, failure) -> {
        if (found != null) {
          sealed(found.map(Engine::seal).orElse(null));
        }
      });
    }
  }

  /**
   * Returns the seal in a document. If the document cannot be decoded, for example because a newer version wrote it,
   * the store's tasks may already be in another store. The returned seal then has the state DRAINING.
   */
  private static StoreSeal seal(Document document) {
    try {
      return SealFormat.decode(document.content());
    } catch (UnreadableException e) {
      return StoreSeal.of(StoreSeal.State.DRAINING, "unknown: " + e.getMessage());
    }
  }

  private void sealed(@Nullable StoreSeal found) {
    if (!Objects.equals(found, gate.seal())) {
      if (found == null) {
        LOG.log(System.Logger.Level.WARNING, "the store is open again");
      } else {
        LOG.log(System.Logger.Level.WARNING,
            "the store is sealed; this node claims nothing until it is open: state={0}, other={1}", found.state(),
            found.other());
      }
      gate.seal(found);
      loops.sealed(found == null ? null : found.state());
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>This node keeps firing while other nodes take over its slots. Then it claims nothing more, and waits for its
   * attempts to end.
   */
  @Override
  public synchronized CompletableFuture<Void> stop(Duration patience) {
    if (stopped == null) {
      stopped = drain(patience);
    }
    return stopped.copy();
  }

  private CompletableFuture<Void> drain(Duration patience) {
    gate.stop();
    boolean hasHeirs = membership.leave();
    if (hasHeirs) {
      fleet.leave();
    }
    long afterNanos = hasHeirs ? HAND_OVER_NANOS : 0;
    long untilNanos = clock.monotonicNanos() + patience.toNanos();
    boolean runs = gate.isRunning();
    CompletableFuture<Boolean> drained = runs
        ? loops.drain(afterNanos, patience.toNanos())
        : CompletableFuture.completedFuture(true);
    return drained.thenCompose(done -> (runs && store.isShared()
        ? permitsLeft(untilNanos)
        : CompletableFuture.<Void>completedFuture(null)).thenRun(() -> closed(done)));
  }

  /** Gives up the permits of this node, unless the loop that does so is dead. */
  private CompletableFuture<Void> permitsLeft(long untilNanos) {
    CompletableFuture<Void> left = permits.leave(untilNanos);
    CompletableFuture<Void> unused = loops.get(0).death().thenAccept(cause -> left.complete(null));
    return left;
  }

  private void closed(boolean isDrained) {
    if (!isDrained) {
      LOG.log(System.Logger.Level.WARNING,
          "attempts were still under way when patience ended; they are repeated when their leases end");
    }
    loops.forEach(EngineLoop::close);
    environment.deliveries().forEach(Delivery::close);
  }

  @Override
  public void close() {
    stop(PATIENCE).join();
  }

  // Tasks.

  @Override
  public CompletableFuture<SubmitResult> submit(Submission submission) {
    return submitAll(List.of(submission)).thenApply(results -> results.get(0));
  }

  @Override
  public CompletableFuture<List<SubmitResult>> submitAll(List<Submission> submissions) {
    return gate.write(() -> tasks.submitAll(submissions));
  }

  /**
   * Returns the drafts of these submissions, for a store that can write them as part of a larger write, such as the
   * caller's own transaction. Once the write is visible, the caller should call {@link #committed}; the tasks then fire
   * on the millisecond. Without that call a head poll finds them, usually at most a tenth of a second late. If a queue
   * is deleted while the transaction is open, its tasks wait until the queue is created again, and this node logs a
   * warning.
   *
   * @throws UnknownQueueException if there is no such queue
   * @throws OverloadedException if a queue is being deleted
   * @throws IllegalArgumentException if a submission is invalid
   * @throws NotServingException if the engine does not run, or the store is sealed
   * @throws FailedException if the engine has failed
   */
  public List<Draft> drafts(List<Submission> submissions) {
    ensureAcceptsWrites();
    return tasks.drafts(submissions);
  }

  /**
   * Ensures that calls which change tasks are accepted now. A caller that writes to the store itself, as part of its
   * own transaction, calls this before each such write.
   *
   * @throws NotServingException if the engine does not run, or the store is sealed
   * @throws FailedException if the engine has failed
   */
  public void ensureAcceptsWrites() {
    RuntimeException refusal = gate.refusal(true);
    if (refusal != null) {
      throw refusal;
    }
  }

  /** Informs the engine that the drafts of {@link #drafts} are written and visible. */
  public void committed(List<Draft> drafts, List<SubmitResult> results) {
    tasks.submitted(drafts, results);
  }

  /**
   * Writes tasks of internal queues ({@link Delivery#internalQueues}), which then fire on the millisecond. This is for
   * deliveries that keep state in such tasks; other callers use {@link #submitAll}.
   */
  public CompletableFuture<List<SubmitResult>> write(List<Draft> drafts) {
    return gate.write(() -> tasks.write(drafts));
  }

  /** Makes tasks of an internal queue due now; tasks that do not exist are not created. */
  public CompletableFuture<List<TouchResult>> wake(String queue, List<String> keys) {
    return gate.write(() -> tasks.wake(queue, keys));
  }

  @Override
  public CompletableFuture<List<TouchResult>> touch(String queue, List<String> keys, Duration delay) {
    return gate.write(() -> tasks.touch(queue, keys, delay));
  }

  @Override
  public CompletableFuture<TouchResult> runNow(TaskId id) {
    return gate.write(() -> tasks.runNow(id));
  }

  @Override
  public CompletableFuture<CancelResult> cancel(TaskRef ref) {
    return gate.write(() -> tasks.cancel(ref));
  }

  @Override
  public CompletableFuture<List<RedriveResult>> redrive(String queue, List<TaskId> ids) {
    return gate.write(() -> tasks.redrive(queue, ids));
  }

  @Override
  public CompletableFuture<Optional<TaskRecord>> find(TaskRef ref) {
    return gate.read(() -> store.find(ref));
  }

  @Override
  public CompletableFuture<RecordPage> tasks(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return gate.read(() -> {
      if (limit < 1 || limit > MAX_PAGE) {
        throw new IllegalArgumentException("a page has from 1 to 1000 tasks: limit=" + limit);
      }
      return watch.withQueue(queue, known -> store.query(queue, state, limit, cursor));
    });
  }

  @Override
  public CompletableFuture<Optional<Explanation>> explain(TaskId id) {
    return gate.read(() -> store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      TaskRecord task = found.get();
      int slot = id.slot(store.slotCount());
      return watch.findAny(task.queue()).thenCompose(queue -> loops.loopOf(id).laneStatus(task.queue()))
          .thenApply(lane -> Optional.of(
              new Explainer(registry, task, lane.orElse(null), clock.monotonicNanos(), loops)
                  .explain(slot, membership.owner(slot), fleet.heldBack(task.queue()))));
    }));
  }

  // Workers.

  @Override
  public CompletableFuture<Pulled> pull(Pull pull, CompletionStage<?> payloadsTaken, CompletionStage<?> gone) {
    return gate.write(() -> reports.pull(pull, payloadsTaken, gone));
  }

  @Override
  public CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next, TaskNote note) {
    return gate.report(() -> reports.ack(id, token, next, note));
  }

  @Override
  public CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason,
      TaskNote note) {
    return gate.report(() -> reports.nack(id, token, delay, reason, note));
  }

  @Override
  public CompletableFuture<SettleResult> giveBack(TaskId id, Token token, String reason) {
    return gate.report(() -> reports.giveBack(id, token, reason));
  }

  @Override
  public CompletableFuture<SettleResult> notBegun(TaskId id, Token token, String reason, TaskNote note) {
    return gate.report(() -> reports.notBegun(id, token, reason, note));
  }

  @Override
  public CompletableFuture<SettleResult> fail(TaskId id, Token token, String reason, TaskNote note) {
    return gate.report(() -> reports.fail(id, token, reason, note));
  }

  @Override
  public CompletableFuture<Extended> extend(TaskId id, Token token, Duration lease, TaskNote note,
      WorkerId caller) {
    return gate.report(() -> reports.extend(id, token, lease, note, caller));
  }

  @Override
  public Set<TaskReason> heldBack(String queue) {
    return fleet.heldBack(queue);
  }

  @Override
  public Fleet fleet() {
    return fleet.fleet();
  }

  @Override
  public void left(WorkerId worker, String queue) {
    reports.left(worker, queue);
    fleet.left();
  }

  @Override
  public CompletableFuture<Boolean> enableWorker(String worker, boolean isEnabled) {
    return gate.write(() -> fleet.enable(worker, isEnabled));
  }

  // Queues.

  @Override
  public CompletableFuture<QueueConfig> putQueue(QueueConfig queue) {
    return gate.write(() -> settings.put(queue));
  }

  @Override
  public CompletableFuture<QueueConfig> changeQueue(String name, UnaryOperator<QueueConfig> change) {
    return gate.write(() -> settings.change(name, change));
  }

  @Override
  public CompletableFuture<QueueConfig> setPaused(String name, boolean paused) {
    return gate.write(() -> settings.setPaused(name, paused));
  }

  @Override
  public CompletableFuture<Boolean> deleteQueue(String name) {
    return gate.write(() -> deletions.delete(name));
  }

  @Override
  public Optional<QueueConfig> queue(String name) {
    return Optional.ofNullable(registry.callersQueue(name));
  }

  @Override
  public CompletableFuture<Optional<QueueConfig>> findQueue(String name) {
    return gate.read(() -> watch.findAny(name));
  }

  /** Returns the names of the callers' queues, as this node has read them last. */
  public List<String> queueNames() {
    return registry.callersQueues().stream().map(QueueConfig::name).sorted().toList();
  }

  @Override
  public CompletableFuture<List<QueueStatus>> queues() {
    return gate.read(() -> store.counts().thenApply(status::queues));
  }

  // Status.

  @Override
  public ClusterStatus cluster() {
    return status.cluster();
  }

  @Override
  public EngineStatus status() {
    return status.engine();
  }
}
