package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler.Extended;
import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Scheduler.Pulled;
import io.foliot.core.TaskId;
import io.foliot.core.TaskLabel;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptMaker;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of workers, and of receivers that have answered "accepted": pull, ack, nack, fail, give back,
 * extend. Thread-safe.
 *
 * <p>Guarantees: only the holder of a claim's token can settle or extend the claim; it may call any node of the
 * cluster. Reports have an {@link Admission} of their own, so that many submits do not make a worker lose its lease.
 *
 * <ol>
 * <li>A pull waits in the {@link LongPollQueue} of its queue; the loops claim for it.
 * <li>If {@link HandedTasks} remembers the task, an ack without a next delay and without a mark is settled with the
 * remembered values, and so is a task that is given back. For each other report (another ack, a nack or a fail) the
 * task is read first: the settings of its queue decide what follows a failure. All of them join a batch of settles.
 * Extensions have batches of their own, and no task is read for them.
 * <li>A report for which the store has no room closes the {@link RoomGate}; its caller repeats it.
 * <li>When the store has settled a claim, the loop that holds the claim releases its permit.
 * </ol>
 */
final class ReportCalls {
  /**
   * Longest wait of a worker with a name. A worker counts as alive while it waits, also if its process has ended and
   * the node cannot know this. The tasks of its seat wait as long.
   */
  private static final long NAMED_WAIT_MILLIS = 15_000;
  private static final Duration MAX_LEASE = Duration.ofHours(24);

  private final TaskStore store;
  private final QueueRegistry registry;
  private final QueueWatch watch;
  private final LoopGroup loops;
  private final RoomGate room;
  private final EndHints hints;
  private final WorkerRoster roster;
  private final String node;
  private final RandomSource random;
  private final TimeSource clock;
  private final Meter meter;
  private final HandedTasks handed = new HandedTasks();
  private final GroupCommit<AttemptEnd, SettleResult> settles;
  private final GroupCommit<Extension, ExtendResult> extensions;

  /** Creates the calls, with nothing under way. */
  ReportCalls(EngineOptions options, TaskStore store, QueueRegistry registry, QueueWatch watch, LoopGroup loops,
      RoomGate room, EndHints hints, WorkerRoster roster, RandomSource random, TimeSource clock, Meter meter) {
    this.roster = roster;
    node = options.node();
    this.store = store;
    this.registry = registry;
    this.watch = watch;
    this.loops = loops;
    this.room = room;
    this.hints = hints;
    this.random = random;
    this.clock = clock;
    this.meter = meter;
    Admission admission = new Admission(options.callItems(), options.callBytes());
    settles = new GroupCommit<>("report", this::settle, this::recorded, admission, clock, meter);
    extensions = new GroupCommit<>("extend", store::extend, GroupCommit::nothing, admission, clock, meter);
  }

  private CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return store.settle(settlements).whenComplete((results, failure) -> {
      if (RoomGate.isFull(failure)) {
        room.refused(clock.monotonicNanos());
      }
    });
  }

  CompletionStage<Pulled> pull(Pull pull, CompletionStage<?> payloadsTaken, CompletionStage<?> gone) {
    long calledNanos = clock.monotonicNanos();
    return watch.withQueue(pull.queue(), queue -> {
      if (!queue.target().type().equals(Target.PULL)) {
        throw new IllegalArgumentException("tasks are claimed from queues whose delivery is pull: queue=" + queue.name()
            + ", delivery=" + queue.target().type());
      }
      long leaseMillis = pull.leaseMillis() == 0 ? queue.target().timeout().toMillis() : pull.leaseMillis();
      long waitMillis = pull.worker().isAnonymous()
          ? pull.waitMillis()
          : Math.min(pull.waitMillis(), NAMED_WAIT_MILLIS);
      long untilNanos = clock.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
      roster.waits(pull.worker(), pull.zone(), queue.name(), leaseMillis, untilNanos);
      LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(pull.worker(), pull.max(), leaseMillis, calledNanos,
          untilNanos, payloadsTaken);
      LongPollQueue polls = registry.shared(queue.name()).longPolls();
      polls.add(waiter);
      loops.workerWaits(queue.name());
      gone.thenRun(() -> {
        long nextNanos = polls.abandon(waiter, clock.monotonicNanos());
        roster.hangsUp(pull.worker(), queue.name(), untilNanos, nextNanos);
        loops.workerWaits(queue.name());
      });
      return waiter.answer().thenApply(pulled -> {
        if (!pulled.tasks().isEmpty()) {
          roster.works(pull.worker(), clock.monotonicNanos());
          String maker = new AttemptMaker(pull.worker().name(), node).prefix();
          pulled.tasks().forEach(
              task -> handed.add(task, pull.worker(), hints.awaiting(task, TaskNote.Mark.NONE), maker));
        }
        return pulled;
      });
    });
  }

  /** Handles a worker's notice that it takes no more tasks of a queue. */
  void left(WorkerId worker, String queue) {
    roster.leaves(worker, queue);
    registry.shared(queue).longPolls().end(worker, clock.monotonicNanos());
    loops.workerWaits(queue);
  }

  CompletionStage<SettleResult> ack(TaskId id, Token token, @Nullable Duration next, TaskNote note) {
    HandedTasks.Handed known = next == null && note.mark() == TaskNote.Mark.NONE ? handed.take(id, token) : null;
    return known != null
        ? report(id, token, known, new Outcome.Finished(), "", note)
        : report(id, token, "", note, (task, queue) -> next == null
            ? new Outcome.Finished()
            : QueueRegistry.again(TaskCalls.ensureDelay(next)));
  }

  CompletionStage<SettleResult> giveBack(TaskId id, Token token, String reason) {
    HandedTasks.Handed known = handed.take(id, token);
    return known != null
        ? report(id, token, known, new Outcome.NotBegun(), reason, TaskNote.NONE)
        : report(id, token, reason, TaskNote.NONE, (task, queue) -> new Outcome.NotBegun());
  }

  /** Settles a claim of a task that is remembered, without a read. */
  private CompletionStage<SettleResult> report(TaskId id, Token token, HandedTasks.Handed known, Outcome outcome,
      String detail, TaskNote note) {
    AttemptEnd settlement = new AttemptEnd(id, known.generation(), token, outcome, known.claimedAt(),
        AttemptMaker.detail(known.maker(), detail), note);
    return settles.call(List.of(settlement), bytes(note))
        .thenApply(results -> answered(id, known.queue(), known.waiting(), known.claimedAt(), () -> "task=" + id,
            results.get(0)));
  }

  CompletionStage<SettleResult> notBegun(TaskId id, Token token, String reason, TaskNote note) {
    return report(id, token, reason, note, (task, queue) -> {
      // A repeated report must be decided as the first one was, or it would be answered as stale.
      boolean isBelieved = task.state() == TaskState.RUNNING
          ? task.notBegunInARow() <= Outcome.NotBegun.AT_ONCE
          : task.settledAs() == AttemptRecord.End.NOT_BEGUN;
      return isBelieved ? new Outcome.NotBegun() : failed(task, queue, -1);
    });
  }

  CompletionStage<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason, TaskNote note) {
    long delayMillis = delay == null ? -1 : QueueRegistry.ceilMillis(TaskCalls.ensureDelay(delay));
    return report(id, token, reason, note, (task, queue) -> failed(task, queue, delayMillis));
  }

  /** Decides on a failed attempt; the delay of the next attempt is -1 for the backoff of the queue. */
  private Outcome failed(TaskRecord task, @Nullable QueueConfig queue, long delayMillis) {
    if (queue == null) {
      return new Outcome.Retry(Due.NOW);
    }
    return delayMillis < 0
        ? QueueRegistry.failed(task, queue, null, random.nextDouble())
        : QueueRegistry.failed(task, queue, delayMillis);
  }

  CompletionStage<SettleResult> fail(TaskId id, Token token, String reason, TaskNote note) {
    return report(id, token, reason, note, (task, queue) -> new Outcome.Failed());
  }

  private CompletionStage<SettleResult> report(TaskId id, Token token, String detail, TaskNote note,
      BiFunction<TaskRecord, @Nullable QueueConfig, Outcome> outcome) {
    return store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(new SettleResult(SettleResult.Kind.NOT_FOUND, TaskState.FINISHED, 0));
      }
      TaskRecord task = found.get();
      // The payload must not stay in memory while the settle waits for a commit.
      String queue = task.queue();
      long claimedAt = task.claimedAt();
      long generation = task.generation();
      TaskRef.ByKey waiting = hints.awaiting(task, note.mark());
      String attributed = AttemptMaker.detail(handed.maker(id, token), detail);
      String key = task.key();
      Map<String, String> headers = task.body().headers();
      return watch.findAny(queue).thenCompose(settings -> {
        AttemptEnd settlement = new AttemptEnd(id, generation, token, outcome.apply(task, settings.orElse(null)),
            claimedAt, attributed, note);
        return settles.call(List.of(settlement), bytes(note));
      }).thenApply(results -> answered(id, queue, waiting, claimedAt, () -> TaskLabel.of(id, key, headers),
          results.get(0)));
    });
  }

  private static long bytes(TaskNote note) {
    String checkpoint = note.checkpoint();
    return (long) GroupCommit.ITEM_BYTES + note.log().length() + (checkpoint == null ? 0 : checkpoint.length());
  }

  private SettleResult answered(TaskId id, String queue, TaskRef.@Nullable ByKey waiting, long claimedAt,
      Supplier<String> label, SettleResult result) {
    if (waiting != null && result.state().isFinal()) {
      hints.ended(waiting, clock.monotonicNanos());
    }
    if (result.wakeAt() != 0) {
      loops.written(List.of(new DueEntry(result.wakeAt(), id, queue)));
    }
    if (result.kind() == SettleResult.Kind.SETTLED) {
      meter.settled(queue, result.state().name().toLowerCase(Locale.ROOT),
          Math.max(0, (loops.storeMillis() - claimedAt) * 1_000));
      if (result.state() == TaskState.FAILED) {
        meter.deadLetter(queue, label);
      }
    }
    return result;
  }

  private void recorded(List<AttemptEnd> settlements, List<SettleResult> results) {
    room.recorded(clock.monotonicNanos());
    for (int i = 0; i < settlements.size(); i++) {
      if (results.get(i).kind() == SettleResult.Kind.SETTLED) {
        loops.reported(settlements.get(i).id(), settlements.get(i).token());
      }
    }
  }

  CompletionStage<Extended> extend(TaskId id, Token token, Duration lease, TaskNote note, WorkerId caller) {
    if (lease.isNegative() || lease.isZero() || lease.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException("a lease is from 1 ms to 24 h: lease=" + lease);
    }
    long leaseMillis = QueueRegistry.ceilMillis(lease);
    long calledMillis = loops.storeMillis();
    return extensions.call(List.of(new Extension(id, token, leaseMillis, note)), bytes(note)).thenApply(results -> {
      ExtendResult result = results.get(0);
      if (result.kind() == ExtendResult.Kind.EXTENDED) {
        WorkerId holder = handed.holder(token);
        roster.works(holder == null ? caller : holder, clock.monotonicNanos());
      }
      long leaseEnd = result.kind() == ExtendResult.Kind.EXTENDED ? result.leaseEnd() : 0;
      return new Extended(result.kind(), leaseEnd, Math.clamp(leaseEnd - calledMillis, 0, leaseMillis));
    });
  }
}
