package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Part of the kit: plans, drafts that expect a generation, and look-ups of many tasks. A <em>plan</em> is a re-arm that
 * also replaces the payload of its task, or inserts further tasks, its <em>children</em>.
 */
abstract class RearmContract extends SettleContract {
  private static final int RACES = 30;
  private static final int RACERS = 4;

  private static Outcome.Child child(TaskId parent, long dueAt) {
    return new Outcome.Child(idIn(parent.hash16()), OTHER_QUEUE, Due.at(dueAt), body("child"), 0, false);
  }

  private static Outcome.Child parkedChild(TaskId parent, long dueAt) {
    return new Outcome.Child(idIn(parent.hash16()), OTHER_QUEUE, Due.at(dueAt), body("child"), 0, true);
  }

  private static Outcome.Rearm rearm(long dueAt, @Nullable Body body, Outcome.Child... children) {
    return new Outcome.Rearm(Due.at(dueAt), body, List.of(children));
  }

  private boolean exists(Outcome.Child child) {
    return find(id(child.id())).isPresent();
  }

  @Test
  void aReArmGivesItsTaskAPayloadAndInsertsChildren() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long again = now() + HOUR;
    Outcome.Child first = child(id, now() + 2 * HOUR);
    Outcome.Child second = new Outcome.Child(idIn(id.hash16()), QUEUE, Due.at(now()), Body.EMPTY, 7, false);
    assertThat(settle(running, rearm(again, body("plan"), first, second)))
        .isEqualTo(new SettleResult(SettleResult.Kind.SETTLED, TaskState.DELAYED, again));
    TaskRecord parent = record(id);
    assertThat(parent.body()).isEqualTo(body("plan"));
    assertThat(parent.generation()).isGreaterThan(running.generation());
    assertThat(parent.dueAt()).isEqualTo(again);
    assertThat(parent.firstDueAt()).isEqualTo(again);
    TaskRecord later = record(first.id());
    assertThat(later.queue()).isEqualTo(OTHER_QUEUE);
    assertThat(later.key()).isNull();
    assertThat(later.state()).isEqualTo(TaskState.DELAYED);
    assertThat(later.body()).isEqualTo(body("child"));
    assertThat(Due.at(later.dueAt())).isEqualTo(first.due());
    assertThat(later.generation()).isPositive();
    assertThat(wakes(first.id())).containsExactly(later.dueAt());
    assertThat(won(second.id()).maxAttempts()).isEqualTo(7);
    assertThat(get(store().hasLive(OTHER_QUEUE))).isTrue();
    assertThat(later(claim(first.id()))).isEqualTo(later.dueAt());
    pass(1);
    assertThat(record(id).body()).isEqualTo(body("plan"));
  }

  @Test
  void aReArmWithoutAPayloadKeepsTheOldOne() {
    TaskId id = due("a");
    Outcome.Child child = child(id, now());
    settled(won(id), rearm(now() + HOUR, null, child));
    assertThat(record(id).body()).isEqualTo(body("of a"));
    assertThat(exists(child)).isTrue();
  }

  @Test
  void aReArmWithAPayloadOrChildrenDropsTheAttempts() {
    TaskId id = due("a");
    settled(won(id), new Outcome.Retry(Due.at(now())));
    settled(won(id), rearm(now(), null));
    assertThat(record(id).attempts()).as("a re-arm without payload and children").hasSize(2);
    settled(won(id), rearm(now(), body("plan")));
    assertThat(record(id).attempts()).isEmpty();
    settled(won(id), new Outcome.Retry(Due.at(now())));
    settled(won(id), rearm(now(), null, child(id, now())));
    assertThat(record(id).attempts()).isEmpty();
    TaskRecord running = won(id);
    touch(key("a"), now() + HOUR);
    settled(running, rearm(now() + HOUR, body("plan")));
    assertThat(record(id).attempts()).as("with a successor").isEmpty();
  }

  @Test
  void aReArmIsDurable() {
    TaskId id = due("a");
    Outcome.Child child = child(id, now());
    settled(won(id), rearm(now() + HOUR, body("plan"), child));
    reopenStore();
    assertThat(record(id).body()).isEqualTo(body("plan"));
    assertThat(won(child.id()).body()).isEqualTo(body("child"));
  }

  @Test
  void onlyTheTokenOfTheLatestClaimReArms() {
    TaskId id = due("a");
    TaskRecord first = lost(id);
    TaskRecord second = won(id);
    Outcome.Child child = child(id, now());
    assertThat(settle(first, rearm(now(), body("stale"), child)).kind()).isEqualTo(SettleResult.Kind.STALE);
    AttemptEnd forged = new AttemptEnd(id, second.generation(), new Token(1, 2), rearm(now(), body("stale"), child), 0,
        "");
    assertThat(one(store().settle(List.of(forged))).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(exists(child)).isFalse();
    assertThat(record(id).body()).isEqualTo(body("of a"));
    finish(second);
    assertThat(settle(second, rearm(now(), body("late"), child)).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(exists(child)).isFalse();
  }

  @Test
  void aReArmOfAnAbsentTaskInsertsNothing() {
    TaskId id = newId(QUEUE, "a");
    Outcome.Child child = child(id, now());
    AttemptEnd settlement = new AttemptEnd(id, 1, new Token(1, 2), rearm(now(), body("plan"), child), 0, "");
    assertThat(one(store().settle(List.of(settlement))).kind()).isEqualTo(SettleResult.Kind.NOT_FOUND);
    assertThat(exists(child)).isFalse();
  }

  @Test
  void aReArmAfterACancelInsertsNoChild() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    assertThat(cancelKind(key("a"))).isEqualTo(Cancellation.CANCEL_PENDING);
    Outcome.Child child = child(id, now());
    assertThat(settle(running, rearm(now(), body("plan"), child)).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(exists(child)).isFalse();
  }

  @Test
  void aTouchDueBeforeAPlanGetsThePayloadOfThePlan() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long soon = now();
    long generation = touch(key("a"), soon).generation();
    Outcome.Child child = child(id, now());
    assertThat(settled(running, rearm(now() + HOUR, body("plan"), child)).wakeAt()).isEqualTo(soon);
    TaskRecord next = record(id);
    assertThat(next.body()).isEqualTo(body("plan"));
    assertThat(next.generation()).isEqualTo(generation);
    assertThat(next.successor()).isNull();
    assertThat(exists(child)).isTrue();
    assertThat(won(id).generation()).isEqualTo(generation);
  }

  @Test
  void aPlanDueBeforeATouchGetsANewerGeneration() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    long generation = touch(key("a"), now() + HOUR).generation();
    long soon = now();
    settled(running, rearm(soon, body("plan"), child(id, now())));
    TaskRecord next = record(id);
    assertThat(next.dueAt()).isEqualTo(soon);
    assertThat(next.generation()).as("the generation of the touch must not begin early").isGreaterThan(generation);
    assertThat(next.body()).isEqualTo(body("plan"));
    assertThat(wakes(id)).containsExactly(soon);
  }

  @Test
  void aSubmitDuringAPlanReplacesThePayload() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    submit(withBody(draft("a", now()), body("submitted")));
    Outcome.Child child = child(id, now());
    settled(running, rearm(now() + HOUR, body("plan"), child));
    assertThat(record(id).body()).isEqualTo(body("submitted"));
    assertThat(exists(child)).isTrue();
  }

  @Test
  void aPlanIsRecordedOnce() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    Outcome.Child child = child(id, now());
    Outcome.Rearm plan = rearm(now() + HOUR, body("plan"), child);
    settled(running, plan);
    TaskRecord after = record(id);
    finish(won(child.id()));
    assertThat(settle(running, plan)).isEqualTo(
        new SettleResult(SettleResult.Kind.REPEATED, TaskState.DELAYED, 0));
    assertThat(record(id).generation()).isEqualTo(after.generation());
    assertThat(record(child.id()).state()).as("the child that ended").isEqualTo(TaskState.FINISHED);
  }

  @Test
  void childrenThatExistAreLeftUnchanged() {
    TaskId id = due("a");
    Outcome.Child ended = child(id, now());
    Outcome.Child running = child(id, now());
    settled(won(id), rearm(now(), null, ended, running));
    finish(won(ended.id()));
    Token token = tokenOf(won(running.id()));
    TaskRecord again = won(id);
    Outcome.Child fresh = child(id, now());
    settled(again, rearm(now() + HOUR, body("plan"), ended, running, fresh));
    assertThat(record(ended.id()).state()).isEqualTo(TaskState.FINISHED);
    assertThat(record(running.id()).token()).isEqualTo(token);
    assertThat(exists(fresh)).isTrue();
    assertThat(record(id).body()).isEqualTo(body("plan"));
  }

  @Test
  void aChildReplacesAnExpiredRecordOfItsId() {
    store().configure(OTHER_QUEUE, retention(2 * tickMillis(), HOUR));
    TaskId id = due("a");
    Outcome.Child child = child(id, now());
    settled(won(id), rearm(now(), body("plan"), child));
    finish(won(child.id()));
    pass(3);
    assertThat(exists(child)).as("its retention is over").isFalse();
    settled(won(id), rearm(now() + HOUR, body("plan"), child));
    assertThat(record(child.id()).state()).isEqualTo(TaskState.DELAYED);
    finish(won(child.id()));
    assertThat(record(child.id()).state()).isEqualTo(TaskState.FINISHED);
  }

  @Test
  void childrenToParkAreParkedOnlyIfTheyAreDue() {
    TaskId id = due("a");
    Outcome.Child due = parkedChild(id, now());
    Outcome.Child later = parkedChild(id, now() + HOUR);
    settled(won(id), rearm(now() + HOUR, null, due, later));
    assertThat(record(due.id()).parked()).isTrue();
    assertThat(wakes(due.id())).isEmpty();
    assertThat(allParked(OTHER_QUEUE)).containsExactly(entry(due.id()));
    assertThat(record(later.id()).parked()).as("due later").isFalse();
    assertThat(wakes(later.id())).hasSize(1);
    finish(won(due.id()));
    assertThat(allParked(OTHER_QUEUE)).isEmpty();
  }

  @Test
  void aReArmReturnsAParkedTaskToTheIndex() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(get(store().park(List.of(entry(id))))).containsExactly(true);
    assertThat(wakes(id)).isEmpty();
    long again = now() + HOUR;
    settled(running, rearm(again, body("plan"), child(id, now())));
    assertThat(wakes(id)).containsExactly(again);
    assertThat(allParked(QUEUE)).isEmpty();
  }

  @Test
  void theMaximumNumberOfChildrenIsInserted() {
    TaskId id = due("a");
    List<Outcome.Child> children = IntStream.range(0, Outcome.Rearm.MAX_CHILDREN)
        .mapToObj(i -> child(id, now() + HOUR)).toList();
    settled(won(id), new Outcome.Rearm(Due.at(now() + HOUR), body("plan"), children));
    List<Optional<TaskRecord>> found = get(store().find(children.stream().map(Outcome.Child::id).toList()));
    assertThat(found).hasSize(children.size()).allMatch(Optional::isPresent);
  }

  @Test
  void aBatchOfPlansActsInItsOrder() {
    List<AttemptEnd> settlements = new ArrayList<>();
    List<Outcome.Child> children = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      TaskRecord running = won(due("batch-" + i));
      Outcome.Child child = child(running.id(), now());
      children.add(child);
      settlements.add(settlement(running, rearm(now() + HOUR, body("plan " + i), child, child(running.id(), now()))));
    }
    TaskRecord plain = won(due("plain"));
    settlements.add(settlement(plain, new Outcome.Finished()));
    settlements.add(settlements.getFirst());
    List<SettleResult> results = get(store().settle(settlements));
    assertThat(results.subList(0, 21)).extracting(SettleResult::kind).containsOnly(SettleResult.Kind.SETTLED);
    assertThat(results.getLast().kind()).isEqualTo(SettleResult.Kind.REPEATED);
    assertThat(children).allMatch(this::exists);
    for (int i = 0; i < 20; i++) {
      assertThat(record(settlements.get(i).id()).body()).isEqualTo(body("plan " + i));
    }
  }

  @Test
  void anInvalidReArmIsRefused() {
    TaskId id = due("a");
    TaskRecord running = won(id);
    Outcome.Child stranger = new Outcome.Child(idIn(id.hash16() ^ 1), QUEUE, Due.NOW, Body.EMPTY, 0, false);
    assertThatIllegalArgumentException().isThrownBy(() -> settlement(running, rearm(now(), null, stranger)))
        .withMessageContaining("hash");
    Outcome.Child twin = child(id, now());
    assertThatIllegalArgumentException().isThrownBy(() -> rearm(now(), null, twin, twin))
        .withMessageContaining(twin.id().toString());
    List<Outcome.Child> many = IntStream.rangeClosed(0, Outcome.Rearm.MAX_CHILDREN).mapToObj(i -> child(id, now()))
        .toList();
    assertThatIllegalArgumentException().isThrownBy(() -> new Outcome.Rearm(Due.NOW, null, many))
        .withMessageContaining("children=501");
    Body large = new Body(new byte[Outcome.Rearm.MAX_CHILDREN_BYTES + 1], "text/plain", Map.of());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> rearm(now(), null, new Outcome.Child(idIn(id.hash16()), QUEUE, Due.NOW, large, 0, false)))
        .withMessageContaining("bytes");
    finish(running);
  }

  /**
   * Checks that a plan is visible as a whole. Once a reader has seen one part, the next read must return the other
   * part.
   */
  @Test
  void aPlanIsSeenAsAWholeOrNotAtAll() {
    try (ExecutorService reader = Executors.newSingleThreadExecutor()) {
      for (int race = 0; race < RACES; race++) {
        TaskId id = due("race-" + race);
        TaskRecord running = won(id);
        Outcome.Child child = child(id, now() + HOUR);
        boolean childFirst = race % 2 == 0;
        CompletableFuture<Void> reads = CompletableFuture.runAsync(() -> {
          boolean seen = false;
          while (!seen) {
            boolean first = childFirst ? exists(child) : record(id).generation() > running.generation();
            boolean second = childFirst ? record(id).generation() > running.generation() : exists(child);
            assertThat(!first || second).as("a reader that has seen one part sees the other part").isTrue();
            seen = first;
          }
        }, reader);
        settled(running, rearm(now() + HOUR, body("plan"), child));
        get(reads);
      }
    }
  }

  private static Draft expecting(String key, long dueAt, long generation) {
    return draft(key, dueAt, OnConflict.RESET).expecting(generation);
  }

  @Test
  void aDraftThatExpectsTheLiveGenerationResetsIt() {
    SubmitResult first = submit("a", now() + HOUR);
    long dueAt = now() + 2 * HOUR;
    SubmitResult second = submit(withBody(draft("a", dueAt), body("changed")).expecting(first.generation()));
    assertThat(second.kind()).isEqualTo(SubmitResult.Kind.RESET);
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(second.generation()).isGreaterThan(first.generation());
    assertThat(second.dueAt()).isEqualTo(dueAt);
    assertThat(record(first.id()).body()).isEqualTo(body("changed"));
    assertThat(submit(expecting("a", now(), first.generation())).kind()).isEqualTo(SubmitResult.Kind.CHANGED);
    Draft keeps = draft("a", now(), OnConflict.KEEP).expecting(second.generation());
    assertThat(submit(keeps).kind()).as("the expectation decides, not onConflict")
        .isEqualTo(SubmitResult.Kind.RESET);
  }

  @Test
  void aDraftWhoseExpectationFailsChangesNothing() {
    SubmitResult live = submit("a", now() + HOUR);
    TaskRecord before = record(live.id());
    for (long wrong : List.of(live.generation() - 1, live.generation() + 1, Draft.ABSENT)) {
      SubmitResult result = submit(expecting("a", now(), wrong));
      assertThat(result).isEqualTo(new SubmitResult(SubmitResult.Kind.CHANGED, live.id(), live.generation(),
          live.dueAt(), TaskState.DELAYED, false));
      assertThat(result.kind().isPlaced()).isFalse();
    }
    TaskRecord after = record(live.id());
    assertThat(after.generation()).isEqualTo(before.generation());
    assertThat(after.dueAt()).isEqualTo(before.dueAt());
    assertThat(after.body()).isEqualTo(before.body());
    assertThat(submit(expecting("nothing", now(), 5)))
        .matches(result -> result.kind() == SubmitResult.Kind.CHANGED && result.generation() == 0);
    assertThat(find(key("nothing"))).isEmpty();
  }

  @Test
  void aDraftThatExpectsNoLiveTaskCreatesOne() {
    SubmitResult first = submit(expecting("a", now(), Draft.ABSENT));
    assertThat(first.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(submit(expecting("a", now(), Draft.ABSENT)).kind()).isEqualTo(SubmitResult.Kind.CHANGED);
    finish(won(first.id()));
    SubmitResult ended = submit(expecting("a", now(), first.generation()));
    assertThat(ended.kind()).as("the task with that generation has ended").isEqualTo(SubmitResult.Kind.CHANGED);
    SubmitResult second = submit(expecting("a", now(), Draft.ABSENT));
    assertThat(second.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(second.generation()).isGreaterThan(first.generation());
  }

  @Test
  void aDraftThatExpectsAGenerationOfARunningTaskIsRefused() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(submit(expecting("a", now(), running.generation())).kind()).as("its lease has ended")
        .isEqualTo(SubmitResult.Kind.CHANGED);
    TaskRecord again = won(id);
    assertThat(submit(expecting("a", now(), again.generation())).kind()).isEqualTo(SubmitResult.Kind.CHANGED);
    assertThat(submit(expecting("a", now(), Draft.ABSENT)).kind()).isEqualTo(SubmitResult.Kind.CHANGED);
    assertThat(record(id).successor()).isNull();
    settled(again, rearm(now() + HOUR, null));
    assertThat(submit(expecting("a", now(), record(id).generation())).kind()).as("the lost attempt may still deliver")
        .isEqualTo(SubmitResult.Kind.RESET_PENDING);
  }

  @Test
  void aBatchOfExpectingDraftsActsInItsOrder() {
    SubmitResult first = submit("a", now() + HOUR);
    List<SubmitResult> results = get(store().submit(List.of(expecting("a", now() + HOUR, first.generation()),
        expecting("a", now(), first.generation()), expecting("b", now() + HOUR, 7),
        expecting("b", now() + HOUR, Draft.ABSENT), draft("a", now() + HOUR))));
    assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.RESET,
        SubmitResult.Kind.CHANGED, SubmitResult.Kind.CHANGED, SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET);
  }

  @Test
  void aRefusedDraftLeavesNoIdempotencyRecord() {
    SubmitResult live = submit("a", now() + HOUR);
    Draft wrong = withIdempotency(draft("a", now() + HOUR), "request", 1).expecting(live.generation() + 1);
    assertThat(submit(wrong).kind()).isEqualTo(SubmitResult.Kind.CHANGED);
    Draft right = new Draft(wrong.id(), wrong.queue(), wrong.key(), wrong.due(), wrong.body(), wrong.maxAttempts(),
        wrong.onConflict(), wrong.idempotency(), live.generation());
    assertThat(submit(right).kind()).isEqualTo(SubmitResult.Kind.RESET);
    assertThat(submit(right).kind()).isEqualTo(SubmitResult.Kind.REPEATED);
  }

  @Test
  void onlyADraftWithAKeyExpectsAGeneration() {
    assertThatIllegalArgumentException().isThrownBy(() -> draft(null, now()).expecting(1));
  }

  /** Checks that exactly one of several writers with the same expectation wins. */
  @Test
  void oneOfSeveralDraftsWithOneExpectationWins() {
    try (ExecutorService racers = Executors.newFixedThreadPool(RACERS)) {
      long generation = submit("a", now() + HOUR).generation();
      for (int race = 0; race < RACES; race++) {
        long expected = generation;
        List<CompletableFuture<SubmitResult>> submits = IntStream.range(0, RACERS)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> submit(expecting("a", now() + HOUR, expected)), racers))
            .toList();
        List<SubmitResult> results = submits.stream().map(StoreFixture::get).toList();
        List<SubmitResult> won = results.stream().filter(result -> result.kind() == SubmitResult.Kind.RESET).toList();
        assertThat(won).hasSize(1);
        assertThat(results).filteredOn(result -> result.kind() == SubmitResult.Kind.CHANGED).hasSize(RACERS - 1);
        generation = won.getFirst().generation();
      }
    }
  }

  @Test
  void manyTasksAreReturnedInTheOrderOfTheCall() {
    TaskId live = created("live", now() + HOUR);
    TaskId ended = due("ended");
    finish(won(ended));
    TaskId parked = parked(draft("parked", now()));
    TaskId absent = newId(QUEUE, "absent");
    List<TaskId> ids = new ArrayList<>(List.of(parked, absent, live, ended, live));
    for (int i = 0; i < 100; i++) {
      ids.add(created(null, now() + HOUR));
    }
    List<Optional<TaskRecord>> found = get(store().find(ids));
    assertThat(found).hasSize(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      TaskId id = ids.get(i);
      if (id.equals(absent)) {
        assertThat(found.get(i)).isEmpty();
      } else {
        TaskRecord task = found.get(i).orElseThrow();
        assertThat(task.id()).isEqualTo(id);
        assertThat(task.state()).isEqualTo(record(id).state());
        assertThat(task.body()).isEqualTo(record(id).body());
      }
    }
    assertThat(get(store().find(List.<TaskId>of()))).isEmpty();
  }
}
