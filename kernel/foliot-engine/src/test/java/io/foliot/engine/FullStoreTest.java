package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.Retry;
import io.foliot.api.TaskState;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskReason;
import io.foliot.core.Unready;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** An engine whose store has no room for new tasks, or not even for the ends of attempts. */
class FullStoreTest {
  private static final int TASKS = 50;

  /** A store that has no room for ends while it is full, as a database whose pages are full. */
  private static final class WithoutRoomForEnds extends ForwardingStore {
    boolean isFull;
    boolean refusesExtensions;

    WithoutRoomForEnds(TaskStore store) {
      super(store);
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      return isFull
          ? CompletableFuture.failedFuture(new StoreFullException("no room in this test"))
          : super.settle(settlements);
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
      return isFull && refusesExtensions
          ? CompletableFuture.failedFuture(new StoreFullException("no room in this test"))
          : super.extend(extensions);
    }
  }

  private static List<TaskId> submit(World world, Duration delay) {
    List<TaskId> ids = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      ids.add(world.submit("q", delay, "1").id());
    }
    return ids;
  }

  private static long runs(World world, String queue) {
    return world.receiver.seen.stream().filter(seen -> seen.attempt().task().queue().equals(queue)).count();
  }

  /** One pass that inserts a task must not keep the ends of other attempts from the store. */
  @Test
  void plansWithoutRoomDoNotHoldUpTheEndsOfOthers() {
    List<MemoryStore> stores = new ArrayList<>();
    try (World world = new World(UnaryOperator.identity(), store -> {
      stores.add((MemoryStore) store);
      return store;
    })) {
      world.queue(World.local("q"));
      int[] children = new int[1];
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(
          attempt.task().queue().equals("q")
              ? new Answer.Done("")
              : new Answer.Plan(new Outcome.Rearm(Due.after(1_000), Body.json("\"next\""),
                  List.of(new Outcome.Child(TaskId.of(1, attempt.task().id().hash16(), children[0]++), "q", Due.NOW,
                      Body.EMPTY, 1, false))),
                  ""));
      TaskId plan = TaskId.of(1, SlotHash.of(World.INTERNAL, "job"), 1);
      world.join(world.engine.write(List.of(
          new Draft(plan, World.INTERNAL, "job", Due.NOW, Body.json("1"), 0, OnConflict.RESET, null))));
      world.advance(Duration.ofMillis(1_500));
      List<TaskId> ids = submit(world, Duration.ofSeconds(1));
      stores.getFirst().setFull(true);
      int planned = children[0];
      long ran = runs(world, "q");
      world.advance(Duration.ofMinutes(3));
      assertThat(runs(world, "q") - ran).as("each task ran once").isEqualTo(TASKS);
      assertThat(ids).allSatisfy(id -> assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED));
      assertThat(children[0]).as("passes go on").isGreaterThan(planned + 100);
      assertThat(world.task(plan).attempt()).as("attempts are not used up").isLessThanOrEqualTo(1);
      stores.getFirst().setFull(false);
      long before = runs(world, "q");
      world.advance(Duration.ofSeconds(5));
      assertThat(runs(world, "q")).isGreaterThan(before + 2);
    }
  }

  private static void holdEnds(boolean refusesExtensions) {
    List<WithoutRoomForEnds> stores = new ArrayList<>();
    try (World world = new World(UnaryOperator.identity(), store -> {
      stores.add(new WithoutRoomForEnds(store));
      return stores.getFirst();
    })) {
      world.queue(World.local("q").toBuilder().retry(new Retry(2, Duration.ofSeconds(1), 1, Duration.ofSeconds(1), 0))
          .build());
      WithoutRoomForEnds store = stores.getFirst();
      store.isFull = true;
      store.refusesExtensions = refusesExtensions;
      List<TaskId> first = submit(world, Duration.ofSeconds(1));
      List<TaskId> later = submit(world, Duration.ofSeconds(5));
      world.advance(Duration.ofMinutes(10));
      assertThat(world.receiver.seen).as("nothing is claimed once an end has found no room")
          .hasSizeLessThanOrEqualTo(TASKS);
      assertThat(world.engine.status().unready()).containsExactly(new Unready.StoreFull());
      assertThat(world.join(world.engine.explain(later.getFirst())).orElseThrow().reasons())
          .contains(TaskReason.STORE_FULL);
      store.isFull = false;
      world.advance(Duration.ofSeconds(10));
      assertThat(world.receiver.seen).as("each task ran once").hasSize(2 * TASKS);
      first.forEach(id -> {
        assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
        assertThat(world.task(id).attempt()).isEqualTo(1);
      });
      assertThat(world.engine.status().unready()).isEmpty();
      assertThat(later).allSatisfy(id -> assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED));
    }
  }

  @Test
  void anAttemptWhoseEndFindsNoRoomIsNotUsedUp() {
    holdEnds(false);
  }

  @Test
  void anEndIsStoredLateEvenIfItsLeaseCouldNotBeKept() {
    holdEnds(true);
  }
}
