package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Body;
import io.foliot.core.Retry;
import io.foliot.core.Target;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Attempt;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Due;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests changes of a job that is planned so often that hardly any time is left for a change between two passes. */
final class JobTurnsTest {
  private static final Duration PERIOD = Duration.ofMillis(100);

  private final SettableClock clock = new SettableClock();
  private final SplittableRandom random = new SplittableRandom(1);
  private final MemoryStore store = new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final JobPlanner planner = new JobPlanner(store, JobMeter.NONE);
  private final Jobs jobs = planner.jobs(
      drafts -> store.submit(drafts).toCompletableFuture(), new JobSurroundings() {
        @Override
        public long nanoTime() {
          return clock.monotonicNanos();
        }

        @Override
        public long wallMillis() {
          return clock.wallMillis();
        }

        @Override
        public void after(long millis, Runnable action) {
          later.add(action);
        }

        @Override
        public long randomBits() {
          return random.nextLong();
        }
      });

  @Test
  void aPassLeavesAGapForAChangeThatWaits() {
    jobs.put(Job.named("report").queue("billing").every(PERIOD).build()).join();
    clock.advance(PERIOD.multipliedBy(2));
    TaskRecord claimed = claim();
    assertThat(gapOf(claimed)).as("without a change").isBetween(0L, PERIOD.toMillis());
    CompletableFuture<JobStatus> paused = jobs.pause("report", null, "", "");
    assertThat(gapOf(claimed)).as("a change that has just begun").isLessThan(JobTurns.GAP_MILLIS);
    for (int attempt = 1; attempt <= 4; attempt++) {
      later.remove().run();
    }
    assertThat(paused).isNotDone();
    assertThat(gapOf(claimed)).as("a change that waits").isEqualTo(JobTurns.GAP_MILLIS);
  }

  @Test
  void aChangeThatHasEndedNeedsNoGap() {
    JobTurns turns = new JobTurns();
    turns.await("report");
    turns.await("report");
    turns.leave("report");
    assertThat(turns.nextPass("report", 1_000, 1_001)).isEqualTo(1_000 + JobTurns.GAP_MILLIS);
    assertThat(turns.nextPass("another", 1_000, 1_001)).isEqualTo(1_001);
    assertThat(turns.nextPass("report", 1_000, 5_000)).as("a pass that is due later anyway").isEqualTo(5_000);
    turns.leave("report");
    assertThat(turns.nextPass("report", 1_000, 1_001)).isEqualTo(1_001);
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
      Answer answer = planner.deliver(new Attempt(damaged, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
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
    Answer answer = planner.deliver(new Attempt(damaged, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
        .toCompletableFuture().join();
    assertThat(answer).isEqualTo(new Answer.Plan(
        new Outcome.Rearm(Due.at(damaged.claimedAt() + 300_000), damaged.body(), List.of()), ""));
  }

  private TaskRecord claim() {
    TaskRecord task = store.find(new TaskRef.ByKey(Shards.JOBS, "report")).toCompletableFuture().join().orElseThrow();
    ClaimResult result = store.claim(List.of(new Claim(task.id(), 5_000))).toCompletableFuture().join().results()
        .getFirst();
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).task();
  }

  /** Returns the milliseconds from the claim of a pass to the next pass. */
  private long gapOf(TaskRecord claimed) {
    Answer answer = planner.deliver(new Attempt(claimed, new Target(JobPlanner.TYPE, Map.of(), PERIOD), ""))
        .toCompletableFuture().join();
    assertThat(answer).isInstanceOf(Answer.Plan.class);
    return ((Answer.Plan) answer).next().due().atMillis(0) - claimed.claimedAt();
  }
}
