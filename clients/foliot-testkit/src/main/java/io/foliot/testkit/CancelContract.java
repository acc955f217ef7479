package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Part of the kit: cancels of tasks in each state. */
abstract class CancelContract extends TouchContract {
  @Test
  void aWaitingTaskIsCancelledByIdAndByKey() {
    TaskId byId = created("a", now() + HOUR);
    TaskRecord before = record(byId);
    assertThat(cancel(id(byId)))
        .isEqualTo(new CancelResult(Cancellation.CANCELLED, byId, before.generation()));
    TaskId byKey = due("b");
    assertThat(cancel(key("b")))
        .isEqualTo(new CancelResult(Cancellation.CANCELLED, byKey, record(byKey).generation()));
    for (TaskId id : List.of(byId, byKey)) {
      TaskRecord after = record(id);
      assertThat(after.state()).isEqualTo(TaskState.CANCELLED);
      assertThat(after.reason()).isNotEmpty();
      assertThat(wakes(id)).isEmpty();
      assertThat(claim(id)).isEqualTo(ClaimResult.Gone.ABSENT);
    }
  }

  @Test
  void anAbsentTaskIsNotFound() {
    created("b", now() + HOUR);
    assertThat(cancel(id(newId(QUEUE, "a")))).isEqualTo(CancelResult.NOT_FOUND);
    assertThat(cancel(key("a"))).isEqualTo(CancelResult.NOT_FOUND);
  }

  @Test
  void aFinalTaskStaysAsItIs() {
    TaskId finished = due("a");
    finish(won(finished));
    TaskId failed = failed("b");
    TaskId cancelled = due("c");
    cancel(id(cancelled));
    for (TaskId id : List.of(finished, failed, cancelled)) {
      TaskRecord before = record(id);
      CancelResult expected = new CancelResult(Cancellation.ALREADY_FINISHED, id, before.generation());
      assertThat(cancel(id(id))).isEqualTo(expected);
      assertThat(cancel(key(String.valueOf(before.key())))).isEqualTo(expected);
      assertThat(record(id).state()).isEqualTo(before.state());
      assertThat(record(id).changedAt()).isEqualTo(before.changedAt());
    }
  }

  @Test
  void aCancelOfARunningTaskIsPendingAndNoNewClaimWins() {
    TaskId id = due("a");
    TaskRecord running = won(id, 2 * tickMillis());
    CancelResult expected = new CancelResult(Cancellation.CANCEL_PENDING, id, running.generation());
    assertThat(cancel(id(id))).isEqualTo(expected);
    assertThat(cancel(key("a"))).as("again").isEqualTo(expected);
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.RUNNING);
    assertThat(task.cancelRequested()).isTrue();
    pass(3);
    assertThat(claim(id)).isEqualTo(new ClaimResult.Gone(TaskState.CANCELLED, QUEUE));
    TaskRecord ended = record(id);
    assertThat(ended.state()).isEqualTo(TaskState.CANCELLED);
    assertThat(ended.generation()).isEqualTo(running.generation());
    assertThat(ended.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.LEASE_ENDED);
    assertThat(wakes(id)).isEmpty();
    assertThat(claim(id)).as("only the claim that ended the task returns its state").isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void aCancelAfterTheLeaseEndsTheTaskButReturnsPending() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(cancel(id(id)))
        .isEqualTo(new CancelResult(Cancellation.CANCEL_PENDING, id, running.generation()));
    TaskRecord ended = record(id);
    assertThat(ended.state()).isEqualTo(TaskState.CANCELLED);
    assertThat(ended.attempts()).extracting(AttemptRecord::end).containsExactly(AttemptRecord.End.LEASE_ENDED);
    assertThat(wakes(id)).isEmpty();
    assertThat(settle(running, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aCancelWithAnOutstandingAttemptEndsTheTaskButReturnsPending() {
    TaskId id = due("a");
    TaskRecord lost = lost(id);
    touch(key("a"), now() + HOUR);
    later(claim(id));
    TaskRecord waiting = record(id);
    assertThat(waiting.outstanding()).isTrue();
    assertThat(cancel(id(id)))
        .isEqualTo(new CancelResult(Cancellation.CANCEL_PENDING, id, waiting.generation()));
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(settle(lost, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.STALE);
  }

  @Test
  void anAttemptStaysOutstandingAfterALaterSettle() {
    TaskId id = due("a");
    lost(id);
    settled(won(id), new Outcome.Retry(Due.at(now() + HOUR)));
    assertThat(cancelKind(id(id))).isEqualTo(Cancellation.CANCEL_PENDING);
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aTaskThatWaitsForItsNextAttemptIsCancelledAtOnce() {
    TaskId id = due("a");
    settled(won(id), new Outcome.Retry(Due.at(now() + HOUR)));
    assertThat(cancelKind(id(id))).isEqualTo(Cancellation.CANCELLED);
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void aCancelDropsTheSuccessor() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    touch(key("a"), now());
    assertThat(cancelKind(id(id))).isEqualTo(Cancellation.CANCEL_PENDING);
    assertThat(record(id).successor()).isNull();
    assertThat(settled(running, new Outcome.Retry(Due.at(now()))).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(claim(id)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void aCancelAfterTheLeaseDropsTheSuccessorToo() {
    TaskId id = due("a");
    lost(id);
    touch(key("a"), now());
    assertThat(cancelKind(id(id))).isEqualTo(Cancellation.CANCEL_PENDING);
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(claim(id)).isEqualTo(ClaimResult.Gone.ABSENT);
  }

  @Test
  void aSubmitAfterACancelCreatesANewTask() {
    TaskId old = due("a");
    cancel(id(old));
    TaskId next = created("a", now() + HOUR);
    assertThat(next).isNotEqualTo(old);
    assertThat(cancel(key("a")).id()).as("the key refers to the live task").isEqualTo(next);
  }

  @Test
  void aBatchOfCancelsActsInItsOrder() {
    TaskId a = due("a");
    TaskId b = due("b");
    won(b);
    List<CancelResult> results = get(store().cancel(List.of(id(a), key("none"), id(b), key("a"), id(b))));
    assertThat(results).extracting(CancelResult::kind).containsExactly(Cancellation.CANCELLED,
        Cancellation.NOT_FOUND, Cancellation.CANCEL_PENDING, Cancellation.ALREADY_FINISHED,
        Cancellation.CANCEL_PENDING);
    assertThat(results).extracting(CancelResult::id).containsExactly(a, null, b, a, b);
  }
}
