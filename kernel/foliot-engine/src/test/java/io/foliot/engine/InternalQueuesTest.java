package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.SlotHash;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests tasks of an internal queue: their payload is their state, and their attempts insert other tasks. */
final class InternalQueuesTest {
  private static final String QUEUE = "q";

  private static Draft draft(World world, String key, Duration delay) {
    TaskId id = TaskId.of(world.clock.wallMillis(), SlotHash.of(World.INTERNAL, key), key.hashCode());
    return new Draft(id, World.INTERNAL, key, Due.after(delay.toMillis()), Body.json("0"), 0, OnConflict.RESET, null);
  }

  private static Outcome.Child child(World world, TaskRecord parent, int number, Duration delay) {
    return new Outcome.Child(TaskId.of(world.clock.wallMillis(), parent.id().hash16(), number), QUEUE,
        Due.at(world.clock.wallMillis() + delay.toMillis()), Body.json("\"child " + number + "\""), 0, false);
  }

  /** Answers an attempt. A task of the internal queue counts its attempts in its payload, and inserts a child. */
  private static CompletableFuture<Answer> plan(World world, TaskRecord task) {
    if (!task.queue().equals(World.INTERNAL)) {
      return CompletableFuture.completedFuture(new Answer.Done(""));
    }
    int count = Integer.parseInt(new String(task.body().payload(), StandardCharsets.UTF_8)) + 1;
    return CompletableFuture.completedFuture(new Answer.Plan(
        new Outcome.Rearm(Due.at(task.dueAt() + 10_000), Body.json("" + count),
            List.of(child(world, task, count, Duration.ofSeconds(1)))),
        ""));
  }

  private static World world() {
    World world = new World();
    world.queue(World.local(QUEUE));
    world.receiver.behaviour = attempt -> plan(world, attempt.task());
    return world;
  }

  @Test
  void aPlanFiresAgainAndItsChildrenFireOnTheMillisecond() {
    try (World world = world()) {
      SubmitResult written = world.join(world.engine.write(List.of(draft(world, "job", Duration.ofSeconds(2)))))
          .getFirst();
      world.advance(Duration.ofSeconds(35));
      assertThat(world.receiver.texts()).containsExactly("0", "\"child 1\"", "1", "\"child 2\"", "2", "\"child 3\"",
          "3", "\"child 4\"");
      assertThat(world.receiver.seen).allMatch(seen -> seen.lateMillis() == 0);
      assertThat(world.task(written.id()).state()).isEqualTo(TaskState.DELAYED);
    }
  }

  @Test
  void aWokenTaskFiresAtOnce() {
    try (World world = world()) {
      world.join(world.engine.write(List.of(draft(world, "job", Duration.ofHours(2)))));
      world.join(world.engine.wake(World.INTERNAL, List.of("job", "absent")));
      world.advance(Duration.ofMillis(1));
      assertThat(world.receiver.texts()).containsExactly("0");
      assertThat(world.join(world.engine.find(new TaskRef.ByKey(World.INTERNAL, "absent")))).isEmpty();
    }
  }

  /** Checks that 100 tasks that end together cause one planning pass, and that an attempt to be retried causes none. */
  @Test
  void endsOfTasksWakeTheTaskThatWaitsForThem() {
    try (World world = world()) {
      world.receiver.awaited.add(QUEUE);
      world.join(world.engine.write(List.of(draft(world, "job", Duration.ofHours(2)))));
      for (int i = 0; i < 100; i++) {
        world.submit(QUEUE, Duration.ofMillis(1), "t" + i);
      }
      world.advance(Duration.ofMillis(500));
      assertThat(planningPasses(world)).isEqualTo(1);
      world.receiver.behaviour = attempt -> CompletableFuture
          .completedFuture(new Answer.Retry(Duration.ofHours(1), Answer.Health.WELL, "no"));
      world.submit(QUEUE, Duration.ZERO, "fails");
      world.advance(Duration.ofMillis(500));
      assertThat(planningPasses(world)).isEqualTo(1);
    }
  }

  private static long planningPasses(World world) {
    return world.receiver.seen.stream().filter(seen -> seen.attempt().task().queue().equals(World.INTERNAL)).count();
  }

  @Test
  void aReportWakesTheTaskThatWaitsForTheEnd() {
    try (World world = world()) {
      world.receiver.awaited.add("pull");
      world.queue(QueueConfig.of("pull", Target.pull()));
      world.join(world.engine.write(List.of(draft(world, "job", Duration.ofHours(2)))));
      TaskId id = world.submit("pull", Duration.ZERO, "a").id();
      CompletableFuture<List<TaskRecord>> pulled = world.engine
          .pull(new Scheduler.Pull("pull", 1, 20_000, 5_000, "w"));
      world.advance(Duration.ofMillis(10));
      world.join(world.engine.ack(id, Objects.requireNonNull(world.join(pulled).getFirst().token()), null));
      world.advance(Duration.ofMillis(210));
      assertThat(planningPasses(world)).isEqualTo(1);
    }
  }

  @Test
  void callersNeitherSeeNorChangeAnInternalQueue() {
    try (World world = world()) {
      assertThat(world.engine.queue(World.INTERNAL)).isEmpty();
      assertThat(world.join(world.engine.findQueue(World.INTERNAL))).isEmpty();
      world.join(world.engine.write(List.of(draft(world, "job", Duration.ofHours(2)))));
      assertThat(world.join(world.engine.queues())).extracting(status -> status.queue().name()).containsExactly(QUEUE);
      assertRefused(world.engine.submit(Submission.after(World.INTERNAL, Duration.ZERO, Body.EMPTY)), world);
      assertRefused(world.engine.touch(World.INTERNAL, List.of("job"), Duration.ZERO), world);
      assertRefused(world.engine.tasks(World.INTERNAL, null, 10, null), world);
      assertRefused(world.engine.setPaused(World.INTERNAL, true), world);
      assertThat(world.join(world.engine.deleteQueue(World.INTERNAL))).isFalse();
      assertRefused(world.engine.putQueue(QueueConfig.of("foliot.mine", Target.local())), world,
          IllegalArgumentException.class);
      world.advance(Duration.ofHours(2));
      assertThat(world.receiver.texts()).contains("0");
    }
  }

  private static void assertRefused(CompletableFuture<?> call, World world) {
    assertRefused(call, world, UnknownQueueException.class);
  }

  private static void assertRefused(CompletableFuture<?> call, World world, Class<? extends Throwable> reason) {
    world.settle();
    assertThat(call).isCompletedExceptionally();
    assertThat(GroupCommit.unwrapped(call.exceptionNow())).isInstanceOf(reason);
  }
}
