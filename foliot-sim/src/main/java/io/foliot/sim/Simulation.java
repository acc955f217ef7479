package io.foliot.sim;

import io.foliot.core.Body;
import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.OnConflict;
import io.foliot.core.Queue;
import io.foliot.core.Retry;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.Submission;
import io.foliot.core.Target;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.coordination.SoleCoordinator;
import io.foliot.core.engine.Engine;
import io.foliot.core.engine.EngineOptions;
import io.foliot.core.engine.Environment;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import io.foliot.sim.history.Allowances;
import io.foliot.sim.history.Event;
import io.foliot.sim.history.History;
import io.foliot.sim.history.HistoryChecker;
import io.foliot.sim.history.Reply;
import io.foliot.sim.history.Request;
import io.foliot.sim.history.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The engine under one thread and a virtual clock: two minutes of submits, touches, cancels and run-nows on one node, with
 * a store that is slow and loses answers, a receiver with bad habits, crashes and steps of the clock; then everything
 * heals, and the history is judged. Everything follows from the seed, the engine's own settings too.
 */
public final class Simulation {
  private static final long CHAOS_MILLIS = 120_000;
  private static final long HEALED_MILLIS = 300_000;
  private static final long TIMEOUT_MILLIS = 2_000;
  private static final long MAX_BACKOFF_MILLIS = 5_000;
  private static final int KEYS = 12;
  private static final int REMEMBERED = 50;
  private static final List<OnConflict> CONFLICTS = List.copyOf(EnumSet.allOf(OnConflict.class));
  private static final String[] QUEUES = {"plain", "narrow", "slow"};

  /**
   * What came of a run.
   *
   * @param verdict of the history checker
   * @param traceHash the same for the same seed
   * @param crashes how often the node died
   * @param storeFailures how many calls of the store failed
   */
  public record Outcome(Verdict verdict, long traceHash, int crashes, int storeFailures) {}

  private final SplittableRandom luck;
  private final Schedule schedule = new Schedule();
  private final History history = History.inMemory();
  private final SimStore store;
  private final EngineOptions options;
  private final long latencyMicros;
  private final List<TaskId> seenIds = new ArrayList<>();

  private final List<EventLoop> loops = new ArrayList<>();

  private @Nullable Engine engine;
  private @Nullable SimReceiver receiver;
  private Schedule.NodeClock clock = new Schedule.NodeClock(schedule);
  private int life;
  private int crashes;
  private boolean healed;

  private Simulation(long seed, SimStore.Bug bug) {
    luck = new SplittableRandom(seed);
    latencyMicros = oneOf(100, 2_000, 50_000);
    store = new SimStore(1 << luck.nextInt(6), schedule, luck.split(),
        new SimStore.Manners(latencyMicros, (int) oneOf(0, 5, 50), bug));
    options = EngineOptions.defaults("node").withLoops(1 + luck.nextInt(3)).withWindowMillis(oneOf(1, 500, 30_000))
        .withMemory((int) oneOf(4, 100, 100_000), (int) oneOf(1, 10, 1_000), (int) oneOf(1, 20, 10_000))
        .withClaimBatch((int) oneOf(1, 10, 1_000)).withLeaseMarginMillis(oneOf(500, 3_000))
        .withDestinationLimit((int) oneOf(1, 16, 512));
  }

  /** Runs a seed. */
  public static Outcome run(long seed) {
    return run(seed, SimStore.Bug.NONE);
  }

  static Outcome run(long seed, SimStore.Bug bug) {
    return new Simulation(seed, bug).run();
  }

  private long oneOf(long... values) {
    return values[luck.nextInt(values.length)];
  }

  private Outcome run() {
    startNode();
    for (int i = 0; i < 600; i++) {
      schedule.afterMillis(1_000 + luck.nextLong(CHAOS_MILLIS), this::act);
    }
    for (int i = luck.nextInt(5); i > 0; i--) {
      schedule.afterMillis(2_000 + luck.nextLong(CHAOS_MILLIS), this::crash);
    }
    for (int i = luck.nextInt(3); i > 0; i--) {
      schedule.afterMillis(2_000 + luck.nextLong(CHAOS_MILLIS), this::storeGoesDown);
    }
    for (int i = luck.nextInt(3); i > 0; i--) {
      schedule.afterMillis(2_000 + luck.nextLong(CHAOS_MILLIS),
          () -> clock.stepMillis(oneOf(-3_600_000, -700, 300, 3_600_000)));
    }
    schedule.afterMillis(CHAOS_MILLIS + 5_000, this::heal);
    schedule.runUntil(TimeUnit.MILLISECONDS.toNanos(CHAOS_MILLIS + HEALED_MILLIS));
    readAll();
    history.runEnded(schedule.nowMillis());
    long grace = options.leaseMarginMillis() + TIMEOUT_MILLIS + 2 * MAX_BACKOFF_MILLIS + 40_000;
    // The node reckons the store's time from a call, and is wrong by half of it at most.
    long clockErrorMillis = 2 + latencyMicros / 1_000;
    Verdict verdict = new HistoryChecker(
        new Allowances(clockErrorMillis, 0, TIMEOUT_MILLIS, 10_000, grace, false)).check(history);
    return new Outcome(verdict, hash(history.events()), crashes, store.failures());
  }

  private static long hash(List<Event> events) {
    long hash = 1;
    for (Event event : events) {
      hash = 31 * hash + event.toString().hashCode();
    }
    return hash;
  }

  // The node.

  private void startNode() {
    life++;
    int mine = life;
    SimReceiver newReceiver = new SimReceiver(schedule, luck.split(), history, this::report);
    if (healed) {
      newReceiver.heal();
    }
    loops.clear();
    Engine starting = new Engine(options, new Environment(clock, this::newLoop, luck.split(), store,
        new SoleCoordinator(), List.of(newReceiver), Meter.NONE));
    CompletionStage<Void> started = starting.start();
    started.whenComplete((nothing, failure) -> {
      if (mine != life) {
        return;
      }
      if (failure != null) {
        schedule.afterMillis(200, () -> {
          if (mine == life) {
            startNode();
          }
        });
        return;
      }
      engine = starting;
      receiver = newReceiver;
      for (String queue : QUEUES) {
        put(starting, queue);
      }
    });
  }

  private EventLoop newLoop() {
    Schedule.NodeLoop loop = new Schedule.NodeLoop(schedule);
    loops.add(loop);
    return loop;
  }

  private void put(Engine starting, String name) {
    Retry retry = new Retry(50, Duration.ofMillis(oneOf(10, 300)), 2, Duration.ofMillis(MAX_BACKOFF_MILLIS), 0.5);
    Queue queue = Queue.of(name, new Target("sim", Map.of(), Duration.ofMillis(TIMEOUT_MILLIS)))
        .withRetry(retry).withRetention(Duration.ofDays(1), Duration.ofDays(1));
    Queue shaped = switch (name) {
      case "narrow" -> queue.withLimits(null, 3);
      case "slow" -> queue.withLimits(20.0, null).withPriority(2);
      default -> queue;
    };
    CompletionStage<Queue> put = starting.putQueue(shaped);
    put.whenComplete((written, failure) -> {
      if (failure != null && starting == engine) {
        schedule.afterMillis(100, () -> put(starting, name));
      }
    });
  }

  /** The process dies at once; its memory is gone, its calls to the store may still take effect. */
  private void crash() {
    if (healed) {
      return;
    }
    crashes++;
    long window = history.faultBegan(schedule.nowMillis(), Event.Fault.KILL, "the node is killed");
    if (receiver != null) {
      receiver.callerDied();
    }
    loops.forEach(EventLoop::close);
    engine = null;
    receiver = null;
    life++;
    int mine = life;
    clock = new Schedule.NodeClock(schedule);
    schedule.afterMillis(luck.nextLong(3_000), () -> {
      history.faultEnded(window, schedule.nowMillis());
      if (mine == life) {
        startNode();
      }
    });
  }

  private void storeGoesDown() {
    if (healed) {
      return;
    }
    long window = history.faultBegan(schedule.nowMillis(), Event.Fault.OTHER, "the store is down");
    store.setDown(true);
    schedule.afterMillis(luck.nextLong(5_000), () -> {
      store.setDown(false);
      history.faultEnded(window, schedule.nowMillis());
    });
  }

  private void heal() {
    healed = true;
    store.heal();
    clock.stepMillis(0);
    if (receiver != null) {
      receiver.heal();
    }
  }

  // The clients.

  private void act() {
    String queue = QUEUES[luck.nextInt(QUEUES.length)];
    String key = "k" + luck.nextInt(KEYS);
    long delayMillis = oneOf(0, luck.nextLong(200), luck.nextLong(5_000), luck.nextLong(60_000));
    switch (luck.nextInt(10)) {
      case 0, 1, 2 -> submit(Submission.after(queue, Duration.ofMillis(delayMillis), Body.EMPTY), delayMillis);
      case 3, 4 -> submit(Submission.after(queue, Duration.ofMillis(delayMillis), Body.EMPTY).withKey(key)
          .withOnConflict(CONFLICTS.get(luck.nextInt(CONFLICTS.size()))), delayMillis);
      case 5 -> submitTwice(Submission.after(queue, Duration.ofMillis(delayMillis), Body.EMPTY)
          .withIdempotencyKey("i" + schedule.nowNanos()), delayMillis);
      case 6, 7 -> touch(queue, key, delayMillis);
      case 8 -> cancel(seenIds.isEmpty() || luck.nextBoolean()
          ? new TaskRef.ByKey(queue, key)
          : new TaskRef.ById(seenIds.get(luck.nextInt(seenIds.size()))));
      default -> runNow();
    }
  }

  private <T> void perform(Request request, Function<Engine, CompletableFuture<T>> call, Function<T, Reply> reply) {
    Engine node = engine;
    if (node == null) {
      return;
    }
    long op = history.invoked(schedule.nowMillis(), request);
    CompletionStage<T> answer = call.apply(node);
    answer.whenComplete((result, failure) -> {
      if (node != engine) {
        // The process that would have answered is dead: the client never hears.
        return;
      }
      Reply told = result != null
          ? reply.apply(result)
          : failure != null && rootOf(failure) instanceof OverloadedException
              ? new Reply.Failed(failure.toString())
              : failure != null && rootOf(failure) instanceof UnknownQueueException
                  ? new Reply.Failed(failure.toString())
                  : new Reply.Unknown(String.valueOf(failure));
      history.answered(op, schedule.nowMillis(), told);
    });
  }

  private static Throwable rootOf(Throwable failure) {
    return failure.getCause() == null ? failure : failure.getCause();
  }

  private void submit(Submission submission, long delayMillis) {
    Request request = new Request.Submit(submission.queue(), submission.key(), schedule.nowMillis() + delayMillis,
        Request.OnConflict.valueOf(submission.onConflict().name()), submission.idempotencyKey());
    perform(request, node -> node.submit(submission), this::placed);
  }

  private void submitTwice(Submission submission, long delayMillis) {
    submit(submission, delayMillis);
    schedule.afterMillis(luck.nextLong(3_000), () -> submit(submission, delayMillis));
  }

  private Reply placed(SubmitResult result) {
    if (result.kind() == SubmitResult.Kind.REJECTED || result.kind() == SubmitResult.Kind.MISMATCHED) {
      return new Reply.Failed(result.kind().name());
    }
    remember(result.id());
    Reply.Result kind = switch (result.kind()) {
      case CREATED -> Reply.Result.CREATED;
      case RESET -> Reply.Result.RESET;
      case RESET_PENDING -> Reply.Result.RESET_PENDING;
      case KEPT -> Reply.Result.KEPT;
      case REPEATED -> Reply.Result.REPEATED;
      case REJECTED, MISMATCHED -> throw new IllegalStateException("refused above");
    };
    return new Reply.Placed(kind, result.id().toString(), result.generation(), result.dueAt());
  }

  private void remember(TaskId id) {
    if (seenIds.size() < REMEMBERED) {
      seenIds.add(id);
    } else {
      seenIds.set(luck.nextInt(REMEMBERED), id);
    }
  }

  private void touch(String queue, String key, long delayMillis) {
    perform(new Request.Touch(queue, key, schedule.nowMillis() + delayMillis),
        node -> node.touch(queue, List.of(key), Duration.ofMillis(delayMillis)), results -> touched(results.get(0)));
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
    perform(new Request.Cancel(target(ref)), node -> node.cancel(ref), result -> switch (result.kind()) {
      case CANCELLED -> new Reply.Cancelled(Reply.CancelResult.CANCELLED, result.generation());
      case CANCEL_PENDING -> new Reply.Cancelled(Reply.CancelResult.CANCEL_PENDING, result.generation());
      case ALREADY_FINISHED -> new Reply.Cancelled(Reply.CancelResult.ALREADY_FINISHED, result.generation());
      case NOT_FOUND -> new Reply.NotFound();
    });
  }

  private static io.foliot.sim.history.Target target(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> new io.foliot.sim.history.Target.Task(byId.id().toString());
      case TaskRef.ByKey byKey -> new io.foliot.sim.history.Target.Key(byKey.queue(), byKey.key());
    };
  }

  private void runNow() {
    if (!seenIds.isEmpty()) {
      TaskId id = seenIds.get(luck.nextInt(seenIds.size()));
      perform(new Request.RunNow(new io.foliot.sim.history.Target.Task(id.toString())), node -> node.runNow(id),
          Simulation::touched);
    }
  }

  /** A receiver that said "later" reports. */
  private void report(TaskRecord task, long delivery) {
    boolean fails = luck.nextInt(5) == 0;
    history.replied(delivery, schedule.nowMillis(), fails ? Event.Reception.RETRY : Event.Reception.SUCCESS);
    report(task, fails);
  }

  /** And again, until it is heard. */
  private void report(TaskRecord task, boolean fails) {
    Token token = task.token();
    Engine node = engine;
    if (token == null) {
      return;
    }
    CompletionStage<SettleResult> reported = node == null
        ? CompletableFuture.failedFuture(new IllegalStateException("nobody listens"))
        : fails ? node.nack(task.id(), token, null, "later") : node.ack(task.id(), token, null);
    reported.whenComplete((result, failure) -> {
      if (failure != null) {
        schedule.afterMillis(100, () -> report(task, fails));
      }
    });
  }

  /** What every task that was seen has come to. */
  private void readAll() {
    for (Event event : history.events()) {
      if (event instanceof Event.Answered answered && answered.reply() instanceof Reply.Placed placed) {
        read(placed.taskId());
      }
    }
  }

  private void read(String id) {
    long op = history.invoked(schedule.nowMillis(),
        new Request.Read(new io.foliot.sim.history.Target.Task(id)));
    Reply reply = store.peek(new TaskRef.ById(TaskId.parse(id))).<Reply>map(
        task -> new Reply.Found(id, task.generation(), stateOf(task.state()))).orElseGet(Reply.NotFound::new);
    history.answered(op, schedule.nowMillis(), reply);
  }

  private static Reply.State stateOf(TaskState state) {
    return switch (state) {
      case DELAYED, READY, RUNNING -> Reply.State.LIVE;
      case FINISHED -> Reply.State.FINISHED;
      case FAILED -> Reply.State.FAILED;
      case CANCELLED -> Reply.State.CANCELLED;
    };
  }
}
