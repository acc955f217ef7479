package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptMaker;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Part of the kit: settles and redrives. */
abstract class SettleContract extends ClaimContract {
  /** Returns one outcome of each kind. */
  private List<Outcome> outcomes() {
    return List.of(new Outcome.Finished(), new Outcome.Failed(), new Outcome.Retry(Due.at(now() + HOUR)),
        new Outcome.Rearm(Due.at(now() + HOUR)), new Outcome.NotBegun());
  }

  @Test
  void anAttemptThatSucceededFinishesItsTask() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long before = now();
    AttemptEnd settlement = new AttemptEnd(id, running.generation(), tokenOf(running), new Outcome.Finished(),
        before - 3, "fine");
    assertThat(one(store().settle(List.of(settlement))))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0));
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.FINISHED);
    assertThat(task.generation()).isEqualTo(running.generation());
    assertThat(task.changedAt()).isBetween(before, now());
    assertThat(task.attempts()).containsExactly(new AttemptRecord(running.generation(), 1, before - 3,
        task.changedAt(), AttemptRecord.End.FINISHED, "fine"));
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void anAttemptThatFailsPermanentlyMakesADeadLetter() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    assertThat(settle(running, new Outcome.Failed()))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.FAILED, 0));
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.FAILED);
    assertThat(task.reason()).isEqualTo("detail");
    assertThat(task.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.FAILED);
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void aFailedAttemptIsRetriedAtTheTimeOfItsOutcome() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long retryAt = now() + 2 * tickMillis();
    assertThat(settle(running, new Outcome.Retry(Due.at(retryAt))))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, retryAt));
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.DELAYED);
    assertThat(task.generation()).isEqualTo(running.generation());
    assertThat(task.dueAt()).isEqualTo(retryAt);
    assertThat(task.attempt()).isEqualTo(1);
    assertThat(task.outstanding()).isFalse();
    assertThat(wakes(id)).containsExactly(retryAt);
    assertThat(later(claim(id))).isEqualTo(retryAt);
    pass(3);
    TaskRecord second = won(id);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.generation()).isEqualTo(running.generation());
    assertThat(second.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.RETRIED);
  }

  @Test
  void anAttemptThatDidNotBeginDoesNotCount() {
    TaskId id = created(withAttempts(draft("a", now()), 1));
    TaskRecord first = won(id);
    long before = now();
    SettleResult result = settle(first, new Outcome.NotBegun());
    TaskRecord back = record(id);
    assertThat(result).isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, back.dueAt()));
    assertThat(back.dueAt()).isBetween(before, now());
    assertThat(wakes(id)).containsExactly(back.dueAt());
    assertThat(back.attempt()).isZero();
    assertThat(back.generation()).isEqualTo(first.generation());
    assertThat(back.outstanding()).isFalse();
    assertThat(settle(first, new Outcome.NotBegun()).kind()).isEqualTo(SettleResult.Kind.REPEATED);

    TaskRecord second = won(id, tickMillis());
    assertThat(second.attempt()).isEqualTo(1);
    assertThat(settle(first, new Outcome.NotBegun()).kind()).isEqualTo(SettleResult.Kind.STALE);
    pass(2);
    assertThat(gone(claim(id)).endedAs()).isEqualTo(TaskState.FAILED);
    assertThat(record(id).attempts()).extracting(AttemptRecord::attempt, AttemptRecord::end).containsExactly(
        tuple(1, AttemptRecord.End.NOT_BEGUN), tuple(1, AttemptRecord.End.LEASE_ENDED));
  }

  @Test
  void aTaskWhoseAttemptsDoNotBeginIsPaused() {
    TaskId id = due("a");
    settled(won(id), new Outcome.NotBegun());
    settled(won(id), new Outcome.Retry(Due.at(now())));
    for (int i = 0; i < Outcome.NotBegun.AT_ONCE; i++) {
      settled(won(id), new Outcome.NotBegun());
    }
    TaskRecord last = won(id);
    long pausedUntil = now() + Outcome.NotBegun.PAUSE_MILLIS;
    assertThat(settled(last, new Outcome.NotBegun()).wakeAt()).isGreaterThanOrEqualTo(pausedUntil);
    assertThat(later(claim(id))).isGreaterThanOrEqualTo(pausedUntil);
    assertThat(record(id).attempt()).isEqualTo(1);
    assertThat(record(id).attempts()).hasSize(Outcome.NotBegun.AT_ONCE + 3);
  }

  @Test
  void aReArmedTaskIsANewGeneration() {
    TaskId id = created(withAttempts(draft("a", now()), 3));
    settled(won(id), new Outcome.Retry(Due.at(now())));
    TaskRecord running = won(id);
    long again = now() + HOUR;
    assertThat(settle(running, new Outcome.Rearm(Due.at(again))))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, again));
    TaskRecord task = record(id);
    assertThat(task.generation()).isGreaterThan(running.generation());
    assertThat(task.dueAt()).isEqualTo(again);
    assertThat(task.firstDueAt()).isEqualTo(again);
    assertThat(task.attempt()).isZero();
    assertThat(task.maxAttempts()).isEqualTo(3);
    assertThat(task.body()).isEqualTo(body("of a"));
    assertThat(wakes(id)).containsExactly(again);
    assertThat(task.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.RETRIED,
        AttemptRecord.End.REARMED);
  }

  @Test
  void anAbsentTaskCannotBeSettled() {
    AttemptEnd settlement = new AttemptEnd(newId(QUEUE, "a"), 1, new Token(1, 2), new Outcome.Finished(), 0, "");
    assertThat(one(store().settle(List.of(settlement))).kind()).isEqualTo(SettleResult.Kind.NOT_FOUND);
  }

  @Test
  void onlyTheTokenOfTheClaimSettles() {
    TaskId id = due("a");
    AttemptEnd early = new AttemptEnd(id, record(id).generation(), new Token(1, 2), new Outcome.Finished(), 0, "");
    assertThat(one(store().settle(List.of(early))).kind()).as("never claimed").isEqualTo(SettleResult.Kind.STALE);
    TaskRecord running = won(id);
    Token token = tokenOf(running);
    for (Token forged : List.of(new Token(1, 2), new Token(token.high(), token.low() + 1),
        new Token(token.high() ^ Long.MIN_VALUE, token.low()))) {
      for (Outcome outcome : outcomes()) {
        SettleResult result = one(store()
            .settle(List.of(new AttemptEnd(id, running.generation(), forged, outcome, 0, ""))));
        assertThat(result).isEqualTo(new SettleResult(SettleResult.Kind.STALE, TaskState.RUNNING, 0));
      }
    }
    assertThat(record(id).state()).isEqualTo(TaskState.RUNNING);
    assertThat(record(id).attempts()).isEmpty();
  }

  @Test
  void onlyTheGenerationOfTheClaimIsSettled() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    AttemptEnd other = new AttemptEnd(id, running.generation() + 1, tokenOf(running), new Outcome.Finished(), 0, "");
    assertThat(one(store().settle(List.of(other))).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(record(id).state()).isEqualTo(TaskState.RUNNING);
    finish(running);
  }

  @Test
  void aStaleTokenSettlesNothingAfterAnotherClaim() {
    for (Outcome outcome : outcomes()) {
      TaskId id = due("a");
      TaskRecord first = lost(id);
      TaskRecord second = won(id);
      assertThat(settle(first, outcome))
          .isEqualTo(new SettleResult(SettleResult.Kind.STALE, TaskState.RUNNING, 0));
      assertThat(record(id).token()).isEqualTo(second.token());
      finish(second);
    }
  }

  @Test
  void theSameOutcomeMayBeRepeatedAndAnotherIsRefused() {
    for (Outcome outcome : outcomes()) {
      TaskId id = due("a");
      TaskRecord running = won(id);
      SettleResult first = settled(running, outcome);
      TaskRecord before = record(id);
      assertThat(settle(running, outcome))
          .isEqualTo(new SettleResult(SettleResult.Kind.REPEATED, first.state(), 0));
      for (Outcome other : outcomes()) {
        if (!other.getClass().equals(outcome.getClass())) {
          assertThat(settle(running, other).kind()).as("%s after %s", other, outcome)
              .isEqualTo(SettleResult.Kind.STALE);
        }
      }
      TaskRecord after = record(id);
      assertThat(after.state()).isEqualTo(before.state());
      assertThat(after.generation()).isEqualTo(before.generation());
      assertThat(after.dueAt()).isEqualTo(before.dueAt());
      assertThat(after.attempts()).isEqualTo(before.attempts());
      cancel(key("a"));
    }
  }

  @Test
  void aRepetitionAfterTheNextClaimIsStale() {
    TaskId id = due("a");
    TaskRecord first = won(id);
    settled(first, new Outcome.Retry(Due.at(now())));
    TaskRecord second = won(id);
    assertThat(settle(first, new Outcome.Retry(Due.at(now()))).kind()).isEqualTo(SettleResult.Kind.STALE);
    finish(second);
  }

  @Test
  void aBatchSettlesInItsOrder() {
    TaskRecord a = won(due("a"));
    TaskRecord b = won(due("b"));
    List<SettleResult> results = get(store().settle(List.of(settlement(b, new Outcome.Failed()),
        settlement(a, new Outcome.Finished()), settlement(a, new Outcome.Finished()),
        settlement(b, new Outcome.Finished()))));
    assertThat(results).extracting(SettleResult::kind).containsExactly(SettleResult.Kind.SETTLED,
        SettleResult.Kind.SETTLED, SettleResult.Kind.REPEATED, SettleResult.Kind.STALE);
    assertThat(results).extracting(SettleResult::state).containsExactly(TaskState.FAILED, TaskState.FINISHED,
        TaskState.FINISHED, TaskState.FAILED);
  }

  @Test
  void aSettleAfterTheLeaseIsAcceptedBeforeTheNextClaim() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(settle(running, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.FINISHED);
    assertThat(task.outstanding()).isFalse();
    assertThat(task.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.FINISHED);
  }

  @Test
  void theSuccessorTakesOverAfterAnyOutcome() {
    for (Outcome outcome : outcomes()) {
      TaskId id = due("a");
      TaskRecord running = won(id);
      long dueAt = now() + 5 * HOUR;
      long generation = submit(withBody(withAttempts(draft("a", dueAt), 2), body("next"))).generation();
      assertThat(settle(running, outcome)).as("%s", outcome)
          .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, dueAt));
      TaskRecord next = record(id);
      assertThat(next.state()).isEqualTo(TaskState.DELAYED);
      assertThat(next.generation()).isEqualTo(generation);
      assertThat(next.dueAt()).isEqualTo(dueAt);
      assertThat(next.firstDueAt()).isEqualTo(dueAt);
      assertThat(next.body()).isEqualTo(body("next"));
      assertThat(next.maxAttempts()).isEqualTo(2);
      assertThat(next.attempt()).isZero();
      assertThat(next.successor()).isNull();
      assertThat(next.outstanding()).isFalse();
      assertThat(next.attempts()).hasSize(1);
      assertThat(wakes(id)).containsExactly(dueAt);
      assertThat(settle(running, outcome).kind()).as("repeated").isEqualTo(SettleResult.Kind.REPEATED);
      assertThat(cancelKind(key("a"))).isEqualTo(Cancellation.CANCELLED);
    }
  }

  @Test
  void aNewerResetReplacesTheSuccessor() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long first = submit(withBody(withAttempts(draft("a", now() + HOUR), 2), body("first"))).generation();
    long second = touch(id(id), now() + 2 * HOUR).generation();
    assertThat(second).isGreaterThan(first);
    assertThat(record(id).successor()).isNotNull();
    finish(running);
    TaskRecord next = record(id);
    assertThat(next.generation()).isEqualTo(second);
    assertThat(next.body()).as("an omitted body is kept").isEqualTo(body("first"));
    assertThat(next.maxAttempts()).isEqualTo(2);
    touch(key("a"), now());
    TaskRecord again = won(id);
    touch(key("a"), now() + HOUR);
    long third = submit(withBody(draft("a", now()), body("third"))).generation();
    finish(again);
    assertThat(won(id).generation()).isEqualTo(third);
    assertThat(record(id).body()).isEqualTo(body("third"));
  }

  @Test
  void aTaskThatSucceedsIsFinishedDespiteAPendingCancel() {
    TaskRecord running = won(due("a"));
    cancel(key("a"));
    assertThat(settle(running, new Outcome.Finished()))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0));
    assertThat(record(running.id()).state()).isEqualTo(TaskState.FINISHED);
    assertThat(record(running.id()).cancelRequested()).isFalse();
  }

  @Test
  void aPendingCancelEndsATaskThatDoesNotSucceed() {
    for (Outcome outcome : outcomes()) {
      if (outcome instanceof Outcome.Finished) {
        continue;
      }
      TaskRecord running = won(due("a"));
      cancel(key("a"));
      assertThat(settle(running, outcome)).as("%s", outcome)
          .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.CANCELLED, 0));
      TaskRecord ended = record(running.id());
      assertThat(ended.state()).isEqualTo(TaskState.CANCELLED);
      assertThat(ended.attempts()).hasSize(1);
      assertThat(wakes(running.id())).isEmpty();
      assertThat(settle(running, outcome).kind()).isEqualTo(SettleResult.Kind.REPEATED);
      assertThat(claim(running.id())).isEqualTo(ClaimResult.Gone.ABSENT);
    }
  }

  @Test
  void theHistoryKeepsTheLastAttemptsOldestFirst() {
    TaskId id = due("a");
    int attempts = AttemptRecord.KEPT + 5;
    for (int i = 0; i < attempts; i++) {
      settled(won(id), new Outcome.Retry(Due.at(now())));
    }
    List<AttemptRecord> kept = record(id).attempts();
    assertThat(kept).hasSize(AttemptRecord.KEPT).extracting(AttemptRecord::end)
        .containsOnly(AttemptRecord.End.RETRIED);
    assertThat(kept.getFirst().attempt()).isEqualTo(6);
    assertThat(kept.getLast().attempt()).isEqualTo(attempts);
    assertThat(kept).extracting(AttemptRecord::attempt).isSorted();
  }

  @Test
  void aLongDetailIsCutInTheAttemptAndTheReason() {
    TaskRecord running = won(due("a"));
    String detail = "x".repeat(100_000);
    AttemptEnd settlement = new AttemptEnd(running.id(), running.generation(), tokenOf(running), new Outcome.Failed(),
        now(), detail);
    assertThat(one(store().settle(List.of(settlement))).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    TaskRecord task = record(running.id());
    assertThat(task.attempts().getFirst().detail()).hasSize(AttemptRecord.MAX_DETAIL);
    assertThat(task.reason()).hasSizeLessThanOrEqualTo(AttemptRecord.MAX_DETAIL);
  }

  @Test
  void eachAttemptKeepsItsMaker() {
    AttemptMaker maker = new AttemptMaker("\u5de5".repeat(60), "n".repeat(64));
    String detail = AttemptMaker.detail(maker.prefix(), "\u20ac".repeat(1_000));
    for (Outcome outcome : List.of(new Outcome.Finished(), new Outcome.Retry(Due.NOW), new Outcome.Failed())) {
      TaskRecord running = won(due(null));
      store().settle(List.of(new AttemptEnd(running.id(), running.generation(), tokenOf(running), outcome,
          running.claimedAt(), detail))).toCompletableFuture().join();
      reopenStore();
      TaskRecord task = record(running.id());
      assertThat(task.attempts().getFirst().maker()).isEqualTo(maker);
      assertThat(task.attempts().getFirst().message()).isEqualTo("\u20ac".repeat(AttemptRecord.MAX_DETAIL));
      assertThat(task.reason()).doesNotContain("n");
    }
  }

  @Test
  void aRedriveGivesANewGenerationAndRestartsTheAttempts() {
    TaskId id = created(withAttempts(draft("a", now()), 2));
    lost(id);
    TaskRecord running = won(id);
    settled(running, new Outcome.Failed());
    long before = now();
    RedriveResult result = redrive(id);
    assertThat(result.kind()).isEqualTo(RedriveResult.Kind.REDRIVEN);
    assertThat(result.id()).isEqualTo(id);
    assertThat(result.generation()).isGreaterThan(running.generation());
    assertThat(result.dueAt()).isBetween(before, now());
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.DELAYED);
    assertThat(task.generation()).isEqualTo(result.generation());
    assertThat(task.dueAt()).isEqualTo(result.dueAt());
    assertThat(task.firstDueAt()).isEqualTo(result.dueAt());
    assertThat(task.reason()).isEmpty();
    assertThat(task.outstanding()).as("the redrive drops outstanding attempts").isFalse();
    assertThat(task.body()).isEqualTo(body("of a"));
    assertThat(wakes(id)).containsExactly(result.dueAt());
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(id);
    TaskRecord again = won(id);
    assertThat(again.attempt()).isEqualTo(1);
    assertThat(again.attempts()).hasSize(2);
    assertThat(settle(running, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    finish(again);
    assertThat(record(id).state()).isEqualTo(TaskState.FINISHED);
  }

  @Test
  void aRedriveLeavesTheLiveTaskOfTheKeyAlone() {
    TaskId old = failed("a");
    TaskId live = created("a", now() + HOUR);
    assertThat(redrive(old)).isEqualTo(new RedriveResult(RedriveResult.Kind.CONFLICT, old, 0, 0));
    assertThat(record(old).state()).isEqualTo(TaskState.FAILED);
    cancel(id(live));
    assertThat(redrive(old).kind()).isEqualTo(RedriveResult.Kind.REDRIVEN);
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(old);
    assertThat(submit(draft("a", now() + HOUR)).id()).isEqualTo(old);
  }

  @Test
  void tasksWithoutAKeyDoNotConflictInARedrive() {
    TaskId first = failed(null);
    TaskId second = failed(null);
    assertThat(redriveAll(first, second)).extracting(RedriveResult::kind)
        .containsOnly(RedriveResult.Kind.REDRIVEN);
  }

  @Test
  void onlyFailedTasksAreRedriven() {
    TaskId waiting = created("a", now() + HOUR);
    TaskId running = due("b");
    won(running);
    TaskId finished = due("c");
    finish(won(finished));
    TaskId cancelled = due("d");
    cancel(id(cancelled));
    TaskId absent = newId(QUEUE, "e");
    TaskId failed = failed("f");
    List<RedriveResult> results = redriveAll(waiting, running, finished, cancelled, absent, failed,
        failed);
    assertThat(results).extracting(RedriveResult::kind).containsExactly(RedriveResult.Kind.NOT_FAILED,
        RedriveResult.Kind.NOT_FAILED, RedriveResult.Kind.NOT_FAILED, RedriveResult.Kind.NOT_FAILED,
        RedriveResult.Kind.NOT_FOUND, RedriveResult.Kind.REDRIVEN, RedriveResult.Kind.NOT_FAILED);
    assertThat(results).extracting(RedriveResult::id).containsExactly(waiting, running, finished, cancelled, absent,
        failed, failed);
    assertThat(record(finished).state()).isEqualTo(TaskState.FINISHED);
    assertThat(record(cancelled).state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aTaskOfAnotherQueueIsNotRedriven() {
    TaskId keyed = failed("a");
    TaskId plain = failed(null);
    TaskId waiting = created("b", now() + HOUR);
    for (TaskId id : List.of(keyed, plain, waiting)) {
      TaskRecord before = record(id);
      assertThat(redrive(OTHER_QUEUE, id)).isEqualTo(new RedriveResult(RedriveResult.Kind.NOT_FOUND, id, 0, 0));
      assertThat(record(id)).hasToString(before.toString());
    }
    // Within a batch, too, a task is found only in the queue that it belongs to.
    List<RedriveResult> mixed = get(store().redrive(List.of(new Redrive(OTHER_QUEUE, keyed), new Redrive(QUEUE, keyed),
        new Redrive(OTHER_QUEUE, plain))));
    assertThat(mixed).extracting(RedriveResult::kind).containsExactly(RedriveResult.Kind.NOT_FOUND,
        RedriveResult.Kind.REDRIVEN, RedriveResult.Kind.NOT_FOUND);
    assertThat(record(plain).state()).isEqualTo(TaskState.FAILED);
  }

  @Test
  void oneOfTwoFailedTasksOfAKeyIsRedriven() {
    TaskId first = failed("a");
    TaskId second = failed("a");
    List<RedriveResult> results = redriveAll(first, second);
    assertThat(results).extracting(RedriveResult::kind).containsExactly(RedriveResult.Kind.REDRIVEN,
        RedriveResult.Kind.CONFLICT);
    assertThat(results.getFirst().generation()).isGreaterThan(record(second).generation());
  }
}
