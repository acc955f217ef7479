package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Meter;
import io.foliot.core.Stages;
import io.foliot.core.TaskLabel;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptMaker;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.wheel.ObjectTimerWheel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of a loop: claims that were won, from the claim until their permits are free again. Passive; confined to
 * the loop's thread.
 *
 * <p>Guarantees: a lease outlasts the timeout of its delivery, or is renewed. An attempt gives back three things, each
 * of them once. It gives back its place at the destination when it is answered, its permit when it is released, and its
 * memory when this node no longer needs the payload. An attempt is released when its end is recorded, or when its lease
 * is over. But the lease may have been extended without this node's knowledge. A worker or another caller that has the
 * token may have extended it, or a renewal may have succeeded although its answer was lost. In such cases the store is
 * asked to close the lease. This is a write: an extension that the store has decided, but not written yet, is then
 * refused. The attempt is released only if the store answers that the lease has ended. A task is never given to a
 * receiver or a worker if its queue is not the lane's queue.
 *
 * <ol>
 * <li>{@link #begin} puts the attempt into a wheel. Then it calls the delivery, or hands the task to the worker that
 * waits for it.
 * <li>The answer of the delivery becomes an outcome, which goes to the {@link Settles}. "Accepted" means that the end
 * is reported later, by a caller that has the token, to any node.
 * <li>{@link #recorded} and {@link #reported} release an attempt whose end is in the store.
 * <li>A lease that is not longer than the timeout is renewed whenever a third of the lease is over. A task whose node
 * dies thus comes back when the lease ends, not after its timeout. A delivery whose lease is lost, or whose task is
 * being cancelled, is cancelled. After the answer "accepted", the lease is extended once. It then ends when a lease
 * that needs no renewals would end.
 * <li>While the store has no room for the end of an attempt, its lease is {@linkplain #held kept}.
 * <li>The wheel wakes an attempt for three reasons: to renew its lease; to cancel a delivery that has not answered by
 * the end of the timeout; and to handle the end of the lease. At the end of the lease the attempt is released. But if a
 * caller is to report the end of the attempt, or if this node renews the lease, the store is asked to close it first.
 * <li>{@link #findReports} looks up tasks of limited queues, a few each second, because callers may report the ends of
 * these tasks to other nodes. The permits of ended tasks are thus free long before the leases end.
 * </ol>
 *
 * <p>The wheel's ticks are milliseconds of the monotonic clock, so that a step of the wall clock changes nothing.
 * Rejected: a timer in each delivery. A delivery that forgets its timer would hold a permit for ever.
 */
final class Attempts {
  private static final System.Logger LOG = System.getLogger(Attempts.class.getName());
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SECOND_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long PAUSE_MILLIS = Backoff.LAST_NANOS / NANOS_PER_MILLI;
  /** Additional time that the engine waits for an answer after the timeout of the attempt. */
  private static final long ANSWER_MILLIS = 250;
  /**
   * Divisor of a lease: a renewal is sent when a third of the lease is over. A renewal that fails is
   * added to the {@link Renewals} again after at most a sixth of the lease.
   */
  private static final int RENEWED_IN_LEASE = 3;
  /** Length of the lease of an attempt whose end waits for room in the store. */
  private static final long HELD_MILLIS = 15_000;
  /**
   * Minimum lateness of a claimed task in another node's slot: from this lateness on, the task is reported as left
   * behind by that node.
   */
  private static final long LATE_MILLIS = 1_000;
  /** Maximum number of lookups per second of tasks whose ends may have been reported to other nodes. */
  private static final int REPORTS_PER_SECOND = 64;

  private final TaskStore store;
  private final QueueRegistry registry;
  private final StoreClock clock;
  private final Lanes lanes;
  private final LookAhead lookAhead;
  private final WatchedSlots slots;
  private final Settles settles;
  private final Renewals renewals;
  private final EndHints hints;
  private final Inbox inbox;
  private final Meter meter;
  private final RandomSource random;
  private final LeaseLengths lengths;
  /** Beginning of the details of the attempts of this node. */
  private final String maker;

  private final Map<Token, RunningAttempt> running = new HashMap<>();
  private final ObjectTimerWheel<RunningAttempt> leases;
  /**
   * The attempts whose ends a caller will report, to this node or to another one. Only attempts of queues with a limit
   * of concurrency belong here. The attempt that was looked up longest ago comes first.
   */
  private final Deque<RunningAttempt> reportedLater = new ArrayDeque<>();
  private long nextFindNanos;

  /** Creates an empty set of attempts. */
  Attempts(TaskStore store, QueueRegistry registry, StoreClock clock, Lanes lanes, LookAhead lookAhead,
      WatchedSlots slots, Settles settles, Renewals renewals, EndHints hints, Inbox inbox, Meter meter,
      RandomSource random, LeaseLengths lengths, String node, long nowNanos) {
    this.store = store;
    this.registry = registry;
    this.clock = clock;
    this.lanes = lanes;
    this.lookAhead = lookAhead;
    this.slots = slots;
    this.settles = settles;
    this.renewals = renewals;
    this.hints = hints;
    this.inbox = inbox;
    this.meter = meter;
    this.random = random;
    this.lengths = lengths;
    maker = new AttemptMaker("", node).prefix();
    leases = new ObjectTimerWheel<>(millis(nowNanos));
    nextFindNanos = nowNanos;
  }

  private static long millis(long monotonicNanos) {
    return Math.floorDiv(monotonicNanos, NANOS_PER_MILLI);
  }

  /** Returns whether no attempt is running. Attempts that wait for the report of a caller are ignored. */
  boolean isIdle() {
    return running.values().stream().allMatch(attempt -> attempt.reportsLater);
  }

  // Begin.

  /** Begins an attempt of a claimed task. The lease is counted from {@code sentNanos}, when the claim was sent. */
  void begin(PendingClaim claim, TaskRecord task, long sentNanos, long nowNanos) {
    Lane lane = claim.lane();
    Token token = task.token();
    assert token != null;
    long leaseMillis = claim.claim().leaseMillis();
    RunningAttempt attempt = new RunningAttempt(lane, task, claim.destination());
    attempt.begunNanos = nowNanos;
    attempt.begunMillis = clock.millis(nowNanos);
    attempt.leaseEndMillis = millis(sentNanos) + leaseMillis;
    QueueConfig queue = lane.queue();
    attempt.timeoutMillis = queue == null || claim.waiter() != null ? 0 : queue.target().timeout().toMillis();
    if (leaseMillis <= attempt.timeoutMillis) {
      attempt.renewMillis = leaseMillis;
      attempt.nextRenewalMillis = millis(sentNanos) + leaseMillis / RENEWED_IN_LEASE;
    }
    attempt.leaseHandle = leases.schedule(wakeMillis(attempt), attempt);
    running.put(token, attempt);
    charge(attempt, attempt.bytes - claim.bytes());
    lane.begun(task.body().payload().length);
    if (!task.queue().equals(lane.name())) {
      returnForeign(claim, attempt);
      return;
    }
    long lateMicros = clock.micros(nowNanos) - task.dueAt() * 1_000;
    meter.claimed(lane.name(), lateMicros);
    if (lateMicros >= LATE_MILLIS * 1_000 && !slots.isAssigned(task.id())) {
      meter.stolen(lane.name());
    }
    long leaseNanos = leaseMillis * NANOS_PER_MILLI;
    if (claim.waiter() != null) {
      attempt.answered = true;
      if (!lane.longPolls().won(claim.waiter(), task, sentNanos + leaseNanos)) {
        ended(attempt, new Outcome.NotBegun(), "not begun: the worker's call ended before the claim");
        return;
      }
      markReportedLater(attempt);
      handOver(attempt, claim.waiter().payloadsTaken());
      lookAhead.scheduleAgain(task.id(), task.queue(), task.leaseEnd(), nowNanos);
      return;
    }
    Delivery delivery = lane.delivery();
    long neededMillis = attempt.renewMillis == 0 ? attempt.timeoutMillis : leaseMillis / RENEWED_IN_LEASE;
    if (queue == null || delivery == null || nowNanos - sentNanos + neededMillis * NANOS_PER_MILLI >= leaseNanos) {
      // Either the rest of the lease is too short to end the attempt or to renew the lease, or the queue or its
      // delivery is gone. The task is tried again.
      attempt.answered = true;
      giveUpDestination(attempt);
      ended(attempt, new Outcome.NotBegun(), queue == null || delivery == null
          ? "not begun: the queue is gone, or this node cannot deliver its tasks"
          : "not begun: the claim took too long");
      return;
    }
    CompletionStage<Answer> delivering = Stages
        .call(() -> delivery.deliver(DeliveryAttempt.of(queue, task, TraceContext.of(task, random.next()))));
    attempt.delivering = delivering;
    inbox.after(delivering, (answer, failure, answeredNanos) -> answered(attempt, answer, failure, answeredNanos));
  }

  /**
   * Gives back a claim whose task belongs to another queue than the lane's. The task comes back to its own lane, after
   * a pause if the error lasts.
   */
  private void returnForeign(PendingClaim claim, RunningAttempt attempt) {
    LOG.log(System.Logger.Level.ERROR,
        "a claimed task belongs to another queue than the lane''s; it is given back without a"
            + " delivery: task={0}, queue={1}, claimedFor={2}",
        attempt.task.id(), attempt.task.queue(),
        attempt.lane.name());
    meter.foreign(attempt.lane.name());
    attempt.answered = true;
    giveUpDestination(attempt);
    if (claim.waiter() != null) {
      attempt.lane.longPolls().lost(claim.waiter());
    }
    ended(attempt, new Outcome.NotBegun(), "not begun: it was claimed for another queue");
  }

  private static void giveUpDestination(RunningAttempt attempt) {
    if (attempt.destination != null) {
      attempt.destination.giveBack(1);
    }
  }

  // Answers.

  private void answered(RunningAttempt attempt, @Nullable Answer given, @Nullable Throwable failure, long nowNanos) {
    if (attempt.answered) {
      return;
    }
    attempt.note = given instanceof Answer.Noted noted ? noted.note() : TaskNote.NONE;
    Answer answer = given != null
        ? given instanceof Answer.Noted noted ? noted.end() : given
        : new Answer.Retry(null, Answer.Health.UNREACHABLE, String.valueOf(GroupCommit.unwrapped(failure)));
    attempt.answered = true;
    attempt.delivering = null;
    if (attempt.destination != null) {
      attempt.destination.answered(answer, nowNanos);
    }
    switch (answer) {
      case Answer.Done done -> ended(attempt, new Outcome.Finished(), done.detail());
      case Answer.Again again -> ended(attempt, QueueRegistry.again(again.next()), again.detail());
      case Answer.Plan plan -> ended(attempt, placed(plan.next(), nowNanos), plan.detail());
      case Answer.NotBegun notBegun -> ended(attempt, new Outcome.NotBegun(), notBegun.detail());
      case Answer.Fail fail -> ended(attempt, new Outcome.Failed(), fail.detail());
      case Answer.Retry retry -> retried(attempt, retry);
      case Answer.Accepted accepted -> accepted(attempt, nowNanos);
      case Answer.Noted noted -> throw new IllegalStateException("a note in a note: " + noted);
    }
  }

  /**
   * Marks due children as parked if no worker of this node may run them. To park such a child later would cost another
   * write. A child that is perhaps not due yet, by the store's clock, goes into the index of its slot.
   */
  private Outcome.Rearm placed(Outcome.Rearm next, long nowNanos) {
    long nowMicros = clock.micros(nowNanos);
    return new Outcome.Rearm(next.due(), next.body(), next.children().stream()
        .map(child -> clock.isSurelyPast(child.due().atMillis(nowMicros), nowNanos)
            && lanes.isForAnotherNode(child.id(), child.queue(), nowNanos) ? child.asParked() : child)
        .toList());
  }

  private void accepted(RunningAttempt attempt, long nowNanos) {
    markReportedLater(attempt);
    if (attempt.settled) {
      release(attempt);
    } else {
      releasePayload(attempt);
      lookAhead.scheduleAgain(attempt.task.id(), attempt.task.queue(), attempt.task.leaseEnd(), nowNanos);
      QueueConfig queue = attempt.lane.queue();
      if (attempt.renewMillis != 0 && queue != null) {
        long passedMillis = (nowNanos - attempt.begunNanos) / NANOS_PER_MILLI;
        renewals.add(attempt, Math.max(attempt.renewMillis, lengths.fullMillis(queue) - passedMillis));
      }
    }
  }

  private void retried(RunningAttempt attempt, Answer.Retry retry) {
    QueueConfig queue = attempt.lane.queue();
    Outcome outcome = queue == null
        ? new Outcome.Retry(Due.after(PAUSE_MILLIS))
        : QueueRegistry.failed(attempt.task, queue, retry.after(), random.nextDouble());
    ended(attempt, outcome, retry.detail());
  }

  private void ended(RunningAttempt attempt, Outcome outcome, String detail) {
    TaskRecord task = attempt.task;
    Token token = task.token();
    assert token != null;
    settles.add(attempt,
        new AttemptEnd(task.id(), task.generation(), token, outcome, attempt.begunMillis,
            AttemptMaker.detail(maker, detail), attempt.note));
  }

  private void markReportedLater(RunningAttempt attempt) {
    attempt.reportsLater = true;
    QueueConfig queue = attempt.lane.queue();
    if (queue != null && queue.concurrency() != null && store.isShared()) {
      reportedLater.add(attempt);
    }
  }

  private static String label(TaskRecord task) {
    return TaskLabel.of(task.id(), task.key(), task.body().headers());
  }

  // Ends.

  /** Handles the answer of the store, which has recorded or refused the end of an attempt. */
  void recorded(Settles.Ending ending, SettleResult result, long nowNanos) {
    RunningAttempt attempt = ending.attempt();
    TaskRecord task = attempt.task;
    attempt.lane.countSettled();
    meter.settled(attempt.lane.name(), Settles.word(ending.settlement().outcome(), result),
        (nowNanos - attempt.begunNanos) / 1_000);
    if (result.kind() == SettleResult.Kind.SETTLED && result.state() == TaskState.FAILED) {
      meter.deadLetter(attempt.lane.name(), () -> label(task));
    }
    if (result.kind() == SettleResult.Kind.STALE || result.kind() == SettleResult.Kind.NOT_FOUND) {
      LOG.log(System.Logger.Level.WARNING, "the store refused the end of an attempt: its lease"
          + " was lost, or the task is gone: {0}, generation={1}, attempt={2}",
          label(task), task.generation(), task.attempt());
    }
    if (result.wakeAt() != 0) {
      lookAhead.scheduleAgain(task.id(), task.queue(), result.wakeAt(), nowNanos);
    }
    if (!result.state().isFinal() && ending.settlement().outcome() instanceof Outcome.Rearm rearm) {
      inserted(rearm.children(), nowNanos);
    }
    TaskRef.ByKey waiting = result.state().isFinal() ? hints.awaiting(task, attempt.note.mark()) : null;
    if (waiting != null) {
      hints.ended(waiting, nowNanos);
    }
    release(attempt);
  }

  /**
   * Handles the tasks that a settlement has inserted. If the settlement was stale, the tasks do not exist, and a claim
   * of them finds nothing.
   */
  private void inserted(List<Outcome.Child> children, long nowNanos) {
    List<DueEntry> entries = new ArrayList<>();
    long nowMicros = clock.micros(nowNanos);
    for (Outcome.Child child : children) {
      if (child.parked()) {
        lanes.lane(child.queue(), nowNanos).parked();
        meter.parked(child.queue(), 1);
      } else {
        entries.add(new DueEntry(child.due().atMillis(nowMicros), child.id(), child.queue()));
      }
    }
    lookAhead.written(entries, nowNanos);
  }

  /**
   * Keeps the lease of an attempt whose end finds no room in the store. Otherwise another claim would count the attempt
   * as lost, and the work would be done again.
   */
  void held(RunningAttempt attempt, long nowNanos) {
    if (!attempt.released) {
      attempt.nextRenewalMillis = millis(nowNanos);
      leases.cancel(attempt.leaseHandle);
      attempt.leaseHandle = leases.schedule(wakeMillis(attempt), attempt);
    }
  }

  /** Handles the end of an attempt. A caller with the token of its claim has recorded this end. */
  void reported(Token token) {
    RunningAttempt attempt = running.get(token);
    if (attempt != null) {
      attempt.settled = true;
      if (attempt.reportsLater) {
        attempt.lane.countSettled();
        release(attempt);
      }
    }
  }

  private void release(RunningAttempt attempt) {
    if (!attempt.released) {
      attempt.released = true;
      leases.cancel(attempt.leaseHandle);
      Token token = attempt.task.token();
      if (token != null) {
        running.remove(token);
      }
      if (!attempt.handedOver) {
        releasePayload(attempt);
      }
      attempt.lane.ended();
      attempt.lane.permits().release(1);
    }
  }

  // Memory.

  private void charge(RunningAttempt attempt, long bytes) {
    registry.memory().change(attempt.lane.memory(),
        attempt.destination == null ? null : attempt.destination.memory(), bytes);
  }

  /** Releases the memory of the payload, because nothing on this node needs the payload any more. */
  private void releasePayload(RunningAttempt attempt) {
    attempt.dropPayload();
    charge(attempt, -attempt.bytes);
    attempt.bytes = 0;
  }

  /**
   * Gives the task to a worker. The memory of its payload is released only when the answer to the worker's call has
   * been written.
   */
  private void handOver(RunningAttempt attempt, CompletionStage<?> taken) {
    attempt.handedOver = true;
    attempt.dropPayload();
    inbox.after(taken, (done, failure, nowNanos) -> releasePayload(attempt));
  }

  // Leases.

  /**
   * Wakes at most {@code limit} attempts: those that have to renew their leases, and those whose timeout or lease is
   * over.
   */
  void advance(int limit, long nowNanos) {
    leases.advance(millis(nowNanos), limit, (handle, tick, attempt) -> ItemGuard.run(() -> woke(attempt, nowNanos)));
  }

  /** Returns the monotonic time, in ms, at which an attempt is woken next. */
  private static long wakeMillis(RunningAttempt attempt) {
    long wake = attempt.held ? Math.min(attempt.leaseEndMillis, attempt.nextRenewalMillis) : attempt.leaseEndMillis;
    if (!attempt.answered && attempt.timeoutMillis != 0) {
      wake = Math.min(wake, timeoutEndMillis(attempt));
      if (attempt.renewMillis != 0) {
        wake = Math.min(wake, attempt.nextRenewalMillis);
      }
    }
    return wake;
  }

  private static long timeoutEndMillis(RunningAttempt attempt) {
    return millis(attempt.begunNanos) + attempt.timeoutMillis + ANSWER_MILLIS;
  }

  private void woke(RunningAttempt attempt, long nowNanos) {
    long nowMillis = millis(nowNanos);
    if (nowMillis < attempt.leaseEndMillis) {
      if (!attempt.answered && nowMillis >= timeoutEndMillis(attempt)) {
        giveUp(attempt, Answer.Health.UNREACHABLE, "no answer within the timeout; the receiver may have done the work",
            nowNanos);
      } else if ((!attempt.answered || attempt.held) && nowMillis >= attempt.nextRenewalMillis) {
        attempt.nextRenewalMillis = Long.MAX_VALUE;
        renewals.add(attempt, attempt.held ? HELD_MILLIS : attempt.renewMillis);
      }
      attempt.leaseHandle = leases.schedule(wakeMillis(attempt), attempt);
    } else if (attempt.reportsLater || attempt.renewMillis != 0) {
      attempt.overdue = true;
      giveUp(attempt, Answer.Health.WELL, "the lease ended: the store did not renew it", nowNanos);
      renewals.close(attempt);
    } else {
      leaseEnded(attempt, nowNanos);
    }
  }

  /**
   * Handles the answer to a renewal, or to the closing of a lease ({@code leaseMillis} is 0). The result is null if the
   * call has failed.
   */
  void renewed(RunningAttempt attempt, long leaseMillis, @Nullable ExtendResult result, long sentNanos, long nowNanos) {
    if (leaseMillis == 0) {
      closed(attempt, result, nowNanos);
      return;
    }
    boolean isLonger = result != null && result.kind() == ExtendResult.Kind.EXTENDED;
    if (attempt.released || (attempt.answered && !attempt.reportsLater && !attempt.held && !isLonger)) {
      return;
    }
    if (result == null && attempt.reportsLater) {
      if (attempt.overdue) {
        // The store extends no lease that has ended.
        return;
      }
      // This is the extension after "accepted". No timer repeats it, so it is sent again here.
      renewals.add(attempt, Math.max(1, leaseMillis - (nowNanos - sentNanos) / NANOS_PER_MILLI));
    } else if (result == null) {
      attempt.nextRenewalMillis = millis(nowNanos) + Math.min(PAUSE_MILLIS, leaseMillis / (2 * RENEWED_IN_LEASE));
    } else if (result.kind() == ExtendResult.Kind.EXTENDED) {
      attempt.overdue = false;
      long grantedMillis = Math.min(leaseMillis, result.leaseEnd() - clock.millis(sentNanos));
      attempt.leaseEndMillis = Math.max(attempt.leaseEndMillis, millis(sentNanos) + grantedMillis);
      attempt.nextRenewalMillis = millis(sentNanos) + leaseMillis / RENEWED_IN_LEASE;
    } else if (result.kind() == ExtendResult.Kind.CANCELLED) {
      giveUp(attempt, Answer.Health.WELL, "the task is being cancelled", nowNanos);
    } else {
      giveUp(attempt, Answer.Health.WELL, "the lease was lost, or the task is gone", nowNanos);
    }
    leases.cancel(attempt.leaseHandle);
    attempt.leaseHandle = leases.schedule(wakeMillis(attempt), attempt);
  }

  /**
   * Handles the answer to the closing of a lease. The attempt is released if the lease has ended. Otherwise the lease
   * was extended without this node's knowledge, and is to be closed at its new end.
   */
  private void closed(RunningAttempt attempt, @Nullable ExtendResult result, long nowNanos) {
    if (attempt.released) {
      return;
    }
    if (result != null && result.leaseEnd() == 0) {
      release(attempt);
    } else {
      wakeAgain(attempt, result == null ? 0 : result.leaseEnd(), nowNanos);
    }
  }

  /** Stops waiting for a delivery and cancels it, so that its handler does not continue in vain. */
  private void giveUp(RunningAttempt attempt, Answer.Health health, String detail, long nowNanos) {
    CompletionStage<Answer> delivering = attempt.delivering;
    if (delivering != null) {
      answered(attempt, new Answer.Retry(null, health, detail), null, nowNanos);
      delivering.toCompletableFuture().cancel(true);
    }
  }

  /** Handles the end of the lease by this node's monotonic clock. */
  private void leaseEnded(RunningAttempt attempt, long nowNanos) {
    if (!attempt.answered) {
      LOG.log(System.Logger.Level.WARNING, "a delivery did not answer before the lease ended; the"
          + " task can be claimed again: {0}, queue={1}",
          label(attempt.task), attempt.task.queue());
      if (attempt.destination != null) {
        attempt.destination.ill(Answer.Health.UNREACHABLE, nowNanos);
      }
      attempt.answered = true;
    }
    release(attempt);
  }

  /** Looks up the tasks of some attempts, at most once a second: callers may have reported the ends to other nodes. */
  void findReports(long nowNanos) {
    if (!store.isShared() || nowNanos - nextFindNanos < 0) {
      return;
    }
    nextFindNanos = nowNanos + SECOND_NANOS;
    int lookups = 0;
    for (int left = reportedLater.size(); left > 0 && lookups < REPORTS_PER_SECOND; left--) {
      RunningAttempt attempt = reportedLater.remove();
      if (!attempt.released) {
        reportedLater.add(attempt);
        releaseIfReported(attempt);
        lookups++;
      }
    }
  }

  /** Releases an attempt if another one, or none, has the task. The end of the lease is not judged by a read. */
  private void releaseIfReported(RunningAttempt attempt) {
    inbox.after(Stages.call(() -> store.find(new TaskRef.ById(attempt.task.id()))),
        (found, failure, nowNanos) -> {
          if (attempt.released) {
            return;
          }
          TaskRecord task = found == null ? null : found.orElse(null);
          if (failure == null && (task == null || task.state() != TaskState.RUNNING
              || !Objects.equals(attempt.task.token(), task.token()))) {
            release(attempt);
          } else {
            wakeAgain(attempt, task == null ? 0 : task.leaseEnd(), nowNanos);
          }
        });
  }

  /** Wakes an attempt when its lease has surely ended, or after a pause if the end is not known (0). */
  private void wakeAgain(RunningAttempt attempt, long leaseEnd, long nowNanos) {
    long leftMillis = PAUSE_MILLIS;
    if (leaseEnd != 0) {
      leftMillis += Math.max(0, leaseEnd - clock.millis(nowNanos));
      leftMillis = Math.clamp(leaseEnd - clock.earliestMillis(nowNanos), 1, leftMillis);
    }
    leases.cancel(attempt.leaseHandle);
    attempt.leaseEndMillis = millis(nowNanos) + leftMillis;
    attempt.leaseHandle = leases.schedule(attempt.leaseEndMillis, attempt);
  }
}
