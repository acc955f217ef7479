package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Part of the kit: claims, on which all safety depends, and extensions of leases. */
abstract class ClaimContract extends IndexContract {
  @Test
  void noTaskIsClaimedEarly() {
    TaskId id = created("a", now() + HOUR);
    long dueAt = record(id).dueAt();
    assertThat(later(claim(id))).isEqualTo(dueAt);
    assertThat(record(id).state()).isEqualTo(TaskState.DELAYED);
    TaskId soon = created("b", now() + 2 * tickMillis());
    assertThat(later(claim(soon))).isEqualTo(record(soon).dueAt());
    pass(3);
    assertThat(won(soon).dueAt()).isLessThanOrEqualTo(now());
  }

  @Test
  void aClaimReturnsTheTaskItsBodyAndALease() {
    long before = now();
    TaskId id = created(withAttempts(draft("a", before), 3));
    ClaimBatch batch = get(store().claim(List.of(new Claim(id, HOUR))));
    TaskRecord task = won(batch.results().getFirst());
    assertThat(batch.nowMillis()).isBetween(before, now());
    assertThat(task.id()).isEqualTo(id);
    assertThat(task.queue()).isEqualTo(QUEUE);
    assertThat(task.key()).isEqualTo("a");
    assertThat(task.body()).isEqualTo(body("of a"));
    assertThat(task.state()).isEqualTo(TaskState.RUNNING);
    assertThat(task.attempt()).isEqualTo(1);
    assertThat(task.maxAttempts()).isEqualTo(3);
    assertThat(task.dueAt()).isEqualTo(before);
    assertThat(task.token()).isNotNull();
    assertThat(task.claimedAt()).isBetween(before, now());
    assertThat(task.leaseEnd()).isEqualTo(task.claimedAt() + HOUR);
    assertThat(task.leaseEnd()).isEqualTo(batch.nowMillis() + HOUR);
    TaskRecord found = record(id);
    assertThat(found.state()).isEqualTo(TaskState.RUNNING);
    assertThat(found.generation()).isEqualTo(task.generation());
    assertThat(found.leaseEnd()).isEqualTo(task.leaseEnd());
    assertThat(found.token()).isEqualTo(task.token());
    assertThat(wakes(id)).containsExactly(task.leaseEnd());
  }

  @Test
  void aMoveCorrectsEarlyEntriesAndLeavesDueTasks() {
    TaskId due = due("a");
    TaskId pushedBack = created("b", now() + 10 * HOUR);
    touch(id(pushedBack), now() + 11 * HOUR);
    TaskId running = due("c");
    TaskRecord claimed = won(running);
    TaskId lost = due("d");
    lost(lost);
    TaskId parked = due("e");
    assertThat(park(parked)).isTrue();
    String before = record(due).toString();
    List<ClaimResult> results = get(store().claim(List.of(Claim.move(due), new Claim(due("f"), HOUR),
        Claim.move(pushedBack), Claim.move(running), Claim.move(lost), Claim.move(parked),
        Claim.move(newId(QUEUE, "g"))))).results();
    assertThat(results.getFirst()).isEqualTo(ClaimResult.Ready.READY);
    assertThat(record(due)).hasToString(before);
    assertThat(won(results.get(1)).attempt()).isEqualTo(1);
    assertThat(later(results.get(2))).isEqualTo(record(pushedBack).dueAt());
    assertThat(wakes(pushedBack)).containsExactly(record(pushedBack).dueAt());
    assertThat(later(results.get(3))).isEqualTo(claimed.leaseEnd());
    assertThat(results.get(4)).isEqualTo(ClaimResult.Ready.READY);
    assertThat(record(lost).attempt()).as("a move does not record the end of the lease").isEqualTo(1);
    assertThat(results.get(5)).isEqualTo(ClaimResult.Ready.READY);
    assertThat(record(parked).parked()).isTrue();
    assertThat(results.get(6)).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(won(due).attempt()).isEqualTo(1);
    assertThat(won(lost).attempt()).isEqualTo(2);
  }

  @Test
  void aProbeReturnsDueTimesAndChangesNothing() {
    TaskId due = due("a");
    TaskId pushedBack = created("b", now() + 10 * HOUR);
    touch(id(pushedBack), now() + 11 * HOUR);
    TaskId pulledNearer = created("c", now() + 10 * HOUR);
    touch(id(pulledNearer), now() + 12 * HOUR);
    touch(id(pulledNearer), now() + 11 * HOUR);
    TaskId running = due("d");
    TaskRecord claimed = won(running);
    TaskId parked = due("e");
    assertThat(park(parked)).isTrue();
    TaskId done = due("f");
    settled(won(done), new Outcome.Finished());
    List<TaskId> live = List.of(due, pushedBack, pulledNearer, running, parked);
    List<String> before = live.stream().map(id -> record(id).toString()).toList();
    List<TaskId> all = new ArrayList<>(live);
    all.add(done);
    all.add(newId(QUEUE, "g"));
    all.add(due);
    assertThat(get(store().probe(all))).containsExactly(Probed.of(record(due)), Probed.of(record(pushedBack)),
        Probed.of(record(pulledNearer)), new Probed(claimed.leaseEnd(), claimed.leaseEnd()),
        Probed.of(record(parked)), Probed.UNKNOWN, Probed.UNKNOWN, Probed.of(record(due)));
    assertThat(get(store().probe(List.of(pushedBack))).getFirst())
        .isEqualTo(new Probed(record(pushedBack).dueAt(), record(pushedBack).wakeAt()))
        .satisfies(probed -> assertThat(probed.hasToMove()).isTrue());
    assertThat(live.stream().map(id -> record(id).toString()).toList()).isEqualTo(before);
    assertThat(wakes(pushedBack)).containsExactly(record(pushedBack).wakeAt());
    assertThat(get(store().probe(List.of()))).isEmpty();
  }

  @Test
  void aClaimAfterItsLatestTimeIsAMove() {
    TaskId due = due("a");
    TaskId pushedBack = created("b", now() + 10 * HOUR);
    touch(id(pushedBack), now() + 11 * HOUR);
    List<ClaimResult> results = get(store().claim(List.of(new Claim(due, HOUR, now() - HOUR),
        new Claim(due("c"), HOUR, now() + HOUR), new Claim(pushedBack, HOUR, now() - HOUR),
        new Claim(due("d"), HOUR)))).results();
    assertThat(results.getFirst()).isEqualTo(ClaimResult.Ready.READY);
    assertThat(won(results.get(1)).attempt()).isEqualTo(1);
    assertThat(later(results.get(2))).isEqualTo(record(pushedBack).dueAt());
    assertThat(won(results.get(3)).attempt()).isEqualTo(1);
    assertThat(record(due).state()).isEqualTo(TaskState.DELAYED);
    assertThat(won(due).attempt()).isEqualTo(1);
  }

  @Test
  void aRunningTaskIsNotClaimedAgain() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    assertThat(later(claim(id))).isEqualTo(running.leaseEnd());
    assertThat(record(id).token()).isEqualTo(running.token());
    assertThat(record(id).attempt()).isEqualTo(1);
    finish(running);
  }

  @Test
  void oneOfTwoClaimsOfATaskInABatchWins() {
    TaskId id = due("a");
    List<ClaimResult> results = get(store().claim(List.of(new Claim(id, HOUR), new Claim(id, 2 * HOUR)))).results();
    TaskRecord running = won(results.getFirst());
    assertThat(later(results.get(1))).isEqualTo(running.leaseEnd());
    finish(running);
  }

  @Test
  void aBatchOfClaimsReturnsResultsInItsOrder() {
    TaskId due = due("a");
    TaskId waiting = created("b", now() + HOUR);
    TaskId absent = newId(QUEUE, "c");
    TaskId ended = due("d");
    cancel(id(ended));
    List<ClaimResult> results = get(store().claim(List.of(new Claim(absent, HOUR), new Claim(waiting, HOUR),
        new Claim(due, HOUR), new Claim(ended, HOUR)))).results();
    assertThat(results).hasSize(4);
    assertThat(results.getFirst()).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(later(results.get(1))).isEqualTo(record(waiting).dueAt());
    assertThat(won(results.get(2)).id()).isEqualTo(due);
    assertThat(results.get(3)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void theClaimsOfABatchHaveSeparateLeases() {
    TaskId a = due("a");
    TaskId b = due("b");
    ClaimBatch batch = get(store().claim(List.of(new Claim(a, HOUR), new Claim(b, 2 * HOUR))));
    TaskRecord first = won(batch.results().getFirst());
    TaskRecord second = won(batch.results().get(1));
    assertThat(first.leaseEnd()).isEqualTo(first.claimedAt() + HOUR);
    assertThat(second.leaseEnd()).as("a lease begins at the current time of its task's slot")
        .isEqualTo(second.claimedAt() + 2 * HOUR);
    assertThat(batch.nowMillis()).isEqualTo(Math.max(first.claimedAt(), second.claimedAt()));
  }

  @Test
  void aFinalTaskIsNotClaimed() {
    TaskId finished = due("a");
    finish(won(finished));
    TaskId failed = failed("b");
    assertThat(claim(finished)).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(claim(failed)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void aTokenIsNeverUsedAgain() {
    Set<Token> tokens = new HashSet<>();
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      claims.add(new Claim(due("key " + i), HOUR));
    }
    for (int round = 0; round < 3; round++) {
      for (ClaimResult result : get(store().claim(claims)).results()) {
        TaskRecord task = won(result);
        assertThat(tokens.add(tokenOf(task))).isTrue();
        settled(task, new Outcome.Retry(Due.at(now())));
      }
    }
  }

  @Test
  void aClaimAfterTheLeaseInvalidatesTheFirstClaim() {
    TaskId id = due("a");
    TaskRecord first = lost(id);
    TaskRecord second = won(id);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.generation()).isEqualTo(first.generation());
    assertThat(second.token()).isNotEqualTo(first.token());
    assertThat(second.outstanding()).isTrue();
    assertThat(second.attempts()).containsExactly(new AttemptRecord(first.generation(), 1, first.claimedAt(),
        first.leaseEnd(), AttemptRecord.End.LEASE_ENDED, second.attempts().getFirst().detail()));
    assertThat(settle(first, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(extend(first, HOUR).kind()).isEqualTo(ExtendResult.Kind.STALE);
    assertThat(record(id).state()).isEqualTo(TaskState.RUNNING);
    finish(second);
    assertThat(settle(first, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
  }

  @Test
  void aLostLastAttemptMakesADeadLetter() {
    store().configure(QUEUE, attempts(2));
    TaskId id = due("a");
    lost(id);
    TaskRecord last = won(id, tickMillis());
    assertThat(last.attempt()).isEqualTo(2);
    pass(2);
    assertThat(claim(id)).isEqualTo(new ClaimResult.Gone(TaskState.FAILED, QUEUE));
    TaskRecord ended = record(id);
    assertThat(ended.state()).isEqualTo(TaskState.FAILED);
    assertThat(ended.reason()).isNotEmpty();
    assertThat(ended.attempts()).extracting(AttemptRecord::attempt).containsExactly(1, 2);
    assertThat(wakes(id)).isEmpty();
    assertThat(settle(last, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(record(id).state()).isEqualTo(TaskState.FAILED);
    assertThat(claim(id)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  private ClaimResult end(TaskId id) {
    return get(store().claim(List.of(Claim.end(id)))).results().getFirst();
  }

  @Test
  void aClaimThatBeginsNothingEndsALastAttempt() {
    store().configure(QUEUE, attempts(1));
    TaskId id = due("a");
    TaskRecord last = won(id, tickMillis());
    assertThat(end(id)).isEqualTo(new ClaimResult.Later(last.leaseEnd()));
    pass(2);
    assertThat(get(store().claim(List.of(Claim.move(id)))).results().getFirst()).as("a move ends nothing")
        .isEqualTo(ClaimResult.Ready.READY);
    assertThat(record(id).state()).isEqualTo(TaskState.RUNNING);
    assertThat(end(id)).isEqualTo(new ClaimResult.Gone(TaskState.FAILED, QUEUE));
    assertThat(record(id).state()).isEqualTo(TaskState.FAILED);
    assertThat(record(id).attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.LEASE_ENDED);
    assertThat(wakes(id)).isEmpty();
    assertThat(settle(last, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(end(id)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void aClaimThatBeginsNothingLetsASuccessorOrCancelWin() {
    TaskId reset = due("a");
    won(reset, tickMillis());
    long dueAt = now() + HOUR;
    long generation = submit(draft("a", dueAt)).generation();
    TaskId cancelled = due("b");
    won(cancelled, tickMillis());
    cancel(key("b"));
    pass(2);
    assertThat(end(reset)).isEqualTo(new ClaimResult.Later(dueAt));
    assertThat(record(reset).state()).isEqualTo(TaskState.DELAYED);
    assertThat(record(reset).generation()).isEqualTo(generation);
    assertThat(wakes(reset)).containsExactly(dueAt);
    assertThat(end(cancelled)).isEqualTo(new ClaimResult.Gone(TaskState.CANCELLED, QUEUE));
    assertThat(record(cancelled).state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aClaimThatBeginsNothingLeavesATaskThatMayRunAgain() {
    store().configure(QUEUE, attempts(2));
    TaskId waits = due("a");
    TaskId lost = due("b");
    TaskRecord first = lost(lost);
    assertThat(end(waits)).isEqualTo(ClaimResult.Ready.READY);
    assertThat(record(waits).state()).isEqualTo(TaskState.DELAYED);
    assertThat(end(lost)).isEqualTo(ClaimResult.Ready.READY);
    assertThat(settle(first, new Outcome.Finished()).kind()).as("a late report").isEqualTo(SettleResult.Kind.SETTLED);
  }

  @Test
  void aTaskThatTheEndOfItsLeaseFinishesIsNotParked() {
    store().configure(QUEUE, attempts(1));
    TaskId last = due("a");
    lost(last);
    TaskId cancelled = due("b");
    won(cancelled, tickMillis());
    cancel(key("b"));
    pass(2);
    for (TaskId id : List.of(last, cancelled)) {
      DueEntry entry = new DueEntry(wakes(id).getFirst(), id, QUEUE);
      assertThat(one(store().park(List.of(entry)))).isFalse();
      assertThat(wakes(id)).containsExactly(entry.wakeAt());
      assertThat(end(id)).isInstanceOf(ClaimResult.Gone.class);
    }
  }

  @Test
  void theMaxAttemptsOfATaskOverrideThoseOfItsQueue() {
    store().configure(QUEUE, attempts(1));
    TaskId more = created(withAttempts(draft("a", now()), 2));
    lost(more);
    assertThat(won(more).attempt()).isEqualTo(2);
    store().configure(QUEUE, attempts(9));
    TaskId fewer = created(withAttempts(draft("b", now()), 1));
    lost(fewer);
    assertThat(claim(fewer)).isEqualTo(new ClaimResult.Gone(TaskState.FAILED, QUEUE));
  }

  @Test
  void theNewestTermsOfAQueueApply() {
    store().configure(QUEUE, attempts(1));
    TaskId id = due("a");
    lost(id);
    store().configure(QUEUE, attempts(2));
    assertThat(won(id).attempt()).isEqualTo(2);
  }

  @Test
  void aSuccessorThatIsDueTakesOverAtTheClaimAfterTheLease() {
    TaskId id = due("a");
    TaskRecord lost = lost(id);
    long generation = submit(withBody(withAttempts(draft("a", now()), 8), body("next"))).generation();
    TaskRecord next = won(id);
    assertThat(next.generation()).isEqualTo(generation);
    assertThat(next.attempt()).isEqualTo(1);
    assertThat(next.maxAttempts()).isEqualTo(8);
    assertThat(next.body()).isEqualTo(body("next"));
    assertThat(next.successor()).isNull();
    assertThat(next.outstanding()).isTrue();
    assertThat(settle(lost, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
  }

  @Test
  void aSuccessorThatIsNotDueTakesOverAndWaits() {
    TaskId id = due("a");
    TaskRecord lost = lost(id);
    long dueAt = now() + HOUR;
    long generation = touch(key("a"), dueAt).generation();
    assertThat(later(claim(id))).isEqualTo(dueAt);
    TaskRecord waiting = record(id);
    assertThat(waiting.state()).isEqualTo(TaskState.DELAYED);
    assertThat(waiting.generation()).isEqualTo(generation);
    assertThat(waiting.attempt()).isZero();
    assertThat(waiting.outstanding()).isTrue();
    assertThat(wakes(id)).containsExactly(dueAt);
    assertThat(settle(lost, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(record(id).state()).isEqualTo(TaskState.DELAYED);
  }

  @Test
  void aSuccessorTakesOverWhenTheAttemptsAreUsedUp() {
    store().configure(QUEUE, attempts(1));
    TaskId id = due("a");
    lost(id);
    long generation = touch(key("a"), now()).generation();
    assertThat(won(id).generation()).isEqualTo(generation);
  }

  @Test
  void anExtensionMovesTheLeaseEndAndLeavesTheIndexAlone() {
    TaskId id = due("a");
    TaskRecord running = won(id, 2 * tickMillis());
    long before = now();
    ExtendResult extended = extend(running, HOUR);
    assertThat(extended.kind()).isEqualTo(ExtendResult.Kind.EXTENDED);
    assertThat(extended.leaseEnd()).isBetween(before + HOUR, now() + HOUR);
    assertThat(wakes(id)).as("the next claim moves the entry").containsExactly(running.leaseEnd());
    pass(3);
    assertThat(later(claim(id))).isEqualTo(extended.leaseEnd());
    assertThat(wakes(id)).containsExactly(extended.leaseEnd());
    finish(running);
  }

  @Test
  void anExtensionNeverShortensALease() {
    TaskRecord running = won(due("a"));
    assertThat(extend(running, 1)).isEqualTo(new ExtendResult(ExtendResult.Kind.EXTENDED, running.leaseEnd()));
    assertThat(record(running.id()).leaseEnd()).isEqualTo(running.leaseEnd());
  }

  @Test
  void extensionsAreBoundedByTheQueuesLongestRunTime() {
    store().configure(QUEUE, maxRun(2 * HOUR));
    TaskRecord running = won(due("a"));
    assertThat(extend(running, 24 * HOUR))
        .isEqualTo(new ExtendResult(ExtendResult.Kind.EXTENDED, running.claimedAt() + 2 * HOUR));
    assertThat(extend(running, Long.MAX_VALUE))
        .isEqualTo(new ExtendResult(ExtendResult.Kind.EXTENDED, running.claimedAt() + 2 * HOUR));
  }

  @Test
  void anEndedLeaseIsNotExtended() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(extend(running, HOUR)).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    assertThat(record(id).leaseEnd()).isEqualTo(running.leaseEnd());
    assertThat(won(id).attempt()).isEqualTo(2);
  }

  @Test
  void anExtensionByNothingShowsWhetherALeaseHasEnded() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    assertThat(extend(running, 0)).isEqualTo(new ExtendResult(ExtendResult.Kind.EXTENDED, running.leaseEnd()));
    assertThat(record(id).leaseEnd()).isEqualTo(running.leaseEnd());
    TaskRecord ended = lost(due("b"));
    assertThat(extend(ended, 0)).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    assertThat(extend(ended, HOUR)).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    finish(ended);
    TaskRecord cancelled = won(due("c"), tickMillis());
    cancel(key("c"));
    pass(2);
    assertThat(extend(cancelled, 0)).isEqualTo(new ExtendResult(ExtendResult.Kind.CANCELLED, 0));
  }

  @Test
  void anExtensionOfAnInvalidClaimIsRefused() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    assertThat(one(store().extend(List.of(
        new Extension(newId(QUEUE, "x"), tokenOf(running), HOUR)))))
        .isEqualTo(new ExtendResult(ExtendResult.Kind.NOT_FOUND, 0));
    assertThat(one(store().extend(List.of(new Extension(id, new Token(1, 2), HOUR)))))
        .isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    settled(running, new Outcome.Retry(Due.at(now() + HOUR)));
    assertThat(extend(running, HOUR)).as("an extension after the settle")
        .isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    cancel(id(id));
    assertThat(extend(running, HOUR)).as("an extension of a final task")
        .isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
  }

  @Test
  void anExtensionIsRefusedAfterACancel() {
    TaskRecord running = won(due("a"));
    cancel(key("a"));
    assertThat(extend(running, 5 * HOUR))
        .isEqualTo(new ExtendResult(ExtendResult.Kind.CANCELLED, running.leaseEnd()));
    assertThat(record(running.id()).leaseEnd()).isEqualTo(running.leaseEnd());
  }

  @Test
  void anExtensionIsGrantedDespiteASuccessor() {
    TaskRecord running = won(due("a"));
    touch(key("a"), now());
    assertThat(extend(running, 5 * HOUR).kind()).isEqualTo(ExtendResult.Kind.EXTENDED);
  }
}
