package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Part of the kit: calls that a store decides by a read and carries out by a later write. Between the two, the task
 * usually goes through a whole life: its attempt fails for good, it is redriven, and it is claimed again. The record
 * then has been written as often as before the read. A call must not take it for the record that it has read.
 */
abstract class HeldContract extends MoveContract {
  private static final TaskNote NOTE = new TaskNote(0.5, "half", "page=2", "");

  /**
   * Makes a call, and runs an action between the read and the write of the call. If the store decides and writes in one
   * step, the call is made after the action.
   */
  private <R> R held(Function<TaskStore, CompletionStage<R>> call, Runnable action) {
    HeldStore second = openHeld();
    if (second == null) {
      action.run();
      return get(call.apply(store()));
    }
    try (second) {
      second.hold();
      CompletableFuture<R> result = CompletableFuture.supplyAsync(() -> get(call.apply(second.store())));
      second.awaitHeld();
      action.run();
      second.release();
      return get(result);
    }
  }

  private <R> R oneHeld(Function<TaskStore, CompletionStage<List<R>>> call, Runnable action) {
    return held(call, action).getFirst();
  }

  /** Lets an attempt fail for good, and redrives and claims its task. */
  private Runnable secondLife(TaskRecord first) {
    return () -> {
      settled(first, new Outcome.Failed());
      assertThat(redrive(first.id()).kind()).isEqualTo(RedriveResult.Kind.REDRIVEN);
      assertThat(won(first.id()).generation()).isGreaterThan(first.generation());
    };
  }

  /** Asserts that the second attempt of a task runs and can be settled, after a held call of its first life. */
  private TaskRecord assertSecondAttemptHolds(TaskRecord first) {
    TaskRecord second = record(first.id());
    assertThat(second.state()).isEqualTo(TaskState.RUNNING);
    assertThat(second.generation()).isGreaterThan(first.generation());
    assertThat(second.token()).isNotEqualTo(first.token());
    assertThat(settle(first, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    finish(second);
    return second;
  }

  @Test
  void anExtensionHeldOverARedriveIsStale() {
    TaskRecord first = won(due("a"));
    ExtendResult result = oneHeld(store -> store.extend(List.of(extension(first, 2 * HOUR))), secondLife(first));
    assertThat(result.kind()).isEqualTo(ExtendResult.Kind.STALE);
    assertSecondAttemptHolds(first);
  }

  @Test
  void anExtensionHeldUntilItsLeaseWasClosedIsStale() {
    TaskRecord running = won(due("a"), 4 * tickMillis());
    ExtendResult result = oneHeld(store -> store.extend(List.of(extension(running, HOUR))), () -> {
      pass(5);
      assertThat(extend(running, 0)).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    });
    assertThat(result).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    assertThat(record(running.id()).leaseEnd()).isEqualTo(running.leaseEnd());
    assertThat(won(running.id()).attempt()).isEqualTo(2);
  }

  @Test
  void anEndOfALeaseHeldUntilALateReportEndsNothing() {
    TaskRecord last = lost(created(withAttempts(draft("a", now()), 1)));
    ClaimBatch batch = held(store -> store.claim(List.of(Claim.end(last.id()))), () -> finish(last));
    assertThat(batch.results()).containsExactly(ClaimResult.Gone.ABSENT);
    assertThat(record(last.id()).state()).isEqualTo(TaskState.FINISHED);
  }

  @Test
  void aSettlementHeldOverARedriveIsStale() {
    for (Outcome outcome : List.of(new Outcome.Retry(Due.after(HOUR)), new Outcome.Failed())) {
      TaskRecord first = won(due("a"));
      SettleResult result = oneHeld(store -> store.settle(List.of(settlement(first, outcome))), secondLife(first));
      assertThat(result.kind()).isEqualTo(SettleResult.Kind.STALE);
      assertSecondAttemptHolds(first);
    }
  }

  @Test
  void aRearmHeldOverARedriveIsStale() {
    for (boolean isPlan : new boolean[]{false, true}) {
      TaskRecord first = won(due("a"));
      TaskId child = idIn(first.id().hash16());
      Outcome outcome = new Outcome.Rearm(Due.after(HOUR), null,
          isPlan ? List.of(new Outcome.Child(child, QUEUE, Due.after(HOUR), body("child"), 0, false)) : List.of());
      SettleResult result = oneHeld(store -> store.settle(List.of(
          new AttemptEnd(first.id(), first.generation(), tokenOf(first), outcome,
              first.claimedAt(), "", NOTE))),
          secondLife(first));
      assertThat(result.kind()).isEqualTo(SettleResult.Kind.STALE);
      assertThat(find(id(child))).isEmpty();
      assertSecondAttemptHolds(first);
    }
  }

  @Test
  void aCancelHeldOverARedriveActsOnTheNewGeneration() {
    TaskRecord first = won(due("a"));
    CancelResult result = oneHeld(store -> store.cancel(List.of(id(first.id()))), secondLife(first));
    assertThat(result.kind()).isEqualTo(Cancellation.CANCEL_PENDING);
    TaskRecord second = assertSecondAttemptHolds(first);
    assertThat(second.cancelRequested()).isTrue();
    assertThat(result.generation()).isEqualTo(second.generation());
  }

  @Test
  void aTouchHeldOverARedriveActsOnTheNewGeneration() {
    TaskRecord first = won(due("a"));
    TouchResult result = oneHeld(store -> store.touch(List.of(new Touch(id(first.id()), Due.after(HOUR)))),
        secondLife(first));
    assertThat(result.kind()).isEqualTo(TouchResult.Kind.RESET_PENDING);
    assertThat(result.generation()).isGreaterThan(assertSecondAttemptHolds(first).generation());
    assertThat(record(first.id()).generation()).isEqualTo(result.generation());
  }

  @Test
  void aSubmitHeldOverARedriveActsOnTheNewGeneration() {
    TaskRecord first = won(due("a"));
    SubmitResult result = oneHeld(store -> store.submit(List.of(draft("a", now() + HOUR, OnConflict.RESET))),
        secondLife(first));
    assertThat(result.kind()).isEqualTo(SubmitResult.Kind.RESET_PENDING);
    assertThat(result.generation()).isGreaterThan(assertSecondAttemptHolds(first).generation());
    assertThat(record(first.id()).generation()).isEqualTo(result.generation());
  }

  @Test
  void aRedriveHeldOverARedriveChangesNothing() {
    TaskRecord first = won(due("a"));
    settled(first, new Outcome.Failed());
    RedriveResult result = oneHeld(store -> store.redrive(List.of(new Redrive(QUEUE, first.id()))), () -> {
      redrive(first.id());
      won(first.id());
    });
    assertThat(result.kind()).isEqualTo(RedriveResult.Kind.NOT_FAILED);
    assertSecondAttemptHolds(first);
  }

  @Test
  void aClaimOfAnEndedLeaseHeldOverARedriveIsLost() {
    TaskRecord first = lost(due("a"));
    ClaimResult result = held(store -> store.claim(List.of(new Claim(first.id(), HOUR))), secondLife(first)).results()
        .getFirst();
    later(result);
    assertSecondAttemptHolds(first);
  }
}
