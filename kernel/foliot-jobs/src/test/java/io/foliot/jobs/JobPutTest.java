package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.api.Target;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.schedule.ScheduleException;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Tests which calls of the store a put makes. */
final class JobPutTest {
  /** Time from a call to its result. */
  private static final Duration TRIP = Duration.ofMillis(2);
  private static final int JOB_LIMIT = 500;

  private final SettableClock clock = new SettableClock();
  /** Duration of a suspension of the machine, during which the monotonic clock did not advance. */
  private Duration suspended = Duration.ZERO;
  private final SplittableRandom random = new SplittableRandom(42);
  private final MemoryStore store = new MemoryStore(1, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private final List<String> calls = new ArrayList<>();
  private final List<Runnable> pending = new ArrayList<>();
  private final Jobs jobs = new Jobs(new DistantStore(), new Host(), new Surroundings());
  private boolean hasQueue = true;
  private boolean hasWorkers = true;

  private final class Host implements JobHost {
    @Override
    public CompletableFuture<List<SubmitResult>> write(List<Draft> drafts) {
      return travelling("submit", store.submit(drafts)).toCompletableFuture();
    }

    @Override
    public CompletionStage<Boolean> hasQueue(String queue) {
      return CompletableFuture.completedFuture(hasQueue);
    }

    @Override
    public CompletionStage<Boolean> hasWorkers(String queue) {
      return CompletableFuture.completedFuture(hasWorkers);
    }

    @Override
    public long maxJobs() {
      return JOB_LIMIT;
    }
  }

  /** A store whose results arrive when the test delivers them. */
  private final class DistantStore extends ForwardingStore {
    DistantStore() {
      super(store);
    }

    @Override
    public CompletionStage<Long> timeMicros(int slot) {
      return travelling("time", super.timeMicros(slot));
    }

    @Override
    public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
      return travelling("find", super.find(ref));
    }
  }

  private final class Surroundings implements JobSurroundings {
    @Override
    public long nanoTime() {
      return clock.monotonicNanos() - suspended.toNanos();
    }

    @Override
    public long wallMillis() {
      return clock.wallMillis();
    }

    @Override
    public void after(long millis, Runnable action) {
      pending.add(() -> {
        clock.advance(Duration.ofMillis(millis));
        action.run();
      });
    }

    @Override
    public long randomBits() {
      return random.nextLong();
    }
  }

  private <T> CompletionStage<T> travelling(String call, CompletionStage<T> done) {
    calls.add(call);
    CompletableFuture<T> result = new CompletableFuture<>();
    pending.add(() -> result.complete(done.toCompletableFuture().join()));
    return result;
  }

  private <T> T join(CompletableFuture<T> future, Duration trip) {
    while (!pending.isEmpty()) {
      clock.advance(trip);
      pending.removeFirst().run();
    }
    assertThat(future).isDone();
    return future.join();
  }

  private JobStatus put(Job job) {
    calls.clear();
    return join(jobs.put(job), TRIP).status();
  }

  private static Job.Builder everyMinute(String name) {
    return Job.named(name).queue("billing").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private TaskRecord task(String name) {
    return store.find(new TaskRef.ByKey(Shards.JOBS, name)).toCompletableFuture().join().orElseThrow();
  }

  @Test
  void aNewJobIsOneWrite() {
    put(everyMinute("first").build());
    assertThat(calls).containsExactly("time", "submit");
    put(everyMinute("second").build());
    assertThat(calls).as("the clock was read within the last second").containsExactly("submit");
    clock.advance(Duration.ofSeconds(2));
    put(everyMinute("third").build());
    assertThat(calls).containsExactly("time", "submit");
  }

  @Test
  void aNewJobIsDueAtItsFirstTime() {
    JobStatus status = put(everyMinute("report").build());
    assertThat(Instant.ofEpochMilli(task("report").dueAt())).isEqualTo(status.nextTime());
    put(Job.named("delay").queue("billing").after(Duration.ofMinutes(1)).build());
    assertThat(task("delay").dueAt()).as("a fixed delay begins at once").isLessThanOrEqualTo(clock.wallMillis());
  }

  @Test
  void aNewJobLosesNoTimeAndRunsNoOldTime() {
    put(everyMinute("first").build());
    for (int i = 0; i < 400; i++) {
      clock.advance(Duration.ofMillis(7));
      long begun = clock.wallMillis();
      JobStatus status = put(Job.named("job-" + i).queue("billing").every(Duration.ofSeconds(1))
          .schedule(s -> s.offset(Duration.ZERO)).build());
      assertThat(status.created().toEpochMilli()).isBetween(begun - TRIP.toMillis(), begun + 1_000);
      long next = Optional.ofNullable(status.nextTime()).orElseThrow().toEpochMilli();
      assertThat(next).as("after the estimated time, which is at most one trip behind").isGreaterThan(
          begun - TRIP.toMillis());
      assertThat(next).as("no time is left out").isLessThanOrEqualTo(begun + TRIP.toMillis() + 1_000);
    }
  }

  @Test
  void aSlowReadingOfTheClockIsNotUsedAgain() {
    join(jobs.put(everyMinute("first").build()), Duration.ofMillis(51));
    put(everyMinute("second").build());
    assertThat(calls).containsExactly("time", "submit");
  }

  @Test
  void theSameDefinitionAgainWritesNothing() {
    JobStatus first = put(everyMinute("report").build());
    long generation = task("report").generation();
    JobStatus second = put(everyMinute("report").build());
    assertThat(second.version()).isEqualTo(first.version());
    assertThat(second.created()).isEqualTo(first.created());
    assertThat(task("report").generation()).isEqualTo(generation);
  }

  @Test
  void anotherDefinitionReplacesTheFirst() {
    put(everyMinute("report").build());
    JobStatus second = put(everyMinute("report").shards(2).build());
    assertThat(second.version()).isEqualTo(2);
    assertThat(task("report").dueAt()).as("the changed job is planned at once").isLessThanOrEqualTo(clock.wallMillis());
  }

  @Test
  void noMoreJobsThanTheLimitAreCreated() {
    for (int i = 0; i < JOB_LIMIT; i++) {
      put(everyMinute("job-" + i).build());
      clock.advance(Duration.ofMillis(100));
    }
    assertThatThrownBy(() -> put(everyMinute("other").build())).hasCauseInstanceOf(Jobs.TooManyJobsException.class)
        .hasMessageContaining("max=" + JOB_LIMIT);
    assertThat(put(everyMinute("job-7").shards(2).build()).version()).as("a job that exists is replaced").isEqualTo(2);
    assertThat(join(jobs.delete("job-7", false), TRIP)).isTrue();
    pass("job-7");
    clock.advance(Duration.ofSeconds(11));
    assertThatThrownBy(() -> put(everyMinute("other").build())).as("the cached number of jobs may be old")
        .hasCauseInstanceOf(Jobs.TooManyJobsException.class);
    clock.advance(Duration.ofSeconds(11));
    assertThat(put(everyMinute("other").build()).version()).isEqualTo(1);
  }

  /** Lets a planner do the pass that is due. */
  private void pass(String job) {
    ClaimResult claim = store.claim(List.of(new Claim(task(job).id(), 5_000))).toCompletableFuture().join().results()
        .getFirst();
    TaskRecord claimed = ((ClaimResult.Won) claim).task();
    Answer answer = new JobPlanner(store, JobMeter.NONE)
        .deliver(new DeliveryAttempt(claimed, new Target(JobPlanner.TYPE, Map.of(), TRIP), "")).toCompletableFuture()
        .join();
    assertThat(answer).isInstanceOf(Answer.Done.class);
    store.settle(List.of(new AttemptEnd(claimed.id(), claimed.generation(), Objects.requireNonNull(claimed.token()),
        new Outcome.Finished(), claimed.claimedAt(), ""))).toCompletableFuture().join();
  }

  @Test
  void aJobWhoseQueueIsDeletedIsInError() {
    assertThat(put(everyMinute("report").build()).state()).isEqualTo(JobStatus.State.ACTIVE);
    hasQueue = false;
    JobStatus status = join(jobs.find("report"), TRIP).orElseThrow();
    assertThat(status.state()).isEqualTo(JobStatus.State.ERROR);
    assertThat(status.error()).contains("queue=billing");
    assertThat(status.upcoming()).hasSize(JobStatus.UPCOMING);
  }

  @Test
  void scopesOverWorkersNeedAQueueWithWorkers() {
    hasWorkers = false;
    for (Scope scope : List.of(Scope.ALL, Scope.PER_ZONE)) {
      assertThatThrownBy(() -> put(everyMinute("report").scope(scope).build()))
          .hasRootCauseInstanceOf(IllegalArgumentException.class).hasMessageContaining("scope " + scope);
    }
    assertThat(put(everyMinute("report").build()).version()).isEqualTo(1);
  }

  @Test
  void theUpcomingTimesOfAPausedJobAreInTheFuture() {
    put(everyMinute("report").build());
    join(jobs.pause("report", null, "maintenance", "ops"), TRIP);
    clock.advance(Duration.ofHours(1));
    JobStatus status = join(jobs.find("report"), TRIP).orElseThrow();
    assertThat(status.nextTime()).isNull();
    assertThat(status.upcoming().getFirst().toInstant().toEpochMilli()).isGreaterThan(clock.wallMillis());
  }

  @Test
  void aOneTimeJobWhoseTimeHasPassedMayBePutAgainUnchanged() {
    Instant at = Instant.ofEpochMilli(clock.wallMillis()).plusSeconds(5);
    Job job = Job.named("once").queue("billing").at(at).build();
    put(job);
    clock.advance(Duration.ofSeconds(10));
    assertThat(put(job).version()).isEqualTo(1);
    assertThatThrownBy(() -> put(Job.named("late").queue("billing").at(at).build()))
        .hasCauseInstanceOf(ScheduleException.class);
  }

  @Test
  void theClockIsReadAgainAfterASuspension() {
    put(everyMinute("first").build());
    put(everyMinute("second").build());
    assertThat(calls).doesNotContain("time");
    clock.advance(Duration.ofHours(8));
    suspended = Duration.ofHours(8);
    JobStatus third = put(everyMinute("third").build());
    assertThat(calls).contains("time");
    assertThat(Duration.between(third.created(), Instant.ofEpochMilli(clock.wallMillis()))).as("age of the new job")
        .isLessThan(Duration.ofSeconds(1));
  }
}
