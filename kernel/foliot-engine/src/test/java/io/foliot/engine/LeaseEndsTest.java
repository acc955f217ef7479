package io.foliot.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.Claim;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Leases that end while no attempt of their queue can begin. */
final class LeaseEndsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final long LEASE_MILLIS = 5_000;
  /** Time after which the end of a lease is recorded: an entry is examined within a second after it has come. */
  private static final Duration SOON = Duration.ofMillis(LEASE_MILLIS + 2_000);

  private static final int BATCH = 10;
  private static final int TASKS = 20 * BATCH;

  private final World world = new World();

  private static QueueConfig queue(Target target, int attempts) {
    return QueueConfig.of("q", target).toBuilder().retry(new Retry(attempts, SECOND, 1, SECOND, 0)).build();
  }

  private CompletableFuture<List<TaskRecord>> pull(long waitMillis) {
    return world.engine.pull(new Scheduler.Pull("q", 1, waitMillis, LEASE_MILLIS, "w"));
  }

  /** Lets a worker claim a task of the queue, and never poll again. */
  private TaskRecord lost(int attempts) {
    world.queue(queue(Target.pull(), attempts));
    TaskId id = world.submit("q", Duration.ZERO, "a").id();
    CompletableFuture<List<TaskRecord>> pulled = pull(1_000);
    world.advance(Duration.ofMillis(10));
    TaskRecord task = world.join(pulled).getFirst();
    assertThat(task.id()).isEqualTo(id);
    return task;
  }

  private void assertFailed(TaskId id) {
    assertThat(world.task(id).state()).isEqualTo(TaskState.FAILED);
    assertThat(world.leasesEnded).containsExactly("q");
    assertThat(world.deadLetters).containsExactly("task=" + id);
  }

  @Test
  void aLastAttemptEndsThoughItsQueueIsNotPolled() {
    try (world) {
      TaskRecord task = lost(1);
      world.advance(SOON);
      assertFailed(task.id());
      CompletableFuture<Boolean> empty = world.engine.deleteQueue("q");
      world.advance(Duration.ofSeconds(30));
      assertThat(empty.join()).as("no entry of the task is left").isTrue();
    }
  }

  @Test
  void aLastAttemptEndsThoughItsQueueIsPaused() {
    try (world) {
      TaskRecord task = lost(1);
      world.join(world.engine.setPaused("q", true));
      world.advance(SOON);
      assertFailed(task.id());
    }
  }

  @Test
  void aLastAttemptEndsAfterARestart() {
    try (world) {
      TaskRecord task = lost(1);
      CompletableFuture<Void> stopped = world.engine.stop(Duration.ZERO);
      world.advance(SECOND);
      assertThat(stopped).isDone();
      Engine next = world.anotherEngine();
      CompletableFuture<Void> started = next.start();
      world.advance(SOON);
      assertThat(started).isCompleted();
      TaskRecord found = world.store.find(new TaskRef.ById(task.id())).toCompletableFuture().join().orElseThrow();
      assertThat(found.state()).isEqualTo(TaskState.FAILED);
      CompletableFuture<Void> unused = next.stop(Duration.ZERO);
      world.advance(SECOND);
    }
  }

  @Test
  void aLastAttemptEndsThoughAllPermitsAreInUse() {
    try (world) {
      world.queue(queue(Target.pull(), 1).toBuilder().concurrency(1).build());
      TaskId id = world.submit("q", Duration.ZERO, "a").id();
      CompletableFuture<List<TaskRecord>> first = pull(1_000);
      world.advance(Duration.ofMillis(10));
      assertThat(world.join(first)).hasSize(1);
      world.submit("q", Duration.ofMillis(LEASE_MILLIS), "b");
      CompletableFuture<List<TaskRecord>> second = pull(30_000);
      world.advance(SOON);
      assertThat(second.join()).extracting(TaskRecord::attempt).containsExactly(1);
      assertThat(world.task(id).state()).isEqualTo(TaskState.FAILED);
    }
  }

  @Test
  void aSuccessorTakesOverThoughItsQueueIsNotPolled() {
    try (world) {
      world.queue(queue(Target.pull(), 1));
      TaskId id = world
          .submit(Submission.after("q", Duration.ZERO, Body.json("1")).toBuilder().key("k").build()).id();
      CompletableFuture<List<TaskRecord>> pulled = pull(1_000);
      world.advance(Duration.ofMillis(10));
      assertThat(world.join(pulled)).hasSize(1);
      world.join(world.engine.touch("q", List.of("k"), Duration.ofHours(1)));
      world.advance(SOON);
      assertThat(world.task(id).state()).isEqualTo(TaskState.DELAYED);
      assertThat(world.task(id).attempt()).isZero();
    }
  }

  @Test
  void aTaskWithAttemptsLeftWaitsForAReportOrAnAttempt() {
    try (world) {
      TaskRecord task = lost(2);
      world.advance(SOON);
      assertThat(world.join(world.engine.ack(task.id(), requireNonNull(task.token()), null)).kind())
          .isEqualTo(SettleResult.Kind.SETTLED);
      TaskRecord other = lost(2);
      world.advance(SOON.multipliedBy(3));
      CompletableFuture<List<TaskRecord>> pulled = pull(1_000);
      world.advance(Duration.ofMillis(10));
      assertThat(world.join(pulled)).extracting(TaskRecord::id, TaskRecord::attempt)
          .containsExactly(tuple(other.id(), 2));
    }
  }

  @Test
  void aLastAttemptEndsThoughItsDestinationFails() {
    try (world) {
      world.queue(queue(Target.local(), 1));
      world.receiver.behaviour = attempt -> CompletableFuture
          .completedFuture(new Answer.Retry(null, Answer.Health.UNREACHABLE, "away"));
      for (int i = 0; i < 50; i++) {
        world.submit("q", Duration.ZERO, "ill");
      }
      world.advance(SECOND);
      // Another process has claimed the task, and died.
      TaskId id = world.submit("q", Duration.ofMillis(1), "a").id();
      world.clock.advance(Duration.ofMillis(2));
      world.store.claim(List.of(new Claim(id, LEASE_MILLIS))).toCompletableFuture().join();
      world.advance(SOON.plusSeconds(2));
      assertThat(world.task(id).state()).isEqualTo(TaskState.FAILED);
    }
  }

  @Test
  void moreLeasesThanABatchEndWithoutAPause() {
    try (World many = new World(options -> options.claimBatch(BATCH), store -> store)) {
      many.queue(queue(Target.pull(), 1));
      for (int i = 0; i < TASKS; i++) {
        many.submit("q", Duration.ZERO, "a");
      }
      int taken = 0;
      while (taken < TASKS) {
        CompletableFuture<List<TaskRecord>> pulled = many.engine
            .pull(new Scheduler.Pull("q", TASKS, 1_000, LEASE_MILLIS, "w"));
        many.advance(Duration.ofMillis(10));
        taken += many.join(pulled).size();
      }
      many.advance(SOON);
      assertThat(many.leasesEnded).hasSize(TASKS);
    }
  }

  @Test
  void moreLeasesOfAnotherNodeThanABatchEndWithoutAPause() {
    try (World many = new World(options -> options.claimBatch(BATCH), store -> store)) {
      many.queue(queue(Target.local(), 1).toBuilder().concurrency(1).build());
      many.receiver.behaviour = attempt -> new CompletableFuture<>();
      many.submit("q", Duration.ZERO, "running");
      many.advance(SECOND);
      List<TaskId> ids = IntStream.range(0, TASKS).mapToObj(i -> many.submit("q", Duration.ZERO, "a").id()).toList();
      many.advance(Duration.ofSeconds(2));
      many.store.claim(ids.stream().map(id -> new Claim(id, LEASE_MILLIS)).toList()).toCompletableFuture().join();
      // Entries that have been examined are examined again every ten seconds.
      many.advance(SOON.plusSeconds(10));
      assertThat(ids).allSatisfy(id -> assertThat(many.task(id).state()).isEqualTo(TaskState.FAILED));
    }
  }

  @Test
  void manyEntriesWithAnAddressAreEachExaminedOnce() {
    EntryQueue entries = new EntryQueue();
    List<DueEntry> all = IntStream.range(0, 10)
        .mapToObj(i -> new DueEntry(i, new TaskId(i, i), "q")).toList();
    all.forEach(entries::add);
    List<DueEntry> examined = new ArrayList<>();
    entries.examine(examined, 4);
    assertThat(examined).isEqualTo(all.subList(0, 4));
    assertThat(entries.poll()).isEqualTo(all.getFirst());
    entries.remove(Set.of(all.get(2), all.get(5)), new ArrayList<>());
    entries.examine(examined, 3);
    assertThat(examined.subList(4, 7)).containsExactly(all.get(4), all.get(6), all.get(7));
    entries.examine(examined, 9);
    assertThat(examined.subList(7, 9)).isEqualTo(all.subList(8, 10));
    entries.examine(examined, 9);
    assertThat(examined).hasSize(9);
  }
}
