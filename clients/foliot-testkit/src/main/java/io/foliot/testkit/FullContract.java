package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A store that has no room for new tasks. It refuses items, never a batch, and only items that insert a task. All tasks
 * that it has can be changed, extended and ended.
 */
abstract class FullContract extends StormContract {
  /**
   * Takes the room for new tasks from the store under test, or gives it back. Statements that change what is stored
   * still succeed. A store that is opened afterwards begins with room.
   */
  protected abstract void setFull(boolean isFull);

  @AfterEach
  void giveRoomBack() {
    setFull(false);
  }

  /** Returns the result of each item, with null for an item for which there was no room. */
  private static <R> List<@Nullable Object> results(int items, CompletionStage<List<R>> stage) {
    try {
      List<R> results = stage.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
      return new ArrayList<>(results);
    } catch (CompletionException e) {
      if (e.getCause() instanceof ItemsFailedException partly) {
        assertThat(partly.failure()).isInstanceOf(StoreFullException.class);
        assertThat(partly.results()).hasSize(items);
        return partly.results();
      }
      assertThat(e.getCause()).isInstanceOf(StoreFullException.class);
      return Collections.nCopies(items, null);
    }
  }

  private static SettleResult.@Nullable Kind kind(@Nullable Object result) {
    return result == null ? null : ((SettleResult) result).kind();
  }

  private static AttemptEnd with(TaskRecord claimed, Outcome outcome) {
    return settlement(claimed, outcome);
  }

  private Outcome.Rearm planOf(TaskRecord parent, int child) {
    return new Outcome.Rearm(Due.after(HOUR), body("next"), List.of(new Outcome.Child(
        TaskId.of(1_000, parent.id().hash16(), 77 + child), OTHER_QUEUE, Due.after(HOUR), body("child"), 3, false)));
  }

  @Test
  void aSettlementThatFindsNoRoomLeavesItsNeighbours() {
    TaskRecord finishes = won(due("a"));
    TaskRecord plans = won(due("b"));
    TaskRecord fails = won(due("c"));
    TaskRecord retries = won(due(null));
    TaskRecord again = won(due("e"));
    Outcome.Rearm plan = planOf(plans, 0);
    TaskId child = plan.children().getFirst().id();
    List<AttemptEnd> settlements = List.of(with(finishes, new Outcome.Finished()), with(plans, plan),
        with(fails, new Outcome.Failed()), with(retries, new Outcome.Retry(Due.after(HOUR))),
        with(again, new Outcome.Rearm(Due.after(HOUR), body("again"), List.of())));
    setFull(true);
    List<@Nullable Object> results = results(5, store().settle(settlements));
    for (int i : List.of(0, 2, 3, 4)) {
      assertThat(kind(results.get(i))).as("settlement %s", i).isEqualTo(SettleResult.Kind.SETTLED);
    }
    assertThat(record(finishes.id()).state()).isEqualTo(TaskState.FINISHED);
    TaskRecord failed = record(fails.id());
    assertThat(failed.state()).isEqualTo(TaskState.FAILED);
    assertThat(failed.reason()).isEqualTo("detail");
    assertThat(failed.attempts()).hasSize(1);
    assertThat(record(retries.id()).state()).isEqualTo(TaskState.DELAYED);
    assertThat(record(again.id()).body()).isEqualTo(body("again"));
    // A store may have room for the child of a plan; it inserts either all of a plan or nothing.
    assertThat(find(id(child)).isPresent()).isEqualTo(results.get(1) != null);
    assertThat(record(plans.id()).state()).isEqualTo(results.get(1) == null ? TaskState.RUNNING : TaskState.DELAYED);

    assertThat(kind(one(store().settle(List.of(settlements.getFirst()))))).isEqualTo(SettleResult.Kind.REPEATED);
    assertThat(claim(finishes.id())).isInstanceOf(ClaimResult.Gone.class);
    setFull(false);
    assertThat(results(5, store().settle(settlements)).stream().map(FullContract::kind))
        .allMatch(kind -> kind == SettleResult.Kind.REPEATED || kind == SettleResult.Kind.SETTLED);
    assertThat(find(id(child))).isPresent();
  }

  @Test
  void aTaskThatEndedWithoutRoomIsAnEndedTask() {
    store().configure(QUEUE, retention(HOUR, 2 * HOUR));
    TaskRecord finished = won(due("finished"));
    TaskRecord failed = won(due("failed"));
    TaskId waiting = created("waiting", now() + HOUR);
    setFull(true);
    finish(finished);
    settled(failed, new Outcome.Failed());
    assertThat(cancelKind(id(waiting))).isEqualTo(Cancellation.CANCELLED);
    reopenStore();
    store().configure(QUEUE, retention(HOUR, 2 * HOUR));
    List<TaskId> ids = List.of(finished.id(), failed.id(), waiting);
    List<TaskState> states = List.of(TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELLED);
    for (boolean isFull : new boolean[]{true, false}) {
      setFull(isFull);
      for (int i = 0; i < ids.size(); i++) {
        TaskRecord record = record(ids.get(i));
        assertThat(record.state()).isEqualTo(states.get(i));
        assertThat(record.dropAt()).isEqualTo(record.changedAt() + (states.get(i) == TaskState.FAILED ? 2 : 1) * HOUR);
        assertThat(get(store().find(ids)).get(i).map(TaskRecord::state)).contains(states.get(i));
        assertThat(cancelKind(id(ids.get(i)))).isEqualTo(Cancellation.ALREADY_FINISHED);
        assertThat(extendKind(i == 0 ? finished : failed)).isEqualTo(ExtendResult.Kind.STALE);
        assertThat(get(store().live(1_000, null)).tasks()).extracting(TaskRecord::id).doesNotContain(ids.get(i));
        assertThat(idsOf(states.get(i))).containsExactly(ids.get(i));
      }
      assertThat(find(key("finished")).map(TaskRecord::id)).contains(finished.id());
      assertThat(get(store().hasLive(QUEUE))).isFalse();
      assertThat(touch(key("finished"), now()).kind().name()).isEqualTo("NOT_FOUND");
      eventually(() -> areAllCounted(QUEUE), "the counts of ended tasks");
    }
    SubmitResult next = submit("finished", now());
    assertThat(next.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(next.generation()).isGreaterThan(finished.generation());
    assertThat(redrive(failed.id()).kind()).isEqualTo(RedriveResult.Kind.REDRIVEN);
    won(failed.id());
    for (TaskId id : List.of(finished.id(), waiting)) {
      eventually(() -> {
        claim(id);
        return wakes(id).isEmpty();
      }, "the index has no entry of a task that has ended");
    }
  }

  /** Returns the ids of the queue's tasks in a state. A page may be empty although a next page follows. */
  private List<TaskId> idsOf(TaskState state) {
    List<TaskId> ids = new ArrayList<>();
    String cursor = null;
    do {
      RecordPage page = get(store().query(QUEUE, state, 1_000, cursor));
      page.tasks().forEach(task -> ids.add(task.id()));
      cursor = page.cursor();
    } while (cursor != null);
    return ids;
  }

  private ExtendResult.Kind extendKind(TaskRecord claimed) {
    return extend(claimed, HOUR).kind();
  }

  private boolean areAllCounted(String queue) {
    var counts = get(store().counts()).get(queue);
    return counts != null && counts.finished() == 1 && counts.failed() == 1 && counts.cancelled() == 1
        && counts.delayed() == 0 && counts.running() == 0;
  }

  @Test
  void anEndedTaskWithoutRoomGivesItsKeyToTheNextTask() {
    TaskRecord ended = won(due("a"));
    TaskRecord other = won(due("b"));
    setFull(true);
    finish(ended);
    finish(other);
    assertThat(results(1, store().submit(List.of(draft("a", now()))))).containsOnlyNulls();
    assertThat(record(ended.id()).state()).isEqualTo(TaskState.FINISHED);
    setFull(false);
    assertThat(submit("a", now()).kind()).isEqualTo(SubmitResult.Kind.CREATED);
    SubmitResult idempotent = submit(withIdempotency(draft("b", now()), "request", 1));
    assertThat(idempotent.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    won(idempotent.id());
    assertThat(record(ended.id()).state()).isEqualTo(TaskState.FINISHED);
    assertThat(record(other.id()).state()).isEqualTo(TaskState.FINISHED);
  }

  @Test
  void aSubmitThatFindsNoRoomLeavesItsNeighbours() {
    TaskId kept = created("kept", now() + HOUR);
    SubmitResult expected = submit("expected", now() + HOUR);
    TaskRecord running = won(due("running"));
    Draft reset = draft("kept", now() + 2 * HOUR);
    Draft change = withBody(draft("expected", now()).expecting(expected.generation()), body("changed"));
    List<Draft> drafts = List.of(reset, draft("new", now()), change, draft(null, now()),
        draft("running", now() + HOUR));
    setFull(true);
    List<@Nullable Object> results = results(5, store().submit(drafts));
    assertThat(IntStream.range(0, 5).filter(i -> results.get(i) == null)).containsExactly(1, 3);
    assertThat(record(kept).dueAt()).isEqualTo(dueAt(reset));
    assertThat(record(expected.id()).body()).isEqualTo(body("changed"));
    assertThat(record(running.id()).successor()).isNotNull();
    assertThat(find(key("new"))).isEmpty();
    assertThat(find(id(drafts.get(3).id()))).isEmpty();
    setFull(false);
    assertThat(submit(drafts.get(1)).kind()).isEqualTo(SubmitResult.Kind.CREATED);
  }

  @Test
  void aFullStoreClaimsExtendsTouchesAndCancels() {
    TaskId due = due("a");
    TaskRecord running = won(due("b"));
    TaskId cancelled = due("c");
    setFull(true);
    List<Extension> extensions = List.of(extension(running, 2 * HOUR), extension(running, 3 * HOUR));
    assertThat(get(store().extend(extensions))).extracting(ExtendResult::kind)
        .containsOnly(ExtendResult.Kind.EXTENDED);
    TaskRecord claimed = won(due);
    assertThat(touch(key("b"), now() + HOUR).generation()).isGreaterThan(running.generation());
    assertThat(get(store().cancel(List.<TaskRef>of(id(cancelled), id(running.id()))))).extracting(CancelResult::kind)
        .containsExactly(Cancellation.CANCELLED, Cancellation.CANCEL_PENDING);
    settled(claimed, new Outcome.Retry(Due.NOW));
    finish(won(due));
    Optional<TaskRecord> found = find(key("a"));
    assertThat(found.map(TaskRecord::state)).contains(TaskState.FINISHED);
  }
}
