package io.foliot.core.store;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The life of a task: the effect of each call of a store on one record. The methods are pure functions from a record, a
 * request and the time to the next record and an answer. If the next record is the same object, it need not be written.
 * Stores that decide in their own process call these methods. Stores that do the steps in another language (SQL,
 * Lua) must have the same effects, which the contract kit checks.
 *
 * <pre>
 * submit:  nothing → DELAYED;  DELAYED → DELAYED (new generation);  RUNNING → RUNNING + successor
 * claim:   DELAYED and due → RUNNING;  RUNNING and lease ended → RUNNING | DELAYED (successor) | FAILED | CANCELLED
 * settle:  RUNNING → FINISHED | FAILED | DELAYED (retry, re-arm, successor) | CANCELLED
 * cancel:  DELAYED → CANCELLED;  RUNNING → RUNNING + cancelRequested;  RUNNING and lease ended → CANCELLED
 * redrive: FAILED → DELAYED (new generation)
 * </pre>
 */
final class TaskLife {
  private TaskLife() {}

  /** The next record, and the answer to the caller. */
  record Step<R>(@Nullable TaskRecord after, R answer) {}

  /** The store's clock at a step, and the smallest generation that the step may assign. */
  record Now(long micros, long generationFloor) {
    long millis() {
      return Math.floorDiv(micros, 1_000);
    }

    long at(Due due) {
      return due.atMillis(micros);
    }

    long generationAfter(long last) {
      return Generations.next(last, generationFloor);
    }
  }

  /**
   * Decides a submit.
   *
   * @param last the live task of the key, else the latest final task of the key that is still kept; null if there is
   *     neither
   */
  static Step<SubmitResult> submit(@Nullable TaskRecord last, Draft draft, QueueTerms terms, Now now) {
    if (!isExpected(last, draft.expectedGeneration())) {
      return new Step<>(last, last == null
          ? new SubmitResult(SubmitResult.Kind.CHANGED, draft.id(), 0, 0, TaskState.FINISHED, false)
          : kept(SubmitResult.Kind.CHANGED, last, now));
    }
    if (draft.expectedGeneration() > 0 && last != null) {
      return submitted(reset(last, now.at(draft.due()), draft.body(), draft.maxAttempts(), terms, now), now);
    }
    if (last != null && last.isLive()) {
      // A task with a pending cancel is no conflict: the draft takes over from that task.
      OnConflict onConflict = last.cancelRequested() ? OnConflict.RESET : draft.onConflict();
      return switch (onConflict) {
        case KEEP -> new Step<>(last, kept(SubmitResult.Kind.KEPT, last, now));
        case REJECT -> new Step<>(last, kept(SubmitResult.Kind.REJECTED, last, now));
        case RESET -> submitted(reset(last, now.at(draft.due()), draft.body(), draft.maxAttempts(), terms, now), now);
      };
    }
    long generation = now.generationAfter(last == null ? 0 : last.generation());
    long dueAt = now.at(draft.due());
    TaskRecord created = TaskRecord.edit(draft.id(), draft.queue(), draft.key())
        .body(draft.body() == null ? Body.EMPTY : draft.body()).createdAt(now.millis()).changedAt(now.millis())
        .firstDueAt(dueAt).maxAttempts(draft.maxAttempts()).generation(generation).dueAt(dueAt)
        .wakeAt(dueAt).done();
    return new Step<>(created, new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), generation, dueAt,
        created.stateAt(now.millis()), true));
  }

  /**
   * Returns whether a key is in the state that a draft expects. A running task never has the expected generation,
   * because the outcome of its attempt is not known yet.
   */
  private static boolean isExpected(@Nullable TaskRecord last, long expectedGeneration) {
    if (expectedGeneration == Draft.ANY) {
      return true;
    }
    if (last == null || !last.isLive()) {
      return expectedGeneration == Draft.ABSENT;
    }
    return last.state() == TaskState.DELAYED && last.generation() == expectedGeneration;
  }

  /** Returns a task that a settlement inserts. */
  static TaskRecord child(Outcome.Child child, Now now) {
    long dueAt = now.at(child.due());
    return TaskRecord.edit(child.id(), child.queue(), null).body(child.body()).createdAt(now.millis())
        .changedAt(now.millis()).firstDueAt(dueAt).maxAttempts(child.maxAttempts())
        .generation(now.generationAfter(0)).dueAt(dueAt).wakeAt(dueAt)
        .parked(child.parked() && dueAt <= now.millis()).done();
  }

  private static SubmitResult kept(SubmitResult.Kind kind, TaskRecord record, Now now) {
    return new SubmitResult(kind, record.id(), record.generation(), record.dueAt(), record.stateAt(now.millis()),
        false);
  }

  private static Step<SubmitResult> submitted(Step<TouchResult> reset, Now now) {
    TaskRecord after = reset.after();
    TouchResult touched = reset.answer();
    assert after != null;
    SubmitResult.Kind kind = touched.kind() == TouchResult.Kind.RESET
        ? SubmitResult.Kind.RESET
        : SubmitResult.Kind.RESET_PENDING;
    return new Step<>(after, new SubmitResult(kind, after.id(), touched.generation(), touched.dueAt(),
        after.stateAt(now.millis()), touched.indexed()));
  }

  /** Decides a touch. A touch does not revive a task with a pending cancel. */
  static Step<TouchResult> touch(@Nullable TaskRecord record, Due due, boolean byId, QueueTerms terms, Now now) {
    if (record == null || (!record.isLive() && !byId)) {
      return new Step<>(record, TouchResult.NOT_FOUND);
    }
    if (!record.isLive()) {
      return new Step<>(record,
          new TouchResult(TouchResult.Kind.ALREADY_FINISHED, record.id(), record.generation(), 0, false));
    }
    if (record.cancelRequested()) {
      return new Step<>(record, TouchResult.NOT_FOUND);
    }
    return reset(record, now.at(due), null, 0, terms, now);
  }

  private static Step<TouchResult> reset(TaskRecord live, long wantedDueAt, @Nullable Body body, int maxAttempts,
      QueueTerms terms, Now now) {
    if (live.state() == TaskState.RUNNING) {
      return withSuccessor(live, wantedDueAt, body, maxAttempts, terms, now);
    }
    long dueAt = Math.min(wantedDueAt, saturatedAdd(live.firstDueAt(), terms.maxWaitMillis()));
    long generation = now.generationAfter(live.generation());
    boolean earlier = dueAt < live.wakeAt();
    boolean moves = earlier || (!live.parked() && isWorthMoving(live.wakeAt(), dueAt, now.millis()));
    TaskRecord.Edit edit = live.edit().generation(generation).dueAt(dueAt).attempt(0);
    if (body != null) {
      edit.body(body);
    }
    if (maxAttempts != 0) {
      edit.maxAttempts(maxAttempts);
    }
    if (moves) {
      edit.wakeAt(dueAt).parked(false);
    }
    TouchResult.Kind kind = live.outstanding() ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET;
    return new Step<>(edit.done(), new TouchResult(kind, live.id(), generation, dueAt, earlier));
  }

  /**
   * Returns whether the index entry of a postponed task moves to the new deadline. The entry moves if it is due within
   * the first five eighths of the time from now to the new deadline. If many touches postpone a task by the same delay,
   * at least three eighths of this delay pass between two moves of its entry.
   */
  private static boolean isWorthMoving(long wakeAt, long dueAt, long nowMillis) {
    return dueAt > nowMillis && wakeAt <= nowMillis + (dueAt - nowMillis) / 8 * 5;
  }

  private static Step<TouchResult> withSuccessor(TaskRecord running, long wantedDueAt, @Nullable Body body,
      int maxAttempts, QueueTerms terms, Now now) {
    TaskRecord.Successor old = running.successor();
    long firstDueAt = old == null ? wantedDueAt : old.firstDueAt();
    long dueAt = Math.min(wantedDueAt, saturatedAdd(firstDueAt, terms.maxWaitMillis()));
    long generation = now.generationAfter(old == null ? running.generation() : old.generation());
    Body carried = body == null && old != null ? old.body() : body;
    int attempts = maxAttempts == 0 ? old == null ? running.maxAttempts() : old.maxAttempts() : maxAttempts;
    TaskRecord after = running.edit().cancelRequested(false)
        .successor(new TaskRecord.Successor(generation, dueAt, firstDueAt, carried, attempts)).done();
    return new Step<>(after,
        new TouchResult(TouchResult.Kind.RESET_PENDING, running.id(), generation, dueAt, false));
  }

  static Step<CancelResult> cancel(@Nullable TaskRecord record, QueueTerms terms, Now now) {
    if (record == null) {
      return new Step<>(null, CancelResult.NOT_FOUND);
    }
    if (!record.isLive()) {
      return new Step<>(record,
          new CancelResult(Cancellation.ALREADY_FINISHED, record.id(), record.generation()));
    }
    boolean leaseRuns = leaseRuns(record, now);
    boolean pending = record.state() == TaskState.RUNNING || record.outstanding();
    TaskRecord after = leaseRuns
        ? record.edit().cancelRequested(true).successor(null).done()
        : end(afterLease(record), TaskState.CANCELLED, "cancelled", terms, now);
    Cancellation kind = pending ? Cancellation.CANCEL_PENDING : Cancellation.CANCELLED;
    return new Step<>(after, new CancelResult(kind, record.id(), record.generation()));
  }

  static Step<ClaimResult> claim(@Nullable TaskRecord record, Claim claim, Token token, QueueTerms terms, Now now) {
    if (record == null || !record.isLive()) {
      return new Step<>(record, ClaimResult.Gone.ABSENT);
    }
    if (record.state() == TaskState.RUNNING) {
      if (record.leaseEnd() > now.millis()) {
        return later(record, record.leaseEnd());
      }
      TaskRecord ended = claim.leaseMillis() == 0 ? record : leaseEnded(record, terms, now);
      if (!ended.isLive()) {
        return new Step<>(ended, new ClaimResult.Gone(ended.state(), ended.queue()));
      }
      if (ended.state() == TaskState.RUNNING && claim.beginsNothing(now.millis())) {
        // The attempt may still be settled, until the next one begins.
        return new Step<>(record, ClaimResult.Ready.READY);
      }
      record = ended;
    }
    if (record.state() == TaskState.DELAYED && record.dueAt() > now.millis()) {
      return later(record, record.dueAt());
    }
    if (claim.beginsNothing(now.millis())) {
      return new Step<>(record, ClaimResult.Ready.READY);
    }
    long leaseEnd = Math.addExact(now.millis(), claim.leaseMillis());
    TaskRecord won = record.edit().state(TaskState.RUNNING).attempt(record.attempt() + 1).token(token).settledAs(null)
        .claimedAt(now.millis()).changedAt(now.millis()).leaseEnd(leaseEnd).wakeAt(leaseEnd).parked(false).done();
    return new Step<>(won, new ClaimResult.Won(won));
  }

  private static Step<ClaimResult> later(TaskRecord record, long wakeAt) {
    boolean moves = record.wakeAt() != wakeAt || record.parked();
    TaskRecord after = moves ? record.edit().wakeAt(wakeAt).parked(false).done() : record;
    return new Step<>(after, new ClaimResult.Later(wakeAt));
  }

  /** Ends a lease: a pending cancel takes effect, or a successor takes over, or the task fails or is tried again. */
  private static TaskRecord leaseEnded(TaskRecord running, QueueTerms terms, Now now) {
    TaskRecord ended = afterLease(running);
    if (running.cancelRequested()) {
      return end(ended, TaskState.CANCELLED, "cancelled; its attempt never reported", terms, now);
    }
    if (running.successor() != null) {
      return takeOver(ended.edit(), running.successor(), now).done();
    }
    if (running.attempt() >= running.attemptsAllowed(terms)) {
      return end(ended, TaskState.FAILED, "attempts used up; the last one never reported", terms, now);
    }
    return ended;
  }

  /**
   * Returns the record after the end of its lease: still RUNNING, with the attempt added to its history. A record that
   * is not RUNNING is returned unchanged.
   */
  private static TaskRecord afterLease(TaskRecord record) {
    if (record.state() != TaskState.RUNNING) {
      return record;
    }
    AttemptRecord lost = new AttemptRecord(record.generation(), record.attempt(), record.claimedAt(), record.leaseEnd(),
        AttemptRecord.End.LEASE_ENDED, "no report before the lease ended");
    return record.edit().outstanding(true).attempts(append(record.attempts(), lost)).done();
  }

  private static TaskRecord.Edit takeOver(TaskRecord.Edit edit, TaskRecord.Successor successor, Now now) {
    if (successor.body() != null) {
      edit.body(successor.body());
    }
    return delayed(edit, successor.generation(), successor.dueAt(), now).firstDueAt(successor.firstDueAt())
        .maxAttempts(successor.maxAttempts()).successor(null).attempt(0);
  }

  private static TaskRecord.Edit delayed(TaskRecord.Edit edit, long generation, long dueAt, Now now) {
    return edit.state(TaskState.DELAYED).generation(generation).dueAt(dueAt).wakeAt(dueAt).parked(false)
        .changedAt(now.millis());
  }

  private static TaskRecord end(TaskRecord record, TaskState state, String reason, QueueTerms terms, Now now) {
    long retainMillis = state == TaskState.FAILED ? terms.retainFailedMillis() : terms.retainFinishedMillis();
    return record.edit().state(state).reason(reason).parked(false).successor(null).cancelRequested(false)
        .changedAt(now.millis()).dropAt(saturatedAdd(now.millis(), retainMillis)).done();
  }

  /** Returns whether the lease of a running task has neither ended nor been marked as ended. */
  private static boolean leaseRuns(TaskRecord record, Now now) {
    return record.state() == TaskState.RUNNING && record.leaseEnd() > now.millis() && record.settledAs() == null;
  }

  /**
   * Decides an extension. The first extension after the end of a lease marks the lease as ended, so that no later one
   * succeeds, even if the store's clock is set back.
   */
  static Step<ExtendResult> extend(@Nullable TaskRecord record, Extension extension, QueueTerms terms, Now now) {
    if (record == null) {
      return new Step<>(null, new ExtendResult(ExtendResult.Kind.NOT_FOUND, 0));
    }
    if (record.state() != TaskState.RUNNING || !extension.token().equals(record.token())) {
      return new Step<>(record, new ExtendResult(ExtendResult.Kind.STALE, 0));
    }
    boolean leaseRuns = leaseRuns(record, now);
    if (!leaseRuns && record.settledAs() == null) {
      // The mark makes the answer final. It also changes the record, so an extension that was decided before the end of
      // the lease, and whose write is still under way, is decided again.
      record = record.edit().settledAs(AttemptRecord.End.LEASE_ENDED).done();
    }
    if (record.cancelRequested()) {
      return new Step<>(record, new ExtendResult(ExtendResult.Kind.CANCELLED, leaseRuns ? record.leaseEnd() : 0));
    }
    if (!leaseRuns) {
      return new Step<>(record, new ExtendResult(ExtendResult.Kind.STALE, 0));
    }
    long wanted = Math.min(saturatedAdd(now.millis(), extension.leaseMillis()),
        saturatedAdd(record.claimedAt(), terms.maxRunMillis()));
    long leaseEnd = Math.max(record.leaseEnd(), wanted);
    boolean changes = leaseEnd != record.leaseEnd() || !extension.note().isEmpty();
    TaskRecord after = changes
        ? record.edit().leaseEnd(leaseEnd).noted(noted(record, extension.note())).done()
        : record;
    return new Step<>(after, new ExtendResult(ExtendResult.Kind.EXTENDED, leaseEnd));
  }

  static Step<SettleResult> settle(@Nullable TaskRecord record, AttemptEnd settlement, QueueTerms terms, Now now) {
    if (record == null) {
      return new Step<>(null, new SettleResult(SettleResult.Kind.NOT_FOUND, TaskState.FINISHED, 0));
    }
    AttemptRecord.End end = endOf(settlement.outcome());
    if (!settlement.token().equals(record.token())) {
      return new Step<>(record, new SettleResult(SettleResult.Kind.STALE, record.state(), 0));
    }
    if (record.state() != TaskState.RUNNING || record.generation() != settlement.generation()) {
      SettleResult.Kind kind = record.settledAs() == end ? SettleResult.Kind.REPEATED : SettleResult.Kind.STALE;
      return new Step<>(record, new SettleResult(kind, record.state(), 0));
    }
    AttemptRecord attempt = new AttemptRecord(record.generation(), record.attempt(), settlement.begunAt(), now.millis(),
        end, settlement.detail());
    List<AttemptRecord> earlier = record.attempts();
    if (end == AttemptRecord.End.NOT_BEGUN && record.notBegunInARow() > Outcome.NotBegun.AT_ONCE) {
      earlier = earlier.subList(0, earlier.size() - 1);
    }
    TaskRecord reported = record.edit().settledAs(null).attempts(append(earlier, attempt))
        .noted(noted(record, settlement.note())).done();
    TaskRecord after = ended(reported, settlement, terms, now).edit().settledAs(end).done();
    return new Step<>(after,
        new SettleResult(SettleResult.Kind.SETTLED, after.state(), after.isLive() ? after.wakeAt() : 0));
  }

  private static TaskRecord.@Nullable Noted noted(TaskRecord running, TaskNote note) {
    return note.isEmpty() ? running.noted() : new TaskRecord.Noted(running.generation(), note.over(running.note()));
  }

  private static TaskRecord ended(TaskRecord running, AttemptEnd settlement, QueueTerms terms, Now now) {
    Outcome outcome = settlement.outcome();
    if (running.successor() != null) {
      return outcome instanceof Outcome.Rearm rearm && rearm.isPlan()
          ? rearmed(running, running.successor(), rearm, now)
          : takeOver(running.edit(), running.successor(), now).done();
    }
    if (running.cancelRequested() && !(outcome instanceof Outcome.Finished)) {
      return end(running, TaskState.CANCELLED, "cancelled while it ran", terms, now);
    }
    return switch (outcome) {
      case Outcome.Finished finished -> end(running, TaskState.FINISHED, "", terms, now);
      case Outcome.Failed failed -> end(running, TaskState.FAILED, running.attempts().getLast().message(), terms, now);
      case Outcome.NotBegun notBegun -> {
        long pauseMillis = running.notBegunInARow() > Outcome.NotBegun.AT_ONCE ? Outcome.NotBegun.PAUSE_MILLIS : 0;
        // Not before the due time, even if the store's clock was set back after the claim.
        long dueAt = Math.max(running.dueAt(), now.at(Due.after(pauseMillis)));
        yield delayed(running.edit(), running.generation(), dueAt, now).attempt(running.attempt() - 1).done();
      }
      case Outcome.Retry retry -> delayed(running.edit(), running.generation(), now.at(retry.due()), now).done();
      case Outcome.Rearm rearm -> {
        long dueAt = now.at(rearm.due());
        TaskRecord.Edit edit = delayed(running.edit(), now.generationAfter(running.generation()), dueAt, now)
            .firstDueAt(dueAt).attempt(0);
        yield (rearm.isPlan() ? planned(edit, rearm) : edit).done();
      }
    };
  }

  /**
   * Decides a re-arm that has a payload or children, if the task has a successor. The re-arm is applied, and then the
   * successor takes over. If the re-arm is due before the successor, the task gets one more generation, which is due at
   * the time of the re-arm. So the successor's generation never begins before the due time that the touch or submit
   * returned.
   */
  private static TaskRecord rearmed(TaskRecord running, TaskRecord.Successor successor, Outcome.Rearm rearm, Now now) {
    TaskRecord next = takeOver(planned(running.edit(), rearm), successor, now).done();
    long dueAt = now.at(rearm.due());
    return dueAt >= next.dueAt()
        ? next
        : next.edit().generation(now.generationAfter(next.generation())).dueAt(dueAt).wakeAt(dueAt).firstDueAt(dueAt)
            .done();
  }

  private static TaskRecord.Edit planned(TaskRecord.Edit edit, Outcome.Rearm rearm) {
    if (rearm.body() != null) {
      edit.body(rearm.body());
    }
    return edit.attempts(List.of()).noted(null);
  }

  private static AttemptRecord.End endOf(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Finished finished -> AttemptRecord.End.FINISHED;
      case Outcome.Failed failed -> AttemptRecord.End.FAILED;
      case Outcome.Retry retry -> AttemptRecord.End.RETRIED;
      case Outcome.Rearm rearm -> AttemptRecord.End.REARMED;
      case Outcome.NotBegun notBegun -> AttemptRecord.End.NOT_BEGUN;
    };
  }

  /**
   * Decides whether to park a task. The index entry of a task that is not due moves to its due time or lease end
   * instead. A task that the end of its lease finishes, or passes to its successor, is not parked: {@link Claim#end}
   * records that end.
   */
  static Step<Boolean> park(@Nullable TaskRecord record, long wakeAt, QueueTerms terms, Now now) {
    if (record == null || !record.isLive() || record.parked() || record.wakeAt() != wakeAt) {
      return new Step<>(record, false);
    }
    long due = record.state() == TaskState.RUNNING ? record.leaseEnd() : record.dueAt();
    if (due > now.millis()) {
      return new Step<>(record.wakeAt() == due ? record : record.edit().wakeAt(due).done(), false);
    }
    if (record.state() == TaskState.RUNNING && leaseEnded(record, terms, now).state() != TaskState.RUNNING) {
      return new Step<>(record, false);
    }
    return new Step<>(record.edit().parked(true).done(), true);
  }

  /**
   * Decides a redrive.
   *
   * @param keyIsLive whether the key of the failed task has another, live task
   */
  static Step<RedriveResult> redrive(@Nullable TaskRecord record, TaskId id, boolean keyIsLive, Now now) {
    if (record == null) {
      return new Step<>(null, new RedriveResult(RedriveResult.Kind.NOT_FOUND, id, 0, 0));
    }
    if (record.state() != TaskState.FAILED || SetAside.is(record)) {
      return new Step<>(record, new RedriveResult(RedriveResult.Kind.NOT_FAILED, id, 0, 0));
    }
    if (keyIsLive) {
      return new Step<>(record, new RedriveResult(RedriveResult.Kind.CONFLICT, id, 0, 0));
    }
    long generation = now.generationAfter(record.generation());
    TaskRecord after = delayed(record.edit(), generation, now.millis(), now).firstDueAt(now.millis()).attempt(0)
        .reason("")
        .outstanding(false).dropAt(0).noted(redriven(record, generation)).done();
    return new Step<>(after, new RedriveResult(RedriveResult.Kind.REDRIVEN, id, generation, now.millis()));
  }

  /** Returns the note of a redriven task, which continues from the checkpoint of the failed generation. */
  private static TaskRecord.@Nullable Noted redriven(TaskRecord failed, long generation) {
    TaskRecord.Noted noted = failed.noted();
    String checkpoint = noted == null || noted.generation() != failed.generation() ? null : noted.note().checkpoint();
    return checkpoint == null
        ? noted
        : new TaskRecord.Noted(generation, new TaskNote(-1, "", checkpoint, ""));
  }

  private static List<AttemptRecord> append(List<AttemptRecord> attempts, AttemptRecord attempt) {
    if (attempts.isEmpty()) {
      return List.of(attempt);
    }
    int dropped = Math.max(0, attempts.size() + 1 - AttemptRecord.KEPT);
    List<AttemptRecord> next = new ArrayList<>(attempts.size() + 1);
    next.addAll(attempts.subList(dropped, attempts.size()));
    next.add(attempt);
    return List.copyOf(next);
  }

  private static long saturatedAdd(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? Long.MAX_VALUE : sum;
  }
}
