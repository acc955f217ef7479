package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskReason;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Claim;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests of the engine with a store in memory, a recording delivery, and a clock that the test sets. */
final class EngineTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static Answer failure(String detail) {
    return new Answer.Retry(null, Answer.Health.WELL, detail);
  }

  private static Token tokenOf(TaskRecord task) {
    return Objects.requireNonNull(task.token());
  }

  private static World withQueue(QueueConfig queue) {
    World world = new World();
    world.queue(queue);
    return world;
  }

  @Test
  void aTaskFiresInTheMillisecondItIsDue() {
    try (World world = withQueue(World.local("q"))) {
      SubmitResult submitted = world.submit("q", Duration.ofMillis(1_234), "a");
      world.advance(Duration.ofMillis(1_233));
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(1));
      assertThat(world.receiver.texts()).containsExactly("a");
      assertThat(world.receiver.seen.get(0).lateMillis()).isZero();
      assertThat(world.task(submitted.id()).state()).isEqualTo(TaskState.FINISHED);
    }
  }

  @Test
  void aTaskBeyondTheLookAheadFiresInTheMillisecondItIsDue() {
    try (World world = withQueue(World.local("q"))) {
      world.submit("q", Duration.ofHours(3), "a");
      world.advance(Duration.ofHours(3).minusMillis(1));
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(1));
      assertThat(world.receiver.seen).hasSize(1);
    }
  }

  @Test
  void aHeartbeatTaskFiresWhenTheTouchesStop() {
    try (World world = withQueue(World.local("q"))) {
      world
          .submit(Submission.builder("q").delay(Duration.ofSeconds(3)).body(Body.json("silent")).key("device").build());
      for (int i = 0; i < 50; i++) {
        world.advance(SECOND);
        List<TouchResult> touched = world.join(world.engine.touch("q", List.of("device"), Duration.ofSeconds(3)));
        assertThat(touched.get(0).kind()).isEqualTo(TouchResult.Kind.RESET);
      }
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(2_999));
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(1));
      assertThat(world.receiver.texts()).containsExactly("silent");
    }
  }

  @Test
  void aFailedAttemptIsRepeatedWithBackoffUntilTheDeadLetter() {
    Retry retry = new Retry(3, SECOND, 2, Duration.ofMinutes(1), 0);
    try (World world = withQueue(World.local("q").toBuilder().retry(retry).build())) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(failure("no"));
      TaskId id = world.submit("q", Duration.ZERO, "a").id();
      world.advance(Duration.ofSeconds(60));
      assertThat(world.receiver.seen).extracting(seen -> seen.attempt().task().attempt()).containsExactly(1, 2, 3);
      long first = world.receiver.seen.get(0).atMillis();
      assertThat(world.receiver.seen).extracting(World.Seen::atMillis).containsExactly(first, first + 1_000,
          first + 3_000);
      assertThat(world.receiver.seen).extracting(seen -> seen.attempt().firingId()).hasSize(3)
          .allMatch(world.receiver.seen.get(0).attempt().firingId()::equals);
      TaskRecord failed = world.task(id);
      assertThat(failed.state()).isEqualTo(TaskState.FAILED);
      assertThat(failed.reason()).isEqualTo("no");
      assertThat(failed.attempts()).hasSize(3);
    }
  }

  @Test
  void aDeliveryThatThrowsFailsTheAttempt() {
    try (World world = withQueue(World.local("q"))) {
      world.receiver.behaviour = attempt -> {
        throw new IllegalStateException("broken");
      };
      world.submit("q", Duration.ZERO, "a");
      world.advance(Duration.ofMillis(10));
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.texts()).containsExactly("a");
      assertThat(world.receiver.seen.get(0).attempt().task().attempt()).isEqualTo(2);
    }
  }

  @Test
  void aRetryWaitsAtLeastAsLongAsRequested() {
    try (World world = withQueue(World.local("q"))) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(attempt.task().attempt() == 1
          ? new Answer.Retry(Duration.ofSeconds(7), Answer.Health.WELL, "busy")
          : new Answer.Done(""));
      world.submit("q", Duration.ZERO, "a");
      world.advance(Duration.ofMillis(6_999));
      assertThat(world.receiver.seen).hasSize(1);
      world.advance(Duration.ofMillis(1_402));
      assertThat(world.receiver.seen).hasSize(2);
    }
  }

  /** Checks that requests for immediate retries do not use up the attempts within milliseconds. */
  @Test
  void aReceiverCannotShortenTheBackoff() {
    Retry retry = new Retry(4, SECOND, 2, Duration.ofMinutes(1), 0.2);
    try (World world = withQueue(World.local("q").toBuilder().retry(retry).build())) {
      world.receiver.behaviour = attempt -> CompletableFuture
          .completedFuture(new Answer.Retry(Duration.ZERO, Answer.Health.WELL, "at once"));
      world.submit("q", Duration.ZERO, "a");
      world.advance(Duration.ofSeconds(30));
      List<Long> at = world.receiver.seen.stream().map(World.Seen::atMillis).toList();
      assertThat(at).hasSize(4);
      assertThat(at.get(1) - at.get(0)).isBetween(800L, 1_200L);
      assertThat(at.get(2) - at.get(1)).isBetween(1_600L, 2_400L);
      assertThat(at.get(3) - at.get(2)).isBetween(3_200L, 4_800L);
    }
  }

  @Test
  void retriesAfterEqualRequestedWaitsAreSpreadOut() {
    Retry retry = new Retry(5, SECOND, 2, Duration.ofMinutes(1), 0.2);
    try (World world = withQueue(World.local("q").toBuilder().retry(retry).build())) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(attempt.task().attempt() == 1
          ? new Answer.Retry(Duration.ofSeconds(30), Answer.Health.WELL, "busy")
          : new Answer.Done(""));
      Map<String, Long> firstAt = new HashMap<>();
      for (int i = 0; i < 500; i++) {
        world.submit("q", Duration.ZERO, "t" + i);
      }
      world.advance(Duration.ofSeconds(40));
      Map<Long, Integer> retriesByTime = new HashMap<>();
      for (World.Seen seen : world.receiver.seen) {
        if (seen.attempt().task().attempt() == 1) {
          firstAt.put(seen.text(), seen.atMillis());
        } else {
          long waited = seen.atMillis() - Objects.requireNonNull(firstAt.get(seen.text()));
          assertThat(waited).isBetween(30_000L, 36_100L);
          retriesByTime.merge(seen.atMillis(), 1, Integer::sum);
        }
      }
      assertThat(retriesByTime.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(500);
      assertThat(retriesByTime.values()).allMatch(together -> together < 20);
    }
  }

  @Test
  void aTaskIsNotDeliveredAgainWithinATenthOfASecond() {
    for (Duration next : List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofMillis(99), Duration.ofMillis(100))) {
      try (World world = withQueue(World.local("q"))) {
        world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Again(next, ""));
        world.submit("q", Duration.ZERO, "a");
        world.advance(Duration.ofMillis(1_050));
        List<Long> at = world.receiver.seen.stream().map(World.Seen::atMillis).toList();
        assertThat(at).as("%s", next).hasSizeBetween(9, 11);
        for (int i = 1; i < at.size(); i++) {
          assertThat(at.get(i) - at.get(i - 1)).isGreaterThanOrEqualTo(100);
        }
      }
    }
  }

  @Test
  void aTaskRearmedByAnAckIsDueATenthOfASecondLater() {
    try (World world = withQueue(QueueConfig.of("pull", Target.pull()))) {
      TaskId id = world.submit("pull", Duration.ZERO, "a").id();
      CompletableFuture<List<TaskRecord>> pulled = world.engine.pull(new Scheduler.Pull("pull", 1, 20_000, 5_000, "w"));
      world.advance(Duration.ofMillis(10));
      TaskRecord task = world.join(pulled).get(0);
      world.join(world.engine.ack(id, Objects.requireNonNull(task.token()), Duration.ZERO));
      assertThat(world.task(id).dueAt()).isEqualTo(world.clock.wallMillis() + 100);
    }
  }

  @Test
  void aTaskThatIsGivenBackHasUsedUpNoAttempt() {
    QueueConfig queue = QueueConfig.of("pull", Target.pull()).toBuilder().retry(new Retry(1, SECOND, 1, SECOND, 0))
        .build();
    try (World world = withQueue(queue)) {
      TaskId id = world.submit("pull", Duration.ZERO, "a").id();
      Scheduler.Pull pull = new Scheduler.Pull("pull", 1, 20_000, 5_000, "w");
      CompletableFuture<List<TaskRecord>> unread = world.engine.pull(pull);
      world.advance(Duration.ofMillis(10));
      TaskRecord task = world.join(unread).getFirst();
      CompletableFuture<List<TaskRecord>> next = world.engine.pull(pull);
      assertThat(world.join(world.engine.giveBack(id, tokenOf(task), "unread")).kind())
          .isEqualTo(SettleResult.Kind.SETTLED);
      world.advance(Duration.ofMillis(10));
      TaskRecord again = world.join(next).getFirst();
      assertThat(again.attempt()).isEqualTo(1);
      assertThat(again.attempts()).extracting(AttemptRecord::end, AttemptRecord::message)
          .containsExactly(tuple(AttemptRecord.End.NOT_BEGUN, "unread"));
      assertThat(world.join(world.engine.giveBack(id, tokenOf(task), "unread")).kind())
          .isEqualTo(SettleResult.Kind.STALE);
      world.join(world.engine.ack(id, tokenOf(again), null));
      assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
    }
  }

  @Test
  void explainNamesWorkersBeyondTheShareOfTheirOwner() {
    try (World world = withQueue(QueueConfig.of("pull", Target.pull()))) {
      TaskId plain = world.submit("pull", Duration.ofMillis(100), "a").id();
      TaskId addressed = TaskId.addressed(world.clock.wallMillis(), 7, new Address(Address.Kind.ZONE, 5), 0, 1);
      world.join(world.store.submit(List.of(new Draft(addressed, "pull", null, Due.after(100), Body.EMPTY, 0,
          OnConflict.REJECT, null))).toCompletableFuture());
      int refused = 0;
      for (int i = 0; i < 2_100; i++) {
        CompletableFuture<List<TaskRecord>> poll = world.engine.pull(
            new Scheduler.Pull("pull", 1, 10_000, 5_000, new WorkerId("key:1", "w" + i), ""));
        refused += poll.isCompletedExceptionally() ? 1 : 0;
      }
      assertThat(refused).isEqualTo(2_100 - 2_048);
      world.advance(SECOND.multipliedBy(2));
      assertThat(world.join(world.engine.explain(addressed)).orElseThrow().reasons())
          .contains(TaskReason.ADDRESSED, TaskReason.NO_SEAT, TaskReason.TOO_MANY_WORKERS);
      assertThat(world.engine.heldBack("pull")).containsExactly(TaskReason.NO_SEAT, TaskReason.TOO_MANY_WORKERS);
      assertThat(world.engine.heldBack("other")).isEmpty();
      assertThat(world.task(plain).state()).isEqualTo(TaskState.RUNNING);
      world.advance(Duration.ofMinutes(2));
      assertThat(world.engine.heldBack("pull")).as("after the workers have gone").isEmpty();
    }
  }

  /** A worker that never begins a task, or says so, must not keep the task for ever. */
  @Test
  void aTaskThatWorkersAlwaysGiveBackBecomesADeadLetter() {
    QueueConfig queue = QueueConfig.of("pull", Target.pull()).toBuilder().retry(new Retry(2, SECOND, 1, SECOND, 0))
        .build();
    try (World world = withQueue(queue)) {
      TaskId id = world.submit("pull", Duration.ZERO, "a").id();
      List<Integer> attempts = new ArrayList<>();
      while (!world.task(id).state().isFinal()) {
        CompletableFuture<List<TaskRecord>> pulled = world.engine.pull(
            new Scheduler.Pull("pull", 1, 20_000, 5_000, "w"));
        world.advance(SECOND.plusMillis(100));
        TaskRecord task = world.join(pulled).getFirst();
        attempts.add(task.attempt());
        assertThat(world.join(world.engine.notBegun(id, tokenOf(task), "stopped", TaskNote.NONE)).kind())
            .isEqualTo(SettleResult.Kind.SETTLED);
        assertThat(world.join(world.engine.notBegun(id, tokenOf(task), "stopped", TaskNote.NONE)).kind())
            .isEqualTo(SettleResult.Kind.REPEATED);
      }
      assertThat(attempts).containsExactly(1, 1, 1, 1, 1, 2, 2, 2, 2, 2);
      assertThat(world.task(id).state()).isEqualTo(TaskState.FAILED);
      assertThat(world.task(id).reason()).isEqualTo("stopped");
    }
  }

  /** Checks that a full delivery gets no further attempts, and that a hanging destination leaves room for others. */
  @Test
  void aDeliveryThatIsFullUsesUpNoAttempts() {
    try (World world = new World(UnaryOperator.identity(), UnaryOperator.identity(), 3)) {
      world.queue(elsewhere("slow", "a"));
      world.queue(elsewhere("healthy", "b"));
      world.receiver.behaviour = attempt -> attempt.task().queue().equals("slow")
          ? new CompletableFuture<>()
          : CompletableFuture.completedFuture(new Answer.Done(""));
      List<TaskId> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(world.submit("slow", Duration.ZERO, "s" + i).id());
      }
      world.advance(Duration.ofMillis(100));
      assertThat(world.receiver.running).isPositive();
      List<TaskId> healthy = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        healthy.add(world.submit("healthy", Duration.ZERO, "h" + i).id());
      }
      world.advance(Duration.ofSeconds(5));
      assertThat(healthy).allSatisfy(id -> assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED));
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      for (World.Seen seen : List.copyOf(world.receiver.seen)) {
        seen.answer().complete(new Answer.Done(""));
      }
      world.advance(Duration.ofSeconds(2));
      assertThat(all).allSatisfy(id -> assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED));
      assertThat(world.receiver.seen).allSatisfy(seen -> assertThat(seen.attempt().task().attempt()).isEqualTo(1));
      assertThat(world.receiver.mostRunning).isLessThanOrEqualTo(3);
    }
  }

  private static QueueConfig elsewhere(String name, String destination) {
    return QueueConfig.of(name, new Target(Target.LOCAL, Map.of("destination", destination), Duration.ofSeconds(10)));
  }

  @Test
  void aQueueOfConcurrencyOneRunsOneAttemptAtATime() {
    try (World world = withQueue(World.local("q").toBuilder().concurrency(1).build())) {
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      for (int i = 0; i < 5; i++) {
        world.submit("q", Duration.ZERO, "t" + i);
      }
      for (int i = 0; i < 5; i++) {
        world.advance(Duration.ofMillis(500));
        assertThat(world.receiver.seen).hasSize(i + 1);
        world.receiver.seen.get(i).answer().complete(new Answer.Done(""));
        world.settle();
      }
      assertThat(world.receiver.mostRunning).isEqualTo(1);
    }
  }

  @Test
  void aQueueKeepsItsRate() {
    try (World world = withQueue(World.local("q").toBuilder().rate(10.0).build())) {
      for (int i = 0; i < 50; i++) {
        world.submit("q", Duration.ZERO, "t" + i);
      }
      world.advance(Duration.ofSeconds(2));
      assertThat(world.receiver.seen.size()).isBetween(19, 22);
      world.advance(Duration.ofSeconds(4));
      assertThat(world.receiver.seen).hasSize(50);
    }
  }

  @Test
  void aPausedQueueBeginsNothingAndLosesNothing() {
    try (World world = withQueue(World.local("q"))) {
      world.queue(World.local("other"));
      world.join(world.engine.setPaused("q", true));
      for (int i = 0; i < 100; i++) {
        world.submit("q", Duration.ofMillis(i), "t" + i);
      }
      world.submit("other", Duration.ofMillis(50), "other");
      world.advance(Duration.ofSeconds(30));
      assertThat(world.receiver.texts()).containsExactly("other");
      assertThat(world.engine.queues().join().stream().filter(status -> status.queue().name().equals("q")).findAny()
          .orElseThrow().counts().parked()).isEqualTo(100);
      world.join(world.engine.setPaused("q", false));
      world.advance(SECOND);
      assertThat(new HashSet<>(world.receiver.texts())).hasSize(101);
      assertThat(world.receiver.seen).hasSize(101);
    }
  }

  @Test
  void eachTaskOfABacklogLargerThanTheLaneRunsOnce() {
    try (World world = new World(options -> options.wheelEntries(500).laneEntries(20).readyEntries(40).claimBatch(7),
        UnaryOperator.identity())) {
      world.queue(World.local("big").toBuilder().concurrency(3).build());
      world.queue(World.local("small"));
      for (int i = 0; i < 2_000; i++) {
        world.submit("big", Duration.ofMillis(500), "t" + i);
      }
      world.submit("small", Duration.ofMillis(600), "small");
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      world.advance(Duration.ofMillis(700));
      assertThat(world.receiver.texts()).contains("small");
      world.receiver.seen.forEach(seen -> seen.answer().complete(new Answer.Done("")));
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      world.advance(Duration.ofSeconds(60));
      assertThat(world.receiver.seen).hasSize(2_001);
      assertThat(new HashSet<>(world.receiver.texts())).hasSize(2_001);
    }
  }

  @Test
  void aHigherPriorityTakesTheLargerShareAndNoQueueStarves() {
    try (World world = new World(options -> options.claimBatch(30), UnaryOperator.identity())) {
      world.queue(World.local("high").toBuilder().priority(2).build());
      world.queue(World.local("low"));
      for (int i = 0; i < 2_000; i++) {
        world.submit("low", Duration.ofMillis(10), "low");
        world.submit("high", Duration.ofMillis(10), "high");
      }
      world.advance(Duration.ofMillis(10));
      List<String> half = world.receiver.texts().subList(0, 1_000);
      long low = half.stream().filter("low"::equals).count();
      assertThat(low).isBetween(100L, 350L);
      world.advance(SECOND);
      assertThat(world.receiver.seen).hasSize(4_000);
    }
  }

  @Test
  void aSubmitUnderALiveKeyResetsKeepsOrIsRejected() {
    try (World world = withQueue(World.local("q"))) {
      Submission first = Submission.builder("q").delay(SECOND).body(Body.json("first")).key("k").build();
      SubmitResult created = world.submit(first);
      assertThat(created.kind()).isEqualTo(SubmitResult.Kind.CREATED);
      assertThat(world.submit(first.toBuilder().onConflict(OnConflict.KEEP).build()).kind())
          .isEqualTo(SubmitResult.Kind.KEPT);
      assertThat(world.submit(first.toBuilder().onConflict(OnConflict.REJECT).build()).kind())
          .isEqualTo(SubmitResult.Kind.REJECTED);
      SubmitResult reset = world
          .submit(Submission.builder("q").delay(Duration.ofSeconds(2)).body(Body.json("second")).key("k").build());
      assertThat(reset.kind()).isEqualTo(SubmitResult.Kind.RESET);
      assertThat(reset.id()).isEqualTo(created.id());
      assertThat(reset.generation()).isGreaterThan(created.generation());
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.texts()).containsExactly("second");
    }
  }

  @Test
  void aResetWhileRunningTakesOverWhenTheAttemptEnds() {
    try (World world = withQueue(World.local("q"))) {
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      world.submit(Submission.builder("q").delay(Duration.ZERO).body(Body.json("first")).key("k").build());
      world.advance(Duration.ofMillis(5));
      SubmitResult reset = world
          .submit(Submission.builder("q").delay(SECOND).body(Body.json("second")).key("k").build());
      assertThat(reset.kind()).isEqualTo(SubmitResult.Kind.RESET_PENDING);
      world.advance(Duration.ofSeconds(3));
      assertThat(world.receiver.texts()).as("the successor does not run beside the running attempt")
          .containsExactly("first");
      world.receiver.seen.get(0).answer().complete(failure("too late"));
      world.advance(Duration.ofMillis(100));
      assertThat(world.receiver.texts()).containsExactly("first", "second");
      assertThat(world.receiver.seen.get(1).attempt().task().generation()).isEqualTo(reset.generation());
      assertThat(world.receiver.seen.get(1).attempt().task().attempt()).isEqualTo(1);
    }
  }

  @Test
  void cancelReportsTheStateOfTheTask() {
    try (World world = withQueue(World.local("q"))) {
      TaskId waiting = world.submit("q", SECOND, "waiting").id();
      assertThat(world.join(world.engine.cancel(new TaskRef.ById(waiting))).kind())
          .isEqualTo(Cancellation.CANCELLED);
      assertThat(world.join(world.engine.cancel(new TaskRef.ById(waiting))).kind())
          .isEqualTo(Cancellation.ALREADY_FINISHED);
      assertThat(world.join(world.engine.cancel(new TaskRef.ByKey("q", "unknown"))).kind())
          .isEqualTo(Cancellation.NOT_FOUND);
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      TaskId running = world.submit("q", Duration.ZERO, "running").id();
      world.advance(Duration.ofMillis(5));
      assertThat(world.join(world.engine.cancel(new TaskRef.ById(running))).kind())
          .isEqualTo(Cancellation.CANCEL_PENDING);
      world.receiver.seen.get(0).answer().complete(failure("no"));
      world.advance(Duration.ofSeconds(10));
      assertThat(world.task(running).state()).isEqualTo(TaskState.CANCELLED);
      assertThat(world.receiver.texts()).containsExactly("running");
    }
  }

  @Test
  void anAttemptThatIsNotAnsweredInTimeIsRepeated() {
    try (World world = new World(options -> options.leaseMarginMillis(1_000), UnaryOperator.identity())) {
      world.queue(World.local("q"));
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      world.submit("q", Duration.ZERO, "a");
      world.advance(Duration.ofMillis(10_999));
      assertThat(world.receiver.seen).hasSize(1);
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      world.advance(SECOND);
      assertThat(world.receiver.seen).hasSize(2);
      assertThat(world.receiver.seen.get(1).attempt().task().attempt()).isEqualTo(2);
      world.receiver.seen.get(0).answer().complete(new Answer.Fail("late"));
      world.advance(SECOND);
      assertThat(world.task(world.receiver.seen.get(0).attempt().task().id()).state()).isEqualTo(TaskState.FINISHED);
    }
  }

  @Test
  void anAcceptedAttemptRunsUntilItsAck() {
    try (World world = withQueue(World.local("q").toBuilder().concurrency(1).build())) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Accepted(""));
      TaskId id = world.submit("q", Duration.ZERO, "a").id();
      world.submit("q", Duration.ofMillis(1), "b");
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.texts()).containsExactly("a");
      Token token = tokenOf(world.task(id));
      assertThat(world.join(world.engine.ack(id, new Token(1, 1), null)).kind()).isEqualTo(SettleResult.Kind.STALE);
      assertThat(world.join(world.engine.ack(id, token, null)).kind()).isEqualTo(SettleResult.Kind.SETTLED);
      assertThat(world.join(world.engine.ack(id, token, null)).kind()).isEqualTo(SettleResult.Kind.REPEATED);
      world.advance(Duration.ofMillis(200));
      assertThat(world.receiver.texts()).as("the permit is free again").containsExactly("a", "b");
    }
  }

  @Test
  void anAlarmIsRepeatedUntilItIsCancelled() {
    try (World world = withQueue(World.local("q"))) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Again(SECOND, ""));
      TaskId id = world.submit("q", Duration.ZERO, "alarm").id();
      world.advance(Duration.ofMillis(4_500));
      assertThat(world.receiver.seen).hasSize(5);
      Set<String> firings = new HashSet<>();
      world.receiver.seen.forEach(seen -> firings.add(seen.attempt().firingId()));
      assertThat(firings).hasSize(5);
      world.join(world.engine.cancel(new TaskRef.ById(id)));
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.seen).hasSize(5);
    }
  }

  @Test
  void runNowFiresATaskBeforeItsDueTime() {
    try (World world = withQueue(World.local("q"))) {
      TaskId id = world.submit("q", Duration.ofHours(1), "a").id();
      assertThat(world.join(world.engine.runNow(id)).kind()).isEqualTo(TouchResult.Kind.RESET);
      world.advance(Duration.ofMillis(1));
      assertThat(world.receiver.texts()).containsExactly("a");
    }
  }

  @Test
  void anExtensionStatesHowLongTheLeaseHolds() {
    QueueConfig queue = QueueConfig.of("pull", Target.pull()).toBuilder().maxRun(Duration.ofSeconds(45)).build();
    try (World world = withQueue(queue)) {
      world.submit("pull", Duration.ZERO, "t");
      TaskRecord task = world.join(world.engine.pull(new Scheduler.Pull("pull", 1, 20_000, 30_000, "w"))).getFirst();
      world.advance(Duration.ofSeconds(10));
      Scheduler.Extended full = world.join(world.engine.extend(task.id(), tokenOf(task), Duration.ofSeconds(30)));
      assertThat(full.leaseMillis()).isEqualTo(30_000);
      world.advance(Duration.ofSeconds(10));
      Scheduler.Extended limited = world.join(world.engine.extend(task.id(), tokenOf(task), Duration.ofSeconds(30)));
      assertThat(limited.leaseEnd()).isEqualTo(task.claimedAt() + 45_000);
      assertThat(limited.leaseMillis()).as("counted from the call").isBetween(24_900L, 25_100L);
      Scheduler.Extended refused = world.join(world.engine.extend(task.id(), new Token(1, 2), Duration.ofSeconds(30)));
      assertThat(refused).isEqualTo(new Scheduler.Extended(ExtendResult.Kind.STALE, 0, 0));
    }
  }

  @Test
  void aPullWaitsForTheFirstTask() {
    try (World world = withQueue(QueueConfig.of("pull", Target.pull()))) {
      CompletableFuture<List<TaskRecord>> waiting = world.engine
          .pull(new Scheduler.Pull("pull", 10, 20_000, 5_000, "w"));
      world.advance(SECOND);
      assertThat(waiting).isNotDone();
      for (int i = 0; i < 3; i++) {
        world.submit("pull", Duration.ofSeconds(1), "t" + i);
      }
      world.advance(Duration.ofMillis(1_100));
      List<TaskRecord> tasks = new ArrayList<>(world.join(waiting));
      while (tasks.size() < 3) {
        tasks.addAll(world.join(world.engine.pull(new Scheduler.Pull("pull", 10, 20_000, 5_000, "w"))));
      }
      assertThat(tasks).hasSize(3);
      TaskRecord first = tasks.get(0);
      Token token = tokenOf(first);
      assertThat(world.join(world.engine.extend(first.id(), token, Duration.ofSeconds(30))).kind())
          .isEqualTo(ExtendResult.Kind.EXTENDED);
      for (TaskRecord other : tasks.subList(1, 3)) {
        assertThat(world.join(world.engine.ack(other.id(), tokenOf(other), null)).kind())
            .isEqualTo(SettleResult.Kind.SETTLED);
      }
      CompletableFuture<List<TaskRecord>> early = world.engine
          .pull(new Scheduler.Pull("pull", 10, 20_000, 5_000, "w"));
      world.advance(Duration.ofSeconds(20));
      assertThat(world.join(early)).as("the lease was extended").isEmpty();
      CompletableFuture<List<TaskRecord>> late = world.engine.pull(new Scheduler.Pull("pull", 10, 20_000, 5_000, "w"));
      world.advance(Duration.ofSeconds(20));
      assertThat(world.join(late)).extracting(TaskRecord::id).containsExactly(first.id());
    }
  }

  @Test
  void tasksOfAPullQueueWaitForAWorker() {
    try (World world = new World(options -> options.wheelEntries(1_000).laneEntries(50).readyEntries(100),
        UnaryOperator.identity())) {
      world.queue(QueueConfig.of("pull", Target.pull()));
      for (int i = 0; i < 500; i++) {
        world.submit("pull", Duration.ZERO, "t" + i);
      }
      world.advance(Duration.ofSeconds(5));
      Set<TaskId> got = new HashSet<>();
      for (int i = 0; i < 40 && got.size() < 500; i++) {
        CompletableFuture<List<TaskRecord>> tasks = world.engine
            .pull(new Scheduler.Pull("pull", 100, 1_000, 60_000, "w"));
        world.advance(Duration.ofMillis(200));
        world.join(tasks).forEach(task -> assertThat(got.add(task.id())).isTrue());
      }
      assertThat(got).hasSize(500);
    }
  }

  @Test
  void theHeadPollFindsTasksCommittedBehindTheCursors() {
    try (World world = withQueue(World.local("q"))) {
      world.advance(Duration.ofSeconds(10));
      long now = world.clock.wallMillis();
      for (long age : new long[]{1_500, 30_000, 86_400_000}) {
        world.store.submit(List.of(new Draft(TaskId.of(now, 3, age), "q", null, Due.at(now - age), Body.json("late"), 0,
            OnConflict.RESET, null)));
      }
      world.advance(Duration.ofMillis(200));
      assertThat(world.receiver.seen).as("polls each 100 ms find entries up to 2 s late").isNotEmpty();
      world.advance(Duration.ofSeconds(2));
      assertThat(world.receiver.seen).as("polls each 2 s find entries up to 60 s late").hasSizeGreaterThanOrEqualTo(2);
      world.advance(Duration.ofSeconds(9));
      assertThat(world.receiver.seen).as("polls each 10 s find all late entries").hasSize(3);
      assertThat(world.foundLate).as("each is reported as found late").containsExactly("q", "q", "q");
    }
  }

  @Test
  void aTaskClaimedByADeadNodeRunsAgainWhenItsLeaseEnds() {
    try (World world = withQueue(World.local("q"))) {
      TaskId id = TaskId.of(world.clock.wallMillis(), 5, 5);
      world.store.submit(
          List.of(new Draft(id, "q", null, Due.at(world.clock.wallMillis()), Body.json("a"), 0, OnConflict.RESET,
              null)));
      world.store.claim(List.of(new Claim(id, 45_000)));
      world.advance(Duration.ofMillis(44_999));
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(101));
      assertThat(world.receiver.seen).hasSize(1);
      assertThat(world.receiver.seen.get(0).attempt().task().attempt()).isEqualTo(2);
    }
  }

  @Test
  void aStepOfTheWallClockMakesNoTaskEarlyOrLate() {
    for (Duration step : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
      try (World world = withQueue(World.local("q"))) {
        world.advance(Duration.ofSeconds(5));
        world.clock.stepWall(step);
        world.advance(Duration.ofMillis(200));
        world.submit("q", Duration.ofSeconds(2), "a");
        world.advance(Duration.ofMillis(1_999));
        assertThat(world.receiver.seen).as("step %s", step).isEmpty();
        world.advance(Duration.ofMillis(2));
        assertThat(world.receiver.seen).as("step %s", step).hasSize(1);
      }
    }
  }

  @Test
  void aFailingDestinationIsTriedAndRecovers() {
    try (World world = withQueue(World.local("q").toBuilder().retry(new Retry(1_000, SECOND, 1, SECOND, 0)).build())) {
      world.receiver.behaviour = attempt -> CompletableFuture
          .completedFuture(new Answer.Retry(null, Answer.Health.UNREACHABLE, "refused"));
      for (int i = 0; i < 200; i++) {
        world.submit("q", Duration.ZERO, "t" + i);
      }
      world.advance(Duration.ofSeconds(20));
      int before = world.receiver.seen.size();
      world.advance(Duration.ofSeconds(20));
      assertThat(world.receiver.seen.size() - before).as("trial attempts only").isBetween(2, 20);
      assertThat(world.engine.status().destinations().get(0).limit()).isEqualTo(1);
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      world.advance(Duration.ofSeconds(20));
      assertThat(world.engine.queues().join().get(0).counts().finished()).isEqualTo(200);
    }
  }

  @Test
  void failedTasksAreRedriven() {
    try (World world = withQueue(World.local("q"))) {
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Fail("never"));
      TaskId id = world.submit("q", Duration.ZERO, "a").id();
      world.advance(SECOND);
      long generation = world.task(id).generation();
      assertThat(world.task(id).state()).isEqualTo(TaskState.FAILED);
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
      world.join(world.engine.redrive("q", List.of(id)));
      world.advance(Duration.ofMillis(5));
      assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
      assertThat(world.task(id).generation()).isGreaterThan(generation);
    }
  }

  @Test
  void aTaskOfAnotherQueueIsNotRedriven() {
    try (World world = withQueue(World.local("theirs"))) {
      world.queue(World.local("mine"));
      world.receiver.behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Fail("never"));
      TaskId id = world.submit("theirs", Duration.ZERO, "secret").id();
      world.advance(SECOND);
      String before = world.task(id).toString();
      world.receiver.seen.clear();
      List<RedriveResult> results = world.join(world.engine.redrive("mine", List.of(id)));
      world.advance(SECOND);
      assertThat(results).containsExactly(new RedriveResult(RedriveResult.Kind.NOT_FOUND, id, 0, 0));
      assertThat(world.receiver.seen).isEmpty();
      assertThat(world.task(id)).hasToString(before);
    }
  }

  /** Returns a store whose index entries name the queue "mine" for every task. */
  private static TaskStore misleading(TaskStore store) {
    return new ForwardingStore(store) {
      @Override
      public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
        return delegate.due(scans).thenApply(slices -> slices.stream().map(slice -> new DueSlice(slice.slot(),
            slice.entries().stream().map(entry -> new DueEntry(entry.wakeAt(), entry.id(), "mine")).toList(),
            slice.more())).toList());
      }
    };
  }

  @Test
  void aWrongIndexEntryDeliversNoTaskOfAnotherQueue() {
    List<String> targets = new ArrayList<>();
    try (World world = new World(options -> options, EngineTest::misleading)) {
      world.queue(QueueConfig.of("mine", new Target(Target.LOCAL, Map.of("destination", "mine"), SECOND)));
      world.queue(QueueConfig.of("theirs", new Target(Target.LOCAL, Map.of("destination", "theirs"), SECOND)));
      world.receiver.behaviour = attempt -> {
        targets.add(attempt.target().settings().get("destination"));
        return CompletableFuture.completedFuture(new Answer.Done(""));
      };
      // The task is due beyond the look-ahead, so the engine finds it only through the index.
      TaskId id = world.submit("theirs", Duration.ofMinutes(5), "secret").id();
      world.advance(Duration.ofMinutes(5));
      world.advance(Duration.ofMillis(500));
      assertThat(world.foreign).containsExactly("mine");
      world.advance(Duration.ofSeconds(10));
      assertThat(targets).containsExactly("theirs");
      assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
    }
  }

  @Test
  void aWrongIndexEntryGivesAWorkerNoTaskOfAnotherQueue() {
    try (World world = new World(options -> options, EngineTest::misleading)) {
      world.queue(QueueConfig.of("mine", Target.pull()));
      world.queue(World.local("theirs"));
      TaskId id = world.submit("theirs", Duration.ofMinutes(5), "secret").id();
      world.advance(Duration.ofMinutes(5).minusSeconds(1));
      CompletableFuture<List<TaskRecord>> pulled = world.engine
          .pull(new Scheduler.Pull("mine", 1, 30_000, 10_000, "w"));
      world.advance(Duration.ofSeconds(40));
      assertThat(pulled.join()).isEmpty();
      assertThat(world.foreign).isNotEmpty().containsOnly("mine");
      assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
      assertThat(world.receiver.texts()).containsExactly("secret");
    }
  }

  @Test
  void tasksOfAMissingQueueRunOnceTheQueueIsPutAgain() {
    try (World world = withQueue(World.local("q"))) {
      TaskId id = world.submit("q", SECOND, "a").id();
      long version = world.store.document(DocumentKind.QUEUE, "q").toCompletableFuture().join().orElseThrow().version();
      // A restored or migrated store can lack the document of a queue.
      world.join(world.store.writeDocument(DocumentKind.QUEUE, "q", version, null).toCompletableFuture());
      Engine other = world.anotherEngine();
      world.join(other.start());
      assertThat(world.join(other.explain(id)).orElseThrow().reasons())
          .contains(TaskReason.QUEUE_MISSING);
      CompletableFuture<Void> firstStopped = world.engine.stop(Duration.ZERO);
      world.advance(Duration.ofSeconds(10));
      assertThat(firstStopped).isDone();
      assertThat(world.receiver.seen).isEmpty();
      assertThat(other.status().missingQueues()).containsExactly("q");
      world.join(other.putQueue(World.local("q")));
      world.advance(Duration.ofSeconds(2));
      assertThat(world.receiver.texts()).containsExactly("a");
      assertThat(other.status().missingQueues()).isEmpty();
      CompletableFuture<Void> stopped = other.stop(Duration.ZERO);
      world.settle();
      assertThat(stopped).isDone();
    }
  }

  @Test
  void aQueueWithLiveTasksIsNotDeleted() {
    try (World world = withQueue(World.local("q"))) {
      TaskId id = world.submit("q", SECOND, "a").id();
      CompletableFuture<Boolean> refused = world.engine.deleteQueue("q");
      world.settle();
      assertThatThrownBy(refused::join).hasRootCauseInstanceOf(Scheduler.QueueInUseException.class);
      world.join(world.engine.cancel(new TaskRef.ById(id)));
      assertThat(world.join(world.engine.deleteQueue("q"))).isTrue();
      CompletableFuture<SubmitResult> gone = world.engine
          .submit(Submission.after("q", SECOND, Body.EMPTY));
      assertThatThrownBy(gone::join).hasRootCauseInstanceOf(Scheduler.UnknownQueueException.class);
    }
  }

  @Test
  void anExplanationNamesTheReason() {
    try (World world = withQueue(World.local("q"))) {
      TaskId later = world.submit("q", Duration.ofMinutes(1), "a").id();
      assertThat(explained(world, later)).containsExactly(TaskReason.NOT_DUE);
      world.join(world.engine.setPaused("q", true));
      TaskId paused = world.submit("q", Duration.ZERO, "b").id();
      world.advance(SECOND);
      assertThat(explained(world, paused)).contains(TaskReason.QUEUE_PAUSED);
    }
  }

  private static List<TaskReason> explained(World world, TaskId id) {
    return world.join(world.engine.explain(id)).orElseThrow().reasons();
  }

  @Test
  void loopsShareTheTasksAndTheLimitsOfAQueue() {
    try (World world = new World(options -> options.loops(4), UnaryOperator.identity())) {
      world.queue(World.local("q").toBuilder().concurrency(2).build());
      world.receiver.behaviour = attempt -> new CompletableFuture<>();
      for (int i = 0; i < 100; i++) {
        world.submit("q", Duration.ofMillis(5), "t" + i);
      }
      for (int i = 0; i < 100; i++) {
        world.advance(Duration.ofMillis(110));
        assertThat(world.receiver.seen.size()).isGreaterThan(i);
        world.receiver.seen.get(i).answer().complete(new Answer.Done(""));
        world.settle();
      }
      assertThat(world.receiver.mostRunning).isEqualTo(2);
      assertThat(new HashSet<>(world.receiver.texts())).hasSize(100);
    }
  }
}
