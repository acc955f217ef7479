package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Part of the kit: touches, and submits with an idempotency key. */
abstract class TouchContract extends SubmitContract {
  @Test
  void aRepeatedRequestReturnsTheFirstResult() {
    Draft draft = withIdempotency(draft("a", now() + HOUR), "request", 1);
    SubmitResult first = submit(draft);
    SubmitResult again = submit(withIdempotency(draft("a", now() + 2 * HOUR), "request", 1));
    assertThat(again).isEqualTo(new SubmitResult(SubmitResult.Kind.REPEATED, first.id(), first.generation(),
        first.dueAt(), first.state(), false));
    assertThat(record(first.id()).generation()).isEqualTo(first.generation());
    assertThat(record(first.id()).dueAt()).isEqualTo(first.dueAt());
    touch(key("a"), now());
    finish(won(first.id()));
    assertThat(submit(draft)).as("after the task has ended").isEqualTo(again);
    assertThat(record(first.id()).state()).isEqualTo(TaskState.FINISHED);
  }

  @Test
  void anIdempotencyKeyWithAnotherBodyIsRefused() {
    SubmitResult first = submit(withIdempotency(draft("a", now() + HOUR), "request", 1));
    assertThat(submit(withIdempotency(draft("a", now()), "request", 2)).kind())
        .isEqualTo(SubmitResult.Kind.MISMATCHED);
    assertThat(record(first.id()).generation()).isEqualTo(first.generation());
    assertThat(submit(withIdempotency(draft("a", now()), "request", 1)).kind()).isEqualTo(SubmitResult.Kind.REPEATED);
  }

  @Test
  void anIdempotencyKeyAppliesToOneQueueAndTaskKey() {
    Draft draft = withIdempotency(draft("a", now() + HOUR), "request", 1);
    submit(draft);
    assertThat(submit(withIdempotency(draft("b", now() + HOUR), "request", 2)).kind())
        .isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(submit(withIdempotency(draft(null, now() + HOUR), "request", 3)).kind())
        .isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(submit(withQueue(draft, OTHER_QUEUE)).kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(submit(withIdempotency(draft("a", now() + HOUR), "other", 4)).kind())
        .isEqualTo(SubmitResult.Kind.RESET);
    assertThat(submit(withIdempotency(draft(null, now() + HOUR), "request", 3)).kind())
        .isEqualTo(SubmitResult.Kind.REPEATED);
  }

  @Test
  void aRepetitionInTheSameBatchIsRecognised() {
    List<SubmitResult> results = get(store().submit(List.of(
        withIdempotency(draft(null, now() + HOUR), "request", 1),
        withIdempotency(draft(null, now() + HOUR), "request", 1),
        withIdempotency(draft(null, now() + HOUR), "request", 2))));
    assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.CREATED,
        SubmitResult.Kind.REPEATED, SubmitResult.Kind.MISMATCHED);
    assertThat(results.get(1).id()).isEqualTo(results.getFirst().id());
  }

  @Test
  void aRejectedRequestMayBeRepeatedUntilItIsAccepted() {
    TaskId live = created("a", now() + HOUR);
    Draft draft = withIdempotency(draft("a", now() + HOUR, OnConflict.REJECT), "request", 1);
    assertThat(submit(draft).kind()).isEqualTo(SubmitResult.Kind.REJECTED);
    cancel(id(live));
    assertThat(submit(draft).kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(submit(draft).kind()).isEqualTo(SubmitResult.Kind.REPEATED);
  }

  @Test
  void aTouchMovesTheDeadlineAndKeepsTheRest() {
    TaskId id = created(withAttempts(draft("a", now() + HOUR), 4));
    TaskRecord before = record(id);
    long dueAt = now() + 3 * HOUR;
    TouchResult byKey = touch(key("a"), dueAt);
    assertThat(byKey).isEqualTo(new TouchResult(TouchResult.Kind.RESET, id, byKey.generation(), dueAt, false));
    assertThat(byKey.generation()).isGreaterThan(before.generation());
    TouchResult byId = touch(id(id), dueAt + 1);
    assertThat(byId).isEqualTo(new TouchResult(TouchResult.Kind.RESET, id, byId.generation(), dueAt + 1, false));
    assertThat(byId.generation()).isGreaterThan(byKey.generation());
    TaskRecord after = record(id);
    assertThat(after.generation()).isEqualTo(byId.generation());
    assertThat(after.dueAt()).isEqualTo(dueAt + 1);
    assertThat(after.body()).isEqualTo(before.body());
    assertThat(after.maxAttempts()).isEqualTo(4);
    assertThat(after.firstDueAt()).isEqualTo(before.firstDueAt());
  }

  @Test
  void aTouchCreatesNothing() {
    assertThat(touch(key("a"), now())).isEqualTo(TouchResult.NOT_FOUND);
    assertThat(touch(id(newId(QUEUE, "a")), now())).isEqualTo(TouchResult.NOT_FOUND);
    assertThat(find(key("a"))).isEmpty();
  }

  @Test
  void aTouchOfAFinalTaskChangesNothing() {
    TaskId id = due("a");
    finish(won(id));
    TaskRecord before = record(id);
    assertThat(touch(key("a"), now() + HOUR)).isEqualTo(TouchResult.NOT_FOUND);
    TouchResult byId = touch(id(id), now() + HOUR);
    assertThat(byId.kind()).isEqualTo(TouchResult.Kind.ALREADY_FINISHED);
    assertThat(byId.id()).isEqualTo(id);
    assertThat(byId.generation()).isEqualTo(before.generation());
    assertThat(record(id).state()).isEqualTo(TaskState.FINISHED);
    assertThat(record(id).generation()).isEqualTo(before.generation());
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void aTouchDoesNotReviveATaskWithAPendingCancel() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    cancel(id(id));
    assertThat(touch(key("a"), now())).isEqualTo(TouchResult.NOT_FOUND);
    assertThat(touch(id(id), now())).isEqualTo(TouchResult.NOT_FOUND);
    assertThat(settled(running, new Outcome.Retry(Due.at(now()))).state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aTouchOfARunningTaskSetsItsSuccessorWithTheSameBody() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long dueAt = now() + HOUR;
    TouchResult touched = touch(key("a"), dueAt);
    assertThat(touched)
        .isEqualTo(new TouchResult(TouchResult.Kind.RESET_PENDING, id, touched.generation(), dueAt, false));
    assertThat(record(id).generation()).isEqualTo(running.generation());
    finish(running);
    TaskRecord next = record(id);
    assertThat(next.state()).isEqualTo(TaskState.DELAYED);
    assertThat(next.generation()).isEqualTo(touched.generation());
    assertThat(next.dueAt()).isEqualTo(dueAt);
    assertThat(next.body()).isEqualTo(body("of a"));
  }

  @Test
  void aBatchOfTouchesActsInItsOrder() {
    TaskId id = created("a", now() + HOUR);
    long now = now();
    List<TouchResult> results = get(store().touch(List.of(new Touch(key("a"), Due.at(now + 3 * HOUR)),
        new Touch(key("none"), Due.at(now)),
        new Touch(id(id), Due.at(now + 2 * HOUR)))));
    assertThat(results).extracting(TouchResult::kind).containsExactly(TouchResult.Kind.RESET,
        TouchResult.Kind.NOT_FOUND, TouchResult.Kind.RESET);
    assertThat(results.get(2).generation()).isGreaterThan(results.getFirst().generation());
    assertThat(record(id).generation()).isEqualTo(results.get(2).generation());
    assertThat(record(id).dueAt()).isEqualTo(now + 2 * HOUR);
  }
}
