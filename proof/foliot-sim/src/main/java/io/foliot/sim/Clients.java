package io.foliot.sim;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.QueueInUseException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Draft;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import io.foliot.engine.Engine;
import io.foliot.history.Event;
import io.foliot.history.History;
import io.foliot.history.Reply;
import io.foliot.history.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The clients. They make random calls through random nodes, and report the ends of accepted attempts. */
final class Clients implements SimReceiver.Listener {
  /** A queue whose limit of {@value #LIMIT} concurrent attempts never changes. */
  static final String LIMITED = "narrow";
  static final int LIMIT = 3;
  /** A queue that is put and deleted repeatedly, each time through a random node. */
  static final String BRIEF = "brief";
  /** The queues that exist during the whole run. */
  static final List<String> QUEUES = List.of("plain", LIMITED, "slow");

  private static final int KEYS = 12;
  /** Number of devices. A beat resets the tasks of the devices in one call. A second beat follows each first beat. */
  private static final int DEVICES = 20;
  /** Time from one first beat to the next. */
  private static final long BEAT_MILLIS = 4_700;
  /** Delay that a first beat gives to its tasks. */
  private static final long SILENCE_MILLIS = 4_000;
  /**
   * Time from a first beat to its second beat. A second beat moves no index entry, so the entry of a task comes due
   * before the task.
   */
  private static final long SECOND_BEAT_MILLIS = 300;
  /** Pause between two repairs of queues that a late write has changed. */
  private static final long REPAIR_MILLIS = 2_000;
  /** Delay that a second beat gives to its tasks: they are due after the next first beat. */
  private static final long LONGER_SILENCE_MILLIS = SILENCE_MILLIS + 600;
  /** Maximum number of ids that are kept for later calls. */
  private static final int REMEMBERED = 50;
  private static final int MAX_BATCH = 40;
  private static final int ATTEMPTS = 50;
  /** Virtual time at which random calls stop changing the settings of queues. */
  private static final long LAST_CHANGE_NANOS = 40_000_000_000L;
  private static final List<OnConflict> CONFLICTS = List.copyOf(EnumSet.allOf(OnConflict.class));

  private final Sim sim;
  private final Schedule schedule;
  private final History history;
  private final SplittableRandom random;
  private final SimStore store;
  private final List<SimNode> nodes;
  private final Callers callers;
  private final List<TaskId> seenIds = new ArrayList<>();
  private final List<TaskRecord> refused = new ArrayList<>();
  private final Map<String, Long> restoredMillis = new HashMap<>();
  private final long backoffMillis;
  private final boolean hasDevices;
  private final Set<TaskId> ackedInBrief = new HashSet<>();
  private final Consumer<String> unmet;
  private boolean over;

  /** @param unmet receives a message for each checked rule that was broken */
  Clients(Sim sim, History history, SplittableRandom random, SimStore store, List<SimNode> nodes,
      Consumer<String> unmet) {
    this.unmet = unmet;
    store.watchDeletions(this::deleted);
    this.sim = sim;
    schedule = sim.schedule();
    this.history = history;
    this.random = random;
    this.store = store;
    this.nodes = nodes;
    callers = new Callers(schedule, random, store, nodes);
    backoffMillis = oneOf(10, 300);
    hasDevices = random.nextBoolean();
  }

  /** Sends the heartbeats of the devices until the end, in half of the runs. Some devices miss some beats. */
  void beat() {
    if (over || !hasDevices) {
      return;
    }
    List<String> alive = new ArrayList<>();
    for (int i = 0; i < DEVICES; i++) {
      alive.add("device-" + i);
    }
    if (random.nextInt(5) == 0) {
      submit(alive.stream()
          .map(device -> Submission.builder(QUEUES.get(0)).delay(Duration.ofMillis(SILENCE_MILLIS)).body(Body.EMPTY)
              .key(device).build())
          .toList(), SILENCE_MILLIS);
    } else {
      alive.removeIf(device -> random.nextInt(30) == 0);
      touch(QUEUES.get(0), alive, SILENCE_MILLIS);
    }
    schedule.afterMillis(SECOND_BEAT_MILLIS, () -> touch(QUEUES.get(0), alive, LONGER_SILENCE_MILLIS));
    schedule.afterMillis(BEAT_MILLIS, this::beat);
  }

  /** Puts the queues with their intended settings, and repeats each put until it succeeds. */
  void putQueues() {
    for (String queue : QUEUES) {
      putQueue(queue);
    }
  }

  private void putQueue(String name) {
    callers.untilDone(engine -> engine.putQueue(queue(name))
        .thenAccept(put -> restoredMillis.put(name, schedule.nowMillis())));
  }

  /**
   * Ends the random calls, and puts the queues, which overwrites a change that a client was about to write. If a call
   * has failed, its write may still take effect later, because a failover may make the expected version of the write
   * valid again, or because the node that makes the call was suspended. So until the latest possible time of such a
   * write, the queues that differ are put again every {@link #REPAIR_MILLIS}.
   */
  void end() {
    over = true;
    restoredMillis.clear();
    putQueues();
    putQueue(BRIEF);
    long last = 2 * store.behaviour().patienceMillis() + StoreLink.MAX_STRAY_MILLIS;
    for (long millis = REPAIR_MILLIS; millis < last + REPAIR_MILLIS; millis += REPAIR_MILLIS) {
      schedule.afterMillis(Math.min(millis, last), this::putQueuesThatDiffer);
    }
  }

  private void putQueuesThatDiffer() {
    for (String name : QUEUES) {
      boolean known = nodes.stream().filter(SimNode::isWell).map(SimNode::engine).anyMatch(
          engine -> engine != null && engine.queue(name).map(queue -> queue.equals(queue(name))).orElse(false));
      if (!known) {
        putQueue(name);
      }
    }
  }

  /**
   * Returns the time at which a queue was put after the random calls, in ms; null while the queue may still be paused.
   */
  @Nullable
  Long restoredMillis(String name) {
    return restoredMillis.get(name);
  }

  /** Returns the intended settings of a queue. */
  QueueConfig queue(String name) {
    Retry retry = new Retry(ATTEMPTS, Duration.ofMillis(backoffMillis), 2,
        Duration.ofMillis(sim.world().maxBackoffMillis()), 0.5);
    Target target = new Target(SimReceiver.TYPE, Map.of(), Duration.ofMillis(sim.world().timeoutMillis()));
    QueueConfig.Builder queue = QueueConfig.builder(name, target).retry(retry).retainFinished(Duration.ofDays(1))
        .retainFailed(Duration.ofDays(1));
    return switch (name) {
      case LIMITED -> queue.concurrency(LIMIT).build();
      case "slow" -> queue.rate(20.0).priority(2).build();
      default -> queue.build();
    };
  }

  private long oneOf(long... values) {
    return values[random.nextInt(values.length)];
  }

  private <T> T oneOf(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** Makes one random call. */
  void act() {
    String queue = isCalm() ? QUEUES.get(0) : oneOf(QUEUES);
    String key = "k" + random.nextInt(KEYS);
    long delayMillis = oneOf(0, random.nextLong(200), random.nextLong(5_000), random.nextLong(40_000));
    Submission plain = Submission.after(queue, Duration.ofMillis(delayMillis), Body.EMPTY);
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> submit(List.of(plain), delayMillis);
      case 4, 5, 6, 7 -> submit(List.of(plain.toBuilder().key(key).onConflict(oneOf(CONFLICTS)).build()), delayMillis);
      case 8, 9 -> submitTwice(plain.toBuilder().idempotencyKey("i" + schedule.nowNanos()).build(), delayMillis);
      case 10, 11, 12 -> touch(queue, List.of(key), delayMillis);
      case 13, 14 -> cancel(seenIds.isEmpty() || random.nextBoolean()
          ? new TaskRef.ByKey(queue, key)
          : new TaskRef.ById(oneOf(seenIds)));
      case 15 -> runNow();
      case 16 -> submitMany(plain, delayMillis);
      case 17 -> redrive();
      case 18 -> {
        if (store.behaviour().kind() == SimStore.Kind.SQL && !isCalm()) {
          transact(plain, delayMillis);
        } else {
          submit(List.of(plain), delayMillis);
        }
      }
      default -> {
        if (!isCalm() && schedule.nowNanos() < LAST_CHANGE_NANOS) {
          changeQueue(queue);
        }
      }
    }
  }

  private boolean isCalm() {
    return sim.world().isCalm();
  }

  /**
   * Puts and deletes the brief queue, and submits to it before and after the deletion. Repeats this until
   * {@link #LAST_CHANGE_NANOS}.
   */
  void liveBriefly() {
    if (over || schedule.nowNanos() > LAST_CHANGE_NANOS) {
      return;
    }
    through((node, engine) -> engine.putQueue(queue(BRIEF)));
    for (int i = random.nextInt(3); i > 0; i--) {
      schedule.afterMillis(random.nextLong(1_000), this::submitToBrief);
    }
    schedule.afterMillis(random.nextLong(3_000), () -> through((node, engine) -> engine.deleteQueue(BRIEF)
        .whenComplete((deleted, failure) -> {
          if (failure != null && failure.getCause() instanceof QueueInUseException) {
            sim.coverage().count(Coverage.Case.DELETION_REFUSED);
          }
        })));
    for (int i = random.nextInt(4); i > 0; i--) {
      schedule.afterMillis(random.nextLong(8_000), this::submitToBrief);
    }
    schedule.afterMillis(1_000 + random.nextLong(9_000), this::liveBriefly);
  }

  private void submitToBrief() {
    if (over) {
      return;
    }
    long delayMillis = oneOf(0, random.nextLong(500), random.nextLong(20_000));
    Submission plain = Submission.after(BRIEF, Duration.ofMillis(delayMillis), Body.EMPTY);
    Submission submission = random.nextInt(3) == 0 ? plain.toBuilder().key("k" + random.nextInt(KEYS)).build() : plain;
    perform(List.of(request(submission, schedule.nowMillis() + delayMillis)),
        engine -> engine.submitAll(List.of(submission)), result -> {
          acknowledged(result);
          return placed(result);
        });
  }

  /** Checks that the queue of a task exists when the task is acknowledged. */
  private void acknowledged(SubmitResult result) {
    if (result.kind().isPlaced() && !mayForget()) {
      ackedInBrief.add(result.id());
      boolean isLive = store.peek(new TaskRef.ById(result.id())).filter(TaskRecord::isLive).isPresent();
      if (isLive && !store.hasQueue(BRIEF)) {
        unmet.accept("a task is acknowledged only while its queue exists: task=" + result.id());
      }
    }
  }

  /** Checks that a queue is deleted only while none of its acknowledged tasks is live. */
  private void deleted(String queue) {
    for (TaskRecord task : mayForget() ? List.<TaskRecord>of() : store.live()) {
      if (task.queue().equals(queue) && ackedInBrief.contains(task.id())) {
        unmet.accept("a queue is deleted only without live tasks: queue=" + queue + ", task=" + task.id());
      }
    }
  }

  /** Returns whether the store may lose an acknowledged write. */
  private boolean mayForget() {
    return store.behaviour().windowMillis() > 0;
  }

  /** Changes the settings of a random queue, or pauses the queue for up to 8 s. */
  void changeSomeQueue() {
    changeQueue(oneOf(QUEUES));
  }

  private void changeQueue(String name) {
    if (random.nextInt(3) == 0) {
      // The limit of this queue never changes, because the running tasks are checked against it.
      QueueConfig changed = name.equals(LIMITED)
          ? queue(name).toBuilder().priority((int) oneOf(-1, 1, 5)).build()
          : queue(name).toBuilder().rate(null).concurrency((int) oneOf(1, 5, 100)).build();
      through((node, engine) -> engine.putQueue(changed));
      return;
    }
    sim.coverage().count(Coverage.Case.QUEUE_PAUSED);
    through((node, engine) -> engine.setPaused(name, true));
    schedule.afterMillis(random.nextLong(8_000), () -> {
      if (!over) {
        callers.untilDone(engine -> engine.setPaused(name, false));
      }
    });
  }

  /** Makes a call once through a random node, without a record in the history. */
  private void through(BiFunction<SimNode, Engine, CompletionStage<?>> call) {
    SimNode node = callers.someNode();
    Engine engine = node == null ? null : node.engine();
    if (node != null && engine != null) {
      node.process().run(() -> {
        CompletionStage<?> called = call.apply(node, engine);
        assert called != null;
      });
    }
  }

  // Operations that the history records.

  /** Makes a call once through a random node, and records its requests and replies in the history. */
  private <T> void perform(List<Request> requests, Function<Engine, CompletableFuture<List<T>>> call,
      Function<T, Reply> reply) {
    SimNode node = callers.someNode();
    Engine engine = node == null ? null : node.engine();
    if (node == null || engine == null) {
      return;
    }
    List<Long> ops = requests.stream().map(request -> history.invoked(schedule.nowMillis(), request)).toList();
    // If the process dies, the history has no reply.
    node.process().run(() -> whenComplete(call.apply(engine), (results, failure) -> {
      sim.trace().add("client", failure == null ? "answered" : "failed", ops.get(0));
      for (int i = 0; i < ops.size(); i++) {
        history.answered(ops.get(i), schedule.nowMillis(),
            results == null ? failed(failure) : reply.apply(results.get(i)));
      }
    }));
  }

  private static <T> void whenComplete(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> then) {
    stage.whenComplete(then);
  }

  private <T> void perform(Request request, Function<Engine, CompletableFuture<T>> call, Function<T, Reply> reply) {
    perform(List.of(request), engine -> call.apply(engine).thenApply(List::of), reply);
  }

  /** Returns the reply of a failed call: failed if the call had no effect, else unknown. */
  private Reply failed(@Nullable Throwable failure) {
    Throwable cause = failure != null && failure.getCause() != null ? failure.getCause() : failure;
    if (cause instanceof OverloadedException) {
      sim.coverage().count(Coverage.Case.REFUSED_BY_OVERLOAD);
    }
    boolean undone = cause instanceof OverloadedException || cause instanceof UnknownQueueException
        || cause instanceof StoreAwayException;
    return undone ? new Reply.Failed(String.valueOf(cause)) : new Reply.Unknown(String.valueOf(cause));
  }

  private Request request(Submission submission, long dueMillis) {
    return new Request.Submit(submission.queue(), submission.key(), dueMillis,
        Request.OnConflict.valueOf(submission.onConflict().name()), submission.idempotencyKey());
  }

  private void submit(List<Submission> submissions, long delayMillis) {
    long dueMillis = schedule.nowMillis() + delayMillis;
    perform(submissions.stream().map(submission -> request(submission, dueMillis)).toList(),
        engine -> engine.submitAll(submissions), this::placed);
  }

  /** Submits twice, perhaps through different nodes, like a client that got no answer in time. */
  private void submitTwice(Submission submission, long delayMillis) {
    submit(List.of(submission), delayMillis);
    schedule.afterMillis(random.nextLong(3_000), () -> submit(List.of(submission), delayMillis));
  }

  private void submitMany(Submission submission, long delayMillis) {
    List<Submission> many = new ArrayList<>();
    for (int left = 1 + random.nextInt(MAX_BATCH); left > 0; left--) {
      many.add(random.nextInt(4) == 0 ? submission.toBuilder().key("k" + random.nextInt(KEYS)).build() : submission);
    }
    submit(many, delayMillis);
  }

  /** Submits within a transaction of the caller, which commits at a random time. */
  private void transact(Submission submission, long delayMillis) {
    long dueMillis = schedule.nowMillis() + delayMillis;
    long commitMillis = oneOf(random.nextLong(100), random.nextLong(5_000), random.nextLong(70_000));
    boolean notifiesEngine = random.nextBoolean();
    through((node, engine) -> {
      List<Draft> drafts;
      try {
        drafts = engine.drafts(List.of(submission)).stream().map(draft -> new Draft(draft.id(), draft.queue(),
            draft.key(), Due.at(dueMillis), draft.body(), draft.maxAttempts(), draft.onConflict(),
            draft.idempotency())).toList();
      } catch (UnknownQueueException e) {
        return CompletableFuture.failedFuture(e);
      }
      long op = history.invoked(schedule.nowMillis(), request(submission, dueMillis));
      store.clientCallBegan();
      schedule.afterMillis(commitMillis, () -> {
        store.clientCallEnded();
        commit(node, engine, drafts, op, notifiesEngine);
      });
      return CompletableFuture.completedFuture(true);
    });
  }

  private void commit(SimNode node, Engine engine, List<Draft> drafts, long op, boolean notifiesEngine) {
    if (store.isAway()) {
      history.answered(op, schedule.nowMillis(), new Reply.Failed("the transaction was rolled back"));
      return;
    }
    List<SubmitResult> results = store.take(Call.SUBMIT, "client", truth -> truth.submit(drafts)).toCompletableFuture()
        .join();
    long behindMillis = schedule.nowMillis() - results.get(0).dueAt();
    if (behindMillis > 0) {
      sim.coverage().count(Coverage.Case.COMMIT_AFTER_DUE);
    }
    if (behindMillis > 2_000) {
      sim.coverage().count(Coverage.Case.COMMIT_FAR_BEHIND_CURSOR);
    }
    sim.trace().add("client", "commits", behindMillis);
    history.answered(op, schedule.nowMillis(), placed(results.get(0)));
    if (notifiesEngine && engine.equals(node.engine())) {
      node.process().run(() -> engine.committed(drafts, results));
    }
  }

  private Reply placed(SubmitResult result) {
    if (!result.kind().isPlaced()) {
      return new Reply.Failed(result.kind().name());
    }
    remember(result.id());
    Reply.Result kind = switch (result.kind()) {
      case CREATED -> Reply.Result.CREATED;
      case RESET -> Reply.Result.RESET;
      case RESET_PENDING -> Reply.Result.RESET_PENDING;
      case KEPT -> Reply.Result.KEPT;
      case REPEATED -> Reply.Result.REPEATED;
      case REJECTED, MISMATCHED, CHANGED -> throw new IllegalStateException("not placed: " + result.kind());
    };
    return new Reply.Placed(kind, result.id().toString(), result.generation(), result.dueAt());
  }

  private void remember(TaskId id) {
    if (seenIds.size() < REMEMBERED) {
      seenIds.add(id);
    } else {
      seenIds.set(random.nextInt(REMEMBERED), id);
    }
  }

  private void touch(String queue, List<String> keys, long delayMillis) {
    List<Request> requests = new ArrayList<>();
    keys.forEach(key -> requests.add(new Request.Touch(queue, key, schedule.nowMillis() + delayMillis)));
    perform(requests, engine -> engine.touch(queue, keys, Duration.ofMillis(delayMillis)), Clients::touched);
  }

  private static Reply touched(TouchResult result) {
    TaskId id = result.id();
    return switch (result.kind()) {
      case RESET, RESET_PENDING -> new Reply.Placed(
          result.kind() == TouchResult.Kind.RESET ? Reply.Result.RESET : Reply.Result.RESET_PENDING, String.valueOf(id),
          result.generation(), result.dueAt());
      case NOT_FOUND -> new Reply.NotFound();
      case ALREADY_FINISHED -> new Reply.Failed("already finished");
    };
  }

  private void cancel(TaskRef ref) {
    perform(new Request.Cancel(target(ref)), engine -> engine.cancel(ref), result -> switch (result.kind()) {
      case CANCELLED -> new Reply.Cancelled(Reply.CancelResult.CANCELLED, result.generation());
      case CANCEL_PENDING -> new Reply.Cancelled(Reply.CancelResult.CANCEL_PENDING, result.generation());
      case ALREADY_FINISHED -> new Reply.Cancelled(Reply.CancelResult.ALREADY_FINISHED, result.generation());
      case NOT_FOUND -> new Reply.NotFound();
    });
  }

  private static io.foliot.history.Target target(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> new io.foliot.history.Target.Task(byId.id().toString());
      case TaskRef.ByKey byKey -> new io.foliot.history.Target.Key(byKey.queue(), byKey.key());
    };
  }

  private void runNow() {
    if (!seenIds.isEmpty()) {
      TaskId id = oneOf(seenIds);
      perform(new Request.RunNow(new io.foliot.history.Target.Task(id.toString())), engine -> engine.runNow(id),
          Clients::touched);
    }
  }

  private void redrive() {
    if (refused.isEmpty()) {
      return;
    }
    TaskRecord task = refused.remove(random.nextInt(refused.size()));
    perform(new Request.Redrive(task.queue(), task.id().toString()),
        engine -> engine.redrive(task.queue(), List.of(task.id())), results -> redriven(results.get(0)));
  }

  private static Reply redriven(RedriveResult result) {
    return switch (result.kind()) {
      case REDRIVEN -> new Reply.Placed(Reply.Result.CREATED, result.id().toString(), result.generation(),
          result.dueAt());
      case CONFLICT, NOT_FAILED -> new Reply.Failed(result.kind().name());
      case NOT_FOUND -> new Reply.NotFound();
    };
  }

  // Calls from the receiver.

  @Override
  public void refused(TaskRecord task) {
    refused.add(task);
  }

  @Override
  public void accepted(TaskRecord task, long delivery) {
    boolean fails = random.nextInt(5) == 0;
    history.replied(delivery, schedule.nowMillis(), fails ? Event.Reception.RETRY : Event.Reception.SUCCESS);
    sim.coverage().count(Coverage.Case.REPORTED_LATER);
    callers.report(task, fails);
    if (random.nextInt(3) == 0) {
      sim.coverage().count(Coverage.Case.REPORTED_TWICE);
      schedule.afterMillis(random.nextLong(3_000), () -> callers.report(task, fails));
    }
  }
}
