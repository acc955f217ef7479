package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests changes of a job that is planned so often that hardly any time is left for a change between two passes. */
final class BusyJobTest {
  private static final Duration PERIOD = Duration.ofMillis(100);

  private final SettableClock clock = new SettableClock();
  private final SplittableRandom random = new SplittableRandom(1);
  private final MemoryStore store = new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final JobSurroundings surroundings = new TestSurroundings(clock, random, (millis, action) -> later.add(() -> {
    clock.advance(Duration.ofMillis(millis));
    action.run();
  }));
  private final JobPlanner planner = new JobPlanner(store, JobMeter.NONE, surroundings);
  private final Jobs jobs = planner.jobs(drafts -> store.submit(drafts).toCompletableFuture());

  /**
   * A store on which a planner of another process works without a pause. A call of {@link Jobs} finds the job between
   * two passes once in a while, and the next pass has begun before the next call.
   */
  private final class BusyStore extends ForwardingStore {
    private @Nullable TaskRecord claimed;

    BusyStore() {
      super(store);
    }

    private <T> CompletionStage<T> beside(Supplier<CompletionStage<T>> call) {
      clock.advance(Duration.ofMillis(1));
      pass();
      boolean isBetweenPasses = random.nextInt(5) == 0;
      if (!isBetweenPasses) {
        claimed = claimed();
      }
      CompletionStage<T> answer = call.get();
      if (isBetweenPasses) {
        claimed = claimed();
      }
      return answer;
    }

    /** Ends the pass that is under way. The next one is due at once. */
    private void pass() {
      TaskRecord task = claimed;
      if (task != null) {
        Answer answer = planner.deliver(new DeliveryAttempt(task, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
            .toCompletableFuture().join();
        Outcome.Rearm plan = ((Answer.Plan) answer).next();
        store.settle(List.of(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
            new Outcome.Rearm(Due.NOW, plan.body(), plan.children()), task.claimedAt(), ""))).toCompletableFuture()
            .join();
      }
    }

    @Override
    public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
      return beside(() -> super.find(ref));
    }

    @Override
    public CompletionStage<Long> timeMicros(int slot) {
      return beside(() -> super.timeMicros(slot));
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      return beside(() -> super.submit(drafts));
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      return beside(() -> super.claim(claims));
    }
  }

  @Test
  void aJobThatAnotherProcessPlansWithoutAPauseIsChanged() {
    jobs.put(Job.named("report").queue("billing").every(PERIOD).build()).join();
    clock.advance(PERIOD.multipliedBy(2));
    BusyStore busy = new BusyStore();
    Jobs elsewhere = new Jobs(busy, drafts -> busy.submit(drafts).toCompletableFuture(), surroundings);
    for (int i = 0; i < 120; i++) {
      boolean pauses = i % 2 == 0;
      CompletableFuture<JobStatus> changed = pauses
          ? elsewhere.pause("report", null, "month end", "")
          : elsewhere.resume("report");
      while (!changed.isDone()) {
        later.remove().run();
      }
      assertThat(changed).isCompleted();
      assertThat(changed.join().pause() != null).isEqualTo(pauses);
    }
  }

  @Test
  void aChangeThatIsRefusedGivesTheJobBack() {
    jobs.put(Job.named("report").queue("billing").every(PERIOD).build()).join();
    clock.advance(PERIOD.multipliedBy(2));
    BusyStore busy = new BusyStore();
    Jobs elsewhere = new Jobs(busy, drafts -> busy.submit(drafts).toCompletableFuture(), surroundings);
    for (int i = 0; i < 20; i++) {
      CompletableFuture<?> refused = elsewhere.pause("report", Instant.EPOCH, "", "");
      while (!refused.isDone()) {
        later.remove().run();
      }
      assertThatThrownBy(refused::join).hasCauseInstanceOf(InvalidSettingException.class);
      if (busy.claimed == null) {
        busy.claimed = claimed();
      }
      assertThat(busy.claimed).as("the planner goes on").isNotNull();
    }
  }

  @Test
  void aFailedPassIsRetriedWithinTwoSeconds() {
    Retry retry = planner.internalQueues().getFirst().retry();
    for (int attempt = 1; attempt < 100; attempt++) {
      assertThat(retry.backoffMillis(attempt, random.nextDouble())).isLessThan(2_000);
    }
  }

  @Test
  void anUnreadableRecordIsRetriedWithGrowingPauses() {
    long before = 0;
    for (int attempt = 1; attempt < 40; attempt++) {
      TaskRecord damaged = TaskRecord.edit(TaskId.of(1, 1, 1), Shards.JOBS, "report").body(Body.json("{}"))
          .attempt(attempt).done();
      Answer answer = planner.deliver(new DeliveryAttempt(damaged, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
          .toCompletableFuture().join();
      assertThat(answer).isInstanceOf(Answer.Retry.class);
      Duration after = Objects.requireNonNull(((Answer.Retry) answer).after());
      assertThat(after.toMillis()).isBetween(Math.max(1_000, before), 300_000L);
      before = after.toMillis();
    }
    assertThat(before).isEqualTo(300_000);
  }

  @Test
  void aJobThatCannotBePlannedNeverBecomesADeadLetter() {
    TaskRecord damaged = TaskRecord.edit(TaskId.of(1, 1, 1), Shards.JOBS, "report").body(Body.json("{}"))
        .attempt(Retry.MAX_ATTEMPTS).done();
    Answer answer = planner.deliver(new DeliveryAttempt(damaged, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
        .toCompletableFuture().join();
    assertThat(answer).isEqualTo(new Answer.Plan(
        new Outcome.Rearm(Due.at(damaged.claimedAt() + 300_000), damaged.body(), List.of()), ""));
  }

  private @Nullable TaskRecord claimed() {
    TaskRecord task = store.find(new TaskRef.ByKey(Shards.JOBS, "report")).toCompletableFuture().join().orElseThrow();
    ClaimResult result = store.claim(List.of(new Claim(task.id(), 5_000))).toCompletableFuture().join().results()
        .getFirst();
    return result instanceof ClaimResult.Won won ? won.task() : null;
  }
}
