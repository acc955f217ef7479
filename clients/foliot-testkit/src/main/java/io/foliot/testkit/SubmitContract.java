package io.foliot.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/** Part of the kit: submits. */
abstract class SubmitContract extends StoreFixture {
  @Test
  void aNewTaskHasTheFieldsOfItsDraft() {
    long before = now();
    Draft draft = withAttempts(draft("a", before + HOUR), 7);
    SubmitResult result = submit(draft);
    TaskRecord task = record(draft.id());
    assertThat(result).isEqualTo(
        new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), task.generation(), dueAt(draft), TaskState.DELAYED,
            true));
    assertThat(task.queue()).isEqualTo(QUEUE);
    assertThat(task.key()).isEqualTo("a");
    assertThat(task.body()).isEqualTo(body("of a"));
    assertThat(task.state()).isEqualTo(TaskState.DELAYED);
    assertThat(task.maxAttempts()).isEqualTo(7);
    assertThat(task.dueAt()).isEqualTo(dueAt(draft));
    assertThat(task.firstDueAt()).isEqualTo(dueAt(draft));
    assertThat(task.wakeAt()).isEqualTo(dueAt(draft));
    assertThat(task.createdAt()).isBetween(before, now());
    assertThat(task.changedAt()).isEqualTo(task.createdAt());
    assertThat(task.attempt()).isZero();
    assertThat(task.attempts()).isEmpty();
    assertThat(task.reason()).isEmpty();
    assertThat(task.parked()).isFalse();
    assertThat(task.cancelRequested()).isFalse();
    assertThat(task.outstanding()).isFalse();
    assertThat(task.successor()).isNull();
    assertThat(wakes(task.id())).containsExactly(dueAt(draft));
  }

  @Test
  void aSubmitOfADueTaskReturnsReady() {
    assertThat(submit("a", now()).state()).isEqualTo(TaskState.READY);
    assertThat(submit("b", now() - HOUR).state()).isEqualTo(TaskState.READY);
  }

  @Test
  void aGenerationIsAtLeastTheMicrosecondOfItsCreation() {
    long before = get(store().timeMicros(0));
    assertThat(submit("a", now()).generation()).isGreaterThanOrEqualTo(before);
  }

  @Test
  void tasksWithoutAKeyAreAllNew() {
    List<SubmitResult> results = get(store().submit(List.of(draft(null, now()), draft(null, now()))));
    assertThat(results).extracting(SubmitResult::kind).containsOnly(SubmitResult.Kind.CREATED);
    assertThat(results).extracting(SubmitResult::id).doesNotHaveDuplicates();
    results.forEach(result -> assertThat(record(result.id()).key()).isNull());
  }

  @Test
  void theSameKeyInAnotherQueueIsAnotherTask() {
    TaskId here = created("a", now() + HOUR);
    TaskId there = created(withQueue(draft("a", now() + HOUR), OTHER_QUEUE));
    assertThat(there).isNotEqualTo(here);
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(here);
  }

  @Test
  void aSubmitResetsTheLiveTaskOfItsKey() {
    long now = now();
    SubmitResult first = submit("a", now + HOUR);
    SubmitResult second = submit(withBody(withAttempts(draft("a", now + 2 * HOUR), 3), body("new")));
    assertThat(second.kind()).isEqualTo(SubmitResult.Kind.RESET);
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(second.generation()).isGreaterThan(first.generation());
    assertThat(second.dueAt()).isEqualTo(now + 2 * HOUR);
    assertThat(second.state()).isEqualTo(TaskState.DELAYED);
    TaskRecord task = record(first.id());
    assertThat(task.generation()).isEqualTo(second.generation());
    assertThat(task.dueAt()).isEqualTo(now + 2 * HOUR);
    assertThat(task.firstDueAt()).isEqualTo(now + HOUR);
    assertThat(task.body()).isEqualTo(body("new"));
    assertThat(task.maxAttempts()).isEqualTo(3);
  }

  @Test
  void anOmittedBodyIsKeptByAResetAndEmptyInANewTask() {
    TaskId id = created("a", now() + HOUR);
    submit(withBody(draft("a", now() + 2 * HOUR), null));
    assertThat(record(id).body()).isEqualTo(body("of a"));
    TaskId bare = created(withBody(draft("b", now() + HOUR), null));
    assertThat(record(bare).body()).isEqualTo(Body.EMPTY);
  }

  @Test
  void aResetWithoutMaxAttemptsKeepsThem() {
    TaskId id = created(withAttempts(draft("a", now() + HOUR), 9));
    submit("a", now() + 2 * HOUR);
    assertThat(record(id).maxAttempts()).isEqualTo(9);
  }

  @Test
  void aDraftWithKeepLeavesTheLiveTaskUnchanged() {
    SubmitResult first = submit("a", now() + HOUR);
    SubmitResult second = submit(withBody(draft("a", now(), OnConflict.KEEP), body("new")));
    assertThat(second).isEqualTo(new SubmitResult(SubmitResult.Kind.KEPT, first.id(), first.generation(), first.dueAt(),
        TaskState.DELAYED, false));
    assertThat(record(first.id()).body()).isEqualTo(body("of a"));
    assertThat(wakes(first.id())).containsExactly(first.dueAt());
  }

  @Test
  void aDraftWithRejectIsRefusedIfTheKeyIsLive() {
    SubmitResult first = submit("a", now() + HOUR);
    SubmitResult second = submit(withBody(draft("a", now(), OnConflict.REJECT), body("new")));
    assertThat(second).isEqualTo(new SubmitResult(SubmitResult.Kind.REJECTED, first.id(), first.generation(),
        first.dueAt(), TaskState.DELAYED, false));
    assertThat(record(first.id()).body()).isEqualTo(body("of a"));
    assertThat(record(first.id()).dueAt()).isEqualTo(first.dueAt());
  }

  @Test
  void keepAndRejectGiveARunningTaskNoSuccessor() {
    TaskId id = due("a");
    won(id);
    assertThat(submit(draft("a", now(), OnConflict.KEEP)).kind()).isEqualTo(SubmitResult.Kind.KEPT);
    SubmitResult rejected = submit(draft("a", now(), OnConflict.REJECT));
    assertThat(rejected.kind()).isEqualTo(SubmitResult.Kind.REJECTED);
    assertThat(rejected.state()).isEqualTo(TaskState.RUNNING);
    assertThat(record(id).successor()).isNull();
  }

  @Test
  void aTaskWithAPendingCancelIsNoConflict() {
    for (OnConflict onConflict : List.of(OnConflict.KEEP, OnConflict.REJECT)) {
      TaskId id = due(onConflict.name());
      won(id);
      cancel(key(onConflict.name()));
      SubmitResult second = submit(draft(onConflict.name(), now() + HOUR, onConflict));
      assertThat(second.kind()).isEqualTo(SubmitResult.Kind.RESET_PENDING);
      assertThat(record(id).successor()).isNotNull();
    }
  }

  @Test
  void theKeyOfAFinishedTaskIsFreeForANewTask() {
    for (OnConflict onConflict : OnConflict.values()) {
      TaskId old = due("a");
      finish(won(old));
      SubmitResult next = submit(draft("a", now() + HOUR, onConflict));
      assertThat(next.kind()).isEqualTo(SubmitResult.Kind.CREATED);
      assertThat(next.id()).isNotEqualTo(old);
      assertThat(next.generation()).isGreaterThan(record(old).generation());
      assertThat(record(old).state()).isEqualTo(TaskState.FINISHED);
      assertThat(find(key("a")).orElseThrow().id()).isEqualTo(next.id());
      cancel(key("a"));
    }
  }

  @Test
  void draftsOfOneKeyInABatchActInOrder() {
    long now = now();
    List<SubmitResult> results = get(store().submit(List.of(draft("a", now + HOUR), draft("b", now + HOUR),
        withBody(draft("a", now + 2 * HOUR), body("second")), draft("a", now, OnConflict.KEEP),
        draft("a", now, OnConflict.REJECT), withBody(draft("a", now + 3 * HOUR), null), draft("b", now))));
    assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.CREATED,
        SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET, SubmitResult.Kind.KEPT, SubmitResult.Kind.REJECTED,
        SubmitResult.Kind.RESET, SubmitResult.Kind.RESET);
    assertThat(results).extracting(SubmitResult::dueAt).containsExactly(now + HOUR, now + HOUR, now + 2 * HOUR,
        now + 2 * HOUR, now + 2 * HOUR, now + 3 * HOUR, now);
    TaskId a = results.getFirst().id();
    TaskId b = results.get(1).id();
    assertThat(results).extracting(SubmitResult::id).containsExactly(a, b, a, a, a, a, b);
    assertThat(results.get(2).generation()).isGreaterThan(results.getFirst().generation())
        .isEqualTo(results.get(3).generation()).isLessThan(results.get(5).generation());
    TaskRecord task = record(a);
    assertThat(task.generation()).isEqualTo(results.get(5).generation());
    assertThat(task.body()).isEqualTo(body("second"));
    assertThat(task.dueAt()).isEqualTo(now + 3 * HOUR);
    assertThat(wakes(a)).as("the first reset moves the entry, the second does not")
        .containsExactly(now + 2 * HOUR);
    assertThat(wakes(b)).containsExactly(now);
  }

  @Test
  void aBatchReturnsResultsInTheOrderOfItsItems() {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      drafts.add(draft("key " + (i * 37) % 200, now() + HOUR + i));
    }
    List<SubmitResult> results = get(store().submit(drafts));
    assertThat(results).extracting(SubmitResult::id).containsExactlyElementsOf(drafts.stream().map(Draft::id).toList());
    assertThat(results).extracting(SubmitResult::dueAt)
        .containsExactlyElementsOf(drafts.stream().map(StoreFixture::dueAt).toList());
  }

  @Test
  void theGenerationsOfAKeyOnlyGrow() {
    List<Long> generations = new ArrayList<>();
    generations.add(submit("a", now()).generation());
    generations.add(submit("a", now()).generation());
    generations.add(touch(key("a"), now()).generation());
    TaskRecord first = won(find(key("a")).orElseThrow().id());
    generations.add(submit("a", now()).generation());
    generations.add(touch(key("a"), now()).generation());
    finish(first);
    TaskRecord second = won(first.id());
    assertThat(second.generation()).isEqualTo(generations.getLast());
    settled(second, new Outcome.Rearm(Due.at(now())));
    TaskRecord third = won(first.id());
    generations.add(third.generation());
    settled(third, new Outcome.Failed());
    generations.add(redrive(first.id()).generation());
    settled(won(first.id()), new Outcome.Failed());
    generations.add(submit("a", now()).generation());
    cancel(key("a"));
    generations.add(submit("a", now()).generation());
    assertThat(generations).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void theGenerationOfADroppedSuccessorIsNotGivenOutAgain() {
    TaskRecord running = won(due("a"));
    long dropped = submit("a", now()).generation();
    cancel(key("a"));
    assertThat(submit("a", now()).generation()).isGreaterThan(dropped);
    long droppedToo = touch(key("a"), now()).generation();
    cancel(key("a"));
    finish(running);
    assertThat(submit("a", now()).generation()).isGreaterThan(droppedToo);
  }

  @Test
  void aRedrivenTaskGetsANewerGenerationThanALaterTaskOfItsKey() {
    TaskId old = failed("a");
    submit("a", now());
    long newest = 0;
    for (int i = 0; i < 20; i++) {
      newest = touch(key("a"), now()).generation();
    }
    cancel(key("a"));
    assertThat(redrive(old).generation()).isGreaterThan(newest);
  }

  @Test
  void aResetStartsTheAttemptsAgain() {
    TaskId id = due("a");
    settled(won(id), new Outcome.Retry(Due.at(now())));
    TaskRecord second = won(id);
    assertThat(second.attempt()).isEqualTo(2);
    settled(second, new Outcome.Retry(Due.at(now())));
    submit("a", now());
    assertThat(record(id).attempt()).isZero();
    assertThat(won(id).attempt()).isEqualTo(1);
  }

  @Test
  void aResetOfARunningTaskSetsItsSuccessor() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long dueAt = now() + HOUR;
    SubmitResult reset = submit(withBody(draft("a", dueAt), body("next")));
    assertThat(reset).isEqualTo(new SubmitResult(SubmitResult.Kind.RESET_PENDING, id, reset.generation(), dueAt,
        TaskState.RUNNING, false));
    assertThat(reset.generation()).isGreaterThan(running.generation());
    TaskRecord task = record(id);
    assertThat(task.state()).isEqualTo(TaskState.RUNNING);
    assertThat(task.generation()).isEqualTo(running.generation());
    assertThat(task.body()).isEqualTo(body("of a"));
    assertThat(task.successor())
        .isEqualTo(new TaskRecord.Successor(reset.generation(), dueAt, dueAt, body("next"), 0));
  }

  @Test
  void anEmptyPayloadOfASuccessorIsDelivered() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    submit(withBody(draft("a", now()), Body.EMPTY));
    assertThat(requireNonNull(record(id).successor()).body()).isEqualTo(Body.EMPTY);
    finish(running);
    assertThat(won(id).body()).isEqualTo(Body.EMPTY);
  }

  @Test
  void aResetOfATaskWithAnOutstandingAttemptIsPending() {
    TaskId id = due("a");
    lost(id);
    touch(key("a"), now() + HOUR);
    assertThat(later(claim(id))).isGreaterThan(now());
    assertThat(record(id).state()).isEqualTo(TaskState.DELAYED);
    assertThat(submit("a", now() + HOUR).kind()).isEqualTo(SubmitResult.Kind.RESET_PENDING);
    assertThat(touch(key("a"), now() + HOUR).kind()).isEqualTo(TouchResult.Kind.RESET_PENDING);
  }

  @Test
  void aSubmitAfterAPendingCancelSetsASuccessor() {
    TaskRecord running = won(due("a"));
    cancel(key("a"));
    SubmitResult revived = submit("a", now());
    assertThat(revived.kind()).isEqualTo(SubmitResult.Kind.RESET_PENDING);
    assertThat(settled(running, new Outcome.Retry(Due.at(now()))).state()).isEqualTo(TaskState.DELAYED);
    assertThat(won(running.id()).generation()).isEqualTo(revived.generation());
  }

  @Test
  void aLaterResetLeavesTheIndexUntilTheNextClaim() {
    long now = now();
    TaskId id = created("a", now + 10 * HOUR);
    SubmitResult reset = submit("a", now + 11 * HOUR);
    assertThat(reset.indexed()).isFalse();
    assertThat(touch(key("a"), now + 12 * HOUR).indexed()).isFalse();
    assertThat(wakes(id)).containsExactly(now + 10 * HOUR);
    assertThat(record(id).wakeAt()).isEqualTo(now + 10 * HOUR);
    assertThat(later(claim(id))).isEqualTo(now + 12 * HOUR);
    assertThat(wakes(id)).containsExactly(now + 12 * HOUR);
    assertThat(record(id).wakeAt()).isEqualTo(now + 12 * HOUR);
  }

  @Test
  void aResetFarBeyondTheEntryMovesTheEntry() {
    long now = now();
    TaskId touched = created("a", now + 10 * HOUR);
    TaskId submitted = created("b", now + 10 * HOUR);
    assertThat(touch(key("a"), now + 20 * HOUR).indexed()).isFalse();
    assertThat(submit("b", now + 20 * HOUR).indexed()).isFalse();
    TaskId due = due("c");
    touch(key("c"), now + HOUR);
    TaskId parked = parked(draft("d", now));
    touch(key("d"), now + HOUR);
    assertThat(wakes(touched)).containsExactly(now + 20 * HOUR);
    assertThat(wakes(submitted)).containsExactly(now + 20 * HOUR);
    assertThat(wakes(due)).containsExactly(now + HOUR);
    assertThat(record(parked).parked()).as("a parked task stays parked until it is claimed").isTrue();
    assertThat(later(claim(parked))).isEqualTo(now + HOUR);
    assertThat(wakes(parked)).containsExactly(now + HOUR);
  }

  @Test
  void anEarlierResetMovesTheIndexAtOnce() {
    long now = now();
    TaskId id = created("a", now + 2 * HOUR);
    assertThat(submit("a", now + HOUR).indexed()).isTrue();
    assertThat(wakes(id)).containsExactly(now + HOUR);
    assertThat(touch(key("a"), now).indexed()).isTrue();
    assertThat(wakes(id)).containsExactly(now);
  }

  @Test
  void aResetBetweenEntryAndDueTimeLeavesTheEntry() {
    long now = now();
    TaskId id = created("a", now + 10 * HOUR);
    touch(key("a"), now + 12 * HOUR);
    assertThat(touch(key("a"), now + 11 * HOUR).indexed()).isFalse();
    assertThat(wakes(id)).containsExactly(now + 10 * HOUR);
    assertThat(record(id).dueAt()).isEqualTo(now + 11 * HOUR);
  }

  /** Checks that a call with a delay of an hour returns the call time, rounded up to milliseconds, plus an hour. */
  private void addsAnHour(ToLongFunction<Due> dueAtOf) {
    long beforeMicros = get(store().timeMicros(0));
    long dueAt = dueAtOf.applyAsLong(Due.after(HOUR));
    long afterMicros = get(store().timeMicros(0));
    assertThat(dueAt).isBetween(Math.ceilDiv(beforeMicros, 1_000) + HOUR, Math.ceilDiv(afterMicros, 1_000) + HOUR);
  }

  @Test
  void aDelayIsAddedToTheStoresClockAndRoundedUp() {
    TaskRecord running = won(due("runs"));
    TaskRecord failing = won(due("fails"));
    TaskRecord repeating = won(due("repeats"));
    created("waits", now() + 2 * HOUR);
    addsAnHour(due -> submit(withDue(draft("new", 0), due)).dueAt());
    addsAnHour(due -> submit(withDue(draft("waits", 0), due)).dueAt());
    addsAnHour(due -> one(store().touch(List.of(new Touch(key("waits"), due)))).dueAt());
    addsAnHour(due -> one(store().touch(List.of(new Touch(key("runs"), due)))).dueAt());
    addsAnHour(due -> settled(failing, new Outcome.Retry(due)).wakeAt());
    addsAnHour(due -> settled(repeating, new Outcome.Rearm(due)).wakeAt());
    TaskRecord.Successor successor = requireNonNull(record(running.id()).successor());
    long dueAt = successor.dueAt();
    finish(running);
    assertThat(record(running.id()).dueAt()).as("a successor keeps the instant it was given").isEqualTo(dueAt);
  }

  @Test
  void aDelayOfZeroIsDueAtOnce() {
    TaskId id = created(withDue(draft("a", 0), Due.NOW));
    TaskRecord first = won(id);
    assertThat(settled(first, new Outcome.Retry(Due.NOW)).state()).isEqualTo(TaskState.DELAYED);
    TaskRecord second = won(id);
    assertThat(settled(second, new Outcome.Rearm(Due.NOW)).state()).isEqualTo(TaskState.DELAYED);
    assertThat(won(id).generation()).isGreaterThan(second.generation());
    TaskId waiting = created("b", now() + HOUR);
    assertThat(one(store().touch(List.of(new Touch(key("b"), Due.NOW)))).indexed()).isTrue();
    assertThat(won(waiting).dueAt()).isLessThanOrEqualTo(now());
  }

  @Test
  void resetsCannotPushATaskBeyondMaxWait() {
    store().configure(QUEUE, maxWait(HOUR));
    long now = now();
    TaskId id = created("a", now + 1000);
    assertThat(touch(key("a"), now + HOUR).dueAt()).isEqualTo(now + HOUR);
    assertThat(touch(key("a"), now + 2 * HOUR).dueAt()).isEqualTo(now + 1000 + HOUR);
    assertThat(submit("a", now + 3 * HOUR).dueAt()).isEqualTo(now + 1000 + HOUR);
    assertThat(record(id).dueAt()).isEqualTo(now + 1000 + HOUR);
    assertThat(created(withQueue(draft("a", now + 5 * HOUR), OTHER_QUEUE))).isNotNull();
    assertThat(one(store().touch(List.of(new Touch(
        new TaskRef.ByKey(OTHER_QUEUE, "a"), Due.at(now + 9 * HOUR))))).dueAt())
        .as("the other queue has no maximum wait").isEqualTo(now + 9 * HOUR);
  }

  @Test
  void maxWaitOfASuccessorCountsFromItsFirstDueTime() {
    store().configure(QUEUE, maxWait(HOUR));
    TaskRecord running = won(due("a"));
    long now = now();
    assertThat(touch(key("a"), now + 5 * HOUR).dueAt()).isEqualTo(now + 5 * HOUR);
    assertThat(touch(key("a"), now + 9 * HOUR).dueAt()).isEqualTo(now + 6 * HOUR);
    finish(running);
    assertThat(touch(key("a"), now + 9 * HOUR).dueAt()).isEqualTo(now + 6 * HOUR);
  }

  @Test
  void aBodyIsReturnedUnchanged() {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    Body body = new Body(bytes, "application/x-thing; charset=\"ütf\"", Map.of("x-a", "1", "x-ü", "ß 🦊", "empty", ""));
    TaskId id = created(withBody(draft("a", now()), body));
    assertThat(record(id).body()).isEqualTo(body);
    assertThat(won(id).body()).isEqualTo(body);
  }

  @Test
  void theLargestBodyFits() {
    byte[] bytes = new byte[Limits.MAX_PAYLOAD_BYTES];
    new Random(1).nextBytes(bytes);
    Body body = new Body(bytes, "application/octet-stream", Map.of());
    TaskId id = created(withBody(draft("a", now()), body));
    assertThat(record(id).body()).isEqualTo(body);
    TaskRecord running = won(id);
    assertThat(running.body()).isEqualTo(body);
    finish(running);
  }

  @Test
  void theLargestBatchFits() {
    long dueAt = now() + HOUR;
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < Limits.MAX_BATCH; i++) {
      drafts.add(draft("key " + i, dueAt));
    }
    List<SubmitResult> results = get(store().submit(drafts));
    assertThat(results).hasSize(Limits.MAX_BATCH).extracting(SubmitResult::kind)
        .containsOnly(SubmitResult.Kind.CREATED);
    Set<TaskId> found = new HashSet<>();
    for (int slot = 0; slot < store().slotCount(); slot++) {
      indexBetween(slot, dueAt, dueAt).forEach(entry -> assertThat(found.add(entry.id())).isTrue());
    }
    assertThat(found).hasSize(Limits.MAX_BATCH);
  }

  @Test
  void keysThatDifferInOneCharacterAreDistinct() {
    List<String> keys = List.of("a", "A", "a ", " a", "a/b", "a//b", "a\\b", "a%2Fb", "ä", "a\u0308", "ß", "ss", "SS",
        "🦊", "👩‍👩‍👧", "\u00a0", "\uFFFD", "\uFFFF", "日本語", "|", ":", "{a}", "a'b", "a\"b", "a;--", "null", "%", "_",
        "*", "é", "e\u0301", "\u0080\u0081", "x".repeat(Limits.MAX_KEY_BYTES), "x".repeat(Limits.MAX_KEY_BYTES - 1),
        "🦊".repeat(Limits.MAX_KEY_BYTES / 4));
    keys = new ArrayList<>(keys);
    // Each character from U+0021 to U+00FF, followed by one from U+0080 to U+015E. A key must not contain DEL (U+007F).
    for (char c = 0x21; c < 0x100; c++) {
      if (c != 0x7F) {
        keys.add("binary " + c + (char) (0x17F - c));
      }
    }
    for (String key : keys) {
      assertThat(Limits.ensureKey(key)).isEqualTo(key);
      assertThat(submit(key, now() + HOUR).kind()).as("key %s", key).isEqualTo(SubmitResult.Kind.CREATED);
    }
    for (String key : keys) {
      TaskRecord task = find(key(key)).orElseThrow();
      assertThat(task.key()).isEqualTo(key);
      assertThat(task.body()).isEqualTo(body("of " + key));
    }
    assertThat(find(key("b"))).isEmpty();
  }

  @Test
  void aTaskMayBeDueAtAnyInstant() {
    long now = now();
    for (long dueAt : new long[]{0, 1, -1, -Limits.MAX_DELAY_MILLIS, Integer.MAX_VALUE, 1L << 32, now,
        now + Limits.MAX_DELAY_MILLIS}) {
      TaskId id = created(null, dueAt);
      assertThat(record(id).dueAt()).isEqualTo(dueAt);
      assertThat(wakes(id)).containsExactly(dueAt);
      assertThat(indexBetween(slotOf(id), dueAt, dueAt)).hasSize(1);
      if (dueAt > now) {
        assertThat(later(claim(id))).isEqualTo(dueAt);
      } else {
        assertThat(won(id).dueAt()).isEqualTo(dueAt);
      }
    }
  }
}
