package io.foliot.jobs;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.OnConflict;
import io.foliot.api.Overlap;
import io.foliot.api.QueueConfig;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Meter;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.Checksum;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.schedule.Calendar;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs over an engine that runs on one thread with a settable clock. */
final class JobsTest {
  private static final String QUEUE = "billing";

  private final SettableClock clock = new SettableClock();
  private final ManualLoops loops = new ManualLoops(clock);
  private final SplittableRandom random = new SplittableRandom(42);
  private final MemoryStore store = new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong()));
  /** A store that fails each read of the workers. A test that needs workers passes them to the planner. */
  private final TaskStore withoutWorkers = new ForwardingStore(store) {
    @Override
    public CompletionStage<List<Document>> documents(DocumentKind kind) {
      return kind == DocumentKind.FLEET
          ? CompletableFuture.failedFuture(new IllegalStateException("the workers cannot be read"))
          : super.documents(kind);
    }
  };
  private final List<Seen> seen = new ArrayList<>();
  private Function<DeliveryAttempt, CompletableFuture<Answer>> behaviour = attempt -> CompletableFuture
      .completedFuture(new Answer.Done(""));
  private final JobPlanner planner = new JobPlanner(store, JobMeter.NONE,
      Map.of("last", (job, workers) -> Collections.nCopies(job.shards(), workers.getLast())));
  private final Engine engine = engine();
  private final Jobs jobs = new Jobs(store, engine::write);

  /** A shard as the receiver got it. */
  private record Seen(String job, String scheduledAt, String shard, @Nullable String missed, long atMillis) {}

  private Engine engine() {
    Delivery receiver = new Delivery() {
      @Override
      public String type() {
        return Target.LOCAL;
      }

      @Override
      public CompletionStage<Void> check(Target target) {
        assertThat(target.type()).isEqualTo(Target.LOCAL);
        return CompletableFuture.completedFuture(null);
      }

      @Override
      public String destination(Target target) {
        return "here";
      }

      @Override
      public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
        Map<String, String> headers = attempt.task().body().headers();
        seen.add(
            new Seen(String.valueOf(headers.get(JobHeaders.JOB)), String.valueOf(headers.get(JobHeaders.SCHEDULED_AT)),
                String.valueOf(headers.get(JobHeaders.SHARD)), headers.get(JobHeaders.MISSED), clock.wallMillis()));
        return behaviour.apply(attempt);
      }

      @Override
      public void close() {
        // Nothing to close.
      }
    };
    return new Engine(EngineOptions.defaults("test"), new Environment(clock, loops::newLoop, new SplittableRandom(7),
        withoutWorkers, new SoleCoordinator(), List.of(receiver, planner), new Meter() {}));
  }

  @BeforeEach
  void start() {
    join(engine.start());
    join(engine.putQueue(QueueConfig.of(QUEUE, Target.local())));
  }

  @AfterEach
  void stop() {
    CompletableFuture<Void> stopped = engine.stop(Duration.ofSeconds(1));
    loops.advance(Duration.ofMillis(1_200));
    assertThat(stopped).isDone();
    store.close();
  }

  private <T> T join(CompletableFuture<T> future) {
    loops.runUntilIdle();
    assertThat(future).isDone();
    return future.join();
  }

  private void advance(Duration time) {
    loops.advance(time);
  }

  private static Job.Builder everyTenSeconds() {
    return Job.named("report").queue(QUEUE).every(Duration.ofSeconds(10)).schedule(s -> s.offset(Duration.ZERO));
  }

  private JobStatus report() {
    return join(jobs.find("report")).orElseThrow();
  }

  @Test
  void aStoreIsNotCalledWithAnInvalidName() {
    TaskStore strict = new ForwardingStore(store) {
      @Override
      public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
        throw new AssertionError("a database refuses such a text: " + ref);
      }

      @Override
      public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
        throw new AssertionError("a database refuses such a text: " + refs);
      }

      @Override
      public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
        throw new AssertionError("a database refuses such a text: " + name);
      }
    };
    Jobs over = new Jobs(strict, engine::write);
    for (String name : List.of("\0", "", "x".repeat(257), "\uD83D")) {
      assertThat(join(over.find(name))).isEmpty();
      assertThat(join(over.delete(name, true))).isFalse();
      assertThat(over.trigger(name, null)).failsWithin(Duration.ZERO).withThrowableThat()
          .withCauseInstanceOf(Jobs.UnknownJobException.class);
      assertThat(join(over.calendar(name))).isEmpty();
      assertThat(join(over.deleteCalendar(name))).isFalse();
      assertThat(over.putCalendar(name, Calendar.parse(List.of("SAT")))).failsWithin(Duration.ZERO).withThrowableThat()
          .withCauseInstanceOf(InvalidSettingException.class);
    }
  }

  @Test
  void aJobFiresInTheMillisecondOfEachTime() {
    JobStatus put = join(jobs.put(everyTenSeconds().parameter(Body.json("1")).build())).status();
    assertThat(put.state()).isEqualTo(JobStatus.State.ACTIVE);
    Instant first = Optional.ofNullable(put.nextTime()).orElseThrow();
    advance(Duration.ofMinutes(1));
    assertThat(seen).hasSize(6);
    for (int i = 0; i < seen.size(); i++) {
      Instant time = first.plusSeconds(10L * i);
      assertThat(seen.get(i).scheduledAt()).isEqualTo(time.toString());
      assertThat(seen.get(i).atMillis()).isEqualTo(time.toEpochMilli());
    }
    advance(Duration.ofSeconds(10));
    JobStatus status = report();
    assertThat(status.totals().fired()).isEqualTo(7);
    assertThat(status.totals().succeeded()).as("the end of the latest run counts before a pass notes it").isEqualTo(7);
    assertThat(status.history()).extracting(PastRun::result).containsOnly(PastRun.Result.SUCCEEDED);
  }

  @Test
  void aRunInsertsEachShardOfItsJob() {
    join(jobs.put(everyTenSeconds().shards(3, "a", "b").build()));
    advance(Duration.ofSeconds(10));
    assertThat(seen).extracting(Seen::shard).containsExactlyInAnyOrder("0", "1", "2");
    advance(Duration.ofSeconds(31));
    assertThat(report().totals().succeeded()).isPositive();
  }

  @Test
  void aPausedJobFiresNothingAndCountsThePausedTimes() {
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    JobStatus paused = join(jobs.pause("report", null, "maintenance", "ops"));
    assertThat(paused.state()).isEqualTo(JobStatus.State.PAUSED);
    assertThat(paused.nextTime()).isNull();
    int before = seen.size();
    advance(Duration.ofMinutes(5));
    assertThat(seen).hasSize(before);
    JobStatus resumed = join(jobs.resume("report"));
    assertThat(resumed.state()).isEqualTo(JobStatus.State.ACTIVE);
    assertThat(resumed.pause()).isNull();
    assertThat(requireNonNull(resumed.nextTime()).toEpochMilli()).isGreaterThan(clock.wallMillis());
    assertThat(report().state()).as("before a pass has noted the resume").isEqualTo(JobStatus.State.ACTIVE);
    advance(Duration.ofSeconds(10));
    assertThat(seen).hasSize(before + 1);
    assertThat(report().totals().paused()).isEqualTo(30);
    assertThat(join(jobs.next("report", 1)).getFirst().toInstant().toEpochMilli()).isGreaterThan(clock.wallMillis());
    assertThat(report().state()).isEqualTo(JobStatus.State.ACTIVE);
  }

  @Test
  void twoTriggersWithOneKeyStartOneRun() {
    join(jobs.put(Job.named("report").queue(QUEUE).cron("0 2 1 1 *").build()));
    Jobs.Requested first = join(jobs.trigger("report", "once"));
    advance(Duration.ofSeconds(1));
    Jobs.Requested second = join(jobs.trigger("report", "once"));
    advance(Duration.ofSeconds(1));
    assertThat(seen).hasSize(1);
    assertThat(first.isRepeated()).isFalse();
    assertThat(second.isRepeated()).isTrue();
    assertThat(second.origin()).isEqualTo(first.origin());
  }

  @Test
  void aBackfillRunsTheTimesThatItsDryRunReturns() {
    join(jobs.put(Job.named("report").queue(QUEUE).cron("0 * * * *").build()));
    Instant now = Instant.ofEpochMilli(clock.wallMillis());
    Jobs.Requested dry = join(jobs.backfill("report", now.minus(Duration.ofHours(3)), now, true, null));
    advance(Duration.ofSeconds(1));
    assertThat(dry.times()).hasSize(3);
    assertThat(seen).isEmpty();
    join(jobs.backfill("report", now.minus(Duration.ofHours(3)), now, false, null));
    advance(Duration.ofSeconds(95));
    assertThat(seen).extracting(Seen::scheduledAt).containsExactlyElementsOf(dry.times().stream().map(Instant::toString)
        .toList());
    assertThat(report().totals().fired()).isZero();
    assertThat(report().totals().requested()).isEqualTo(3);
  }

  @Test
  void aStoppedRunWithARunningShardIsShownAsStopping() {
    behaviour = attempt -> new CompletableFuture<>();
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    JobStatus running = report();
    assertThat(running.active()).hasSize(1);
    join(jobs.stop("report", running.active().getFirst().time()));
    advance(Duration.ofSeconds(1));
    assertThat(report().active().getFirst().stopping()).isTrue();
    assertThatThrownBy(() -> join(jobs.stop("report", Instant.EPOCH))).hasRootCauseInstanceOf(
        IllegalArgumentException.class);
  }

  @Test
  void aStopCancelsShardsBeforeItReturns() {
    behaviour = attempt -> CompletableFuture.completedFuture(
        new Answer.Retry(Duration.ofMinutes(1), Answer.Health.WELL, "later"));
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    Instant time = report().active().getFirst().time();
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).isEmpty();
    join(jobs.stop("report", time));
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).hasSize(1);
  }

  /** Returns jobs whose repetitions wait in a queue until the test runs them. */
  private Jobs jobsThatWaitIn(Deque<Runnable> waiting) {
    return new Jobs(store, engine::write,
        new TestSurroundings(clock, random, (millis, action) -> waiting.add(action)));
  }

  @Test
  void aJobThatWasPausedForLongIsChangedWithinASecond() {
    Deque<Runnable> waiting = new ArrayDeque<>();
    Jobs patient = jobsThatWaitIn(waiting);
    join(jobs.put(Job.named("report").queue(QUEUE).cron("* * * * * *").build()));
    join(jobs.pause("report", null, "", ""));
    advance(Duration.ofHours(3));
    CompletableFuture<JobStatus> changed = patient.pause("report", null, "month end", "");
    for (int i = 0; i < 100 && !changed.isDone(); i++) {
      advance(Duration.ofMillis(10));
      Runnable action = waiting.poll();
      if (action != null) {
        action.run();
      }
    }
    assertThat(changed).as("within a second").isDone();
    assertThat(Objects.requireNonNull(changed.join().pause()).reason()).isEqualTo("month end");
    assertThat(report().totals().paused()).isBetween(10_800L, 10_801L);
  }

  @Test
  void aDeletedJobFiresNoMore() {
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    assertThat(join(jobs.delete("report", false))).isTrue();
    assertThat(join(jobs.delete("report", false))).isFalse();
    advance(Duration.ofMinutes(1));
    assertThat(seen).hasSize(1);
    assertThat(join(jobs.find("report"))).isEmpty();
    assertThatThrownBy(() -> join(jobs.trigger("report", null))).isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(Jobs.UnknownJobException.class);
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    assertThat(seen).as("put again").hasSize(2);
  }

  @Test
  void aJobIsDeletedBetweenTwoPasses() {
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(1));
    TaskRecord task = task("report");
    clock.advance(Duration.ofSeconds(10));
    Claim claim = new Claim(task.id(), 5_000);
    assertThat(join(store.claim(List.of(claim)).toCompletableFuture()).results().getFirst())
        .isInstanceOf(ClaimResult.Won.class);
    Deque<Runnable> waiting = new ArrayDeque<>();
    CompletableFuture<Boolean> deleted = jobsThatWaitIn(waiting).delete("report", false);
    loops.runUntilIdle();
    assertThat(deleted).as("during the pass").isNotDone();
    advance(Duration.ofSeconds(6));
    for (int i = 0; i < 100 && !deleted.isDone(); i++) {
      waiting.remove().run();
      advance(Duration.ofMillis(10));
    }
    assertThat(deleted).isCompletedWithValue(true);
    assertThat(join(jobs.find("report"))).isEmpty();
    assertThat(join(jobs.list(10, null)).jobs()).isEmpty();
    assertThatThrownBy(() -> join(jobs.pause("report", null, "", ""))).isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(Jobs.UnknownJobException.class);
  }

  @Test
  void aRepeatedDeleteCanStillCancelTheRuns() {
    behaviour = attempt -> CompletableFuture.completedFuture(
        new Answer.Retry(Duration.ofMinutes(1), Answer.Health.WELL, "later"));
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    assertThat(join(jobs.delete("report", false))).isTrue();
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).isEmpty();
    assertThat(join(jobs.delete("report", true))).isFalse();
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).hasSize(1);
  }

  private TaskRecord task(String job) {
    return join(store.find(new TaskRef.ByKey(Shards.JOBS, job)).toCompletableFuture()).orElseThrow();
  }

  @Test
  void aPutChangesTheTimesAtOnce() {
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    JobStatus changed = join(jobs.put(Job.named("report").queue(QUEUE).every(Duration.ofSeconds(1)).build())).status();
    assertThat(changed.version()).isEqualTo(2);
    advance(Duration.ofSeconds(10));
    assertThat(seen.size()).isBetween(10, 12);
    assertThat(join(jobs.put(Job.named("report").queue(QUEUE).every(Duration.ofSeconds(1)).build())).status()
        .version())
        .as("the same definition again").isEqualTo(2);
  }

  @Test
  void aFixedDelayCountsFromTheEndOfTheRun() {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    behaviour = attempt -> {
      answers.add(new CompletableFuture<>());
      return answers.getLast();
    };
    join(jobs.put(Job.named("report").queue(QUEUE).after(Duration.ofMinutes(1)).build()));
    advance(Duration.ofMillis(1));
    assertThat(seen).hasSize(1);
    advance(Duration.ofSeconds(5));
    long ended = clock.wallMillis();
    answers.getFirst().complete(new Answer.Done(""));
    advance(Duration.ofMillis(60_200));
    assertThat(seen).hasSize(2);
    assertThat(seen.getLast().scheduledAt()).isEqualTo(Instant.ofEpochMilli(ended + 60_000).toString());
  }

  @Test
  void aJobWhoseRecordCannotBeReadIsInErrorAndCanBeReplaced() {
    join(jobs.put(everyTenSeconds().build()));
    TaskRecord task = task("report");
    join(engine.write(List.of(new Draft(task.id(), Shards.JOBS, "report", Due.NOW,
        new Body(new byte[]{1, 2, 3}, "application/octet-stream", Map.of()), 0,
        OnConflict.RESET, null))));
    join(jobs.put(Job.named("other").queue(QUEUE).every(Duration.ofSeconds(10)).build()));
    advance(Duration.ofSeconds(30));
    assertThat(report().state()).isEqualTo(JobStatus.State.ERROR);
    assertThat(seen).extracting(Seen::job).containsExactly("other", "other", "other");
    assertThat(seen).as("another job is on time")
        .allMatch(shard -> shard.atMillis() == Instant.parse(shard.scheduledAt()).toEpochMilli());
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(20));
    assertThat(report().state()).isEqualTo(JobStatus.State.ACTIVE);
    assertThat(seen).extracting(Seen::job).contains("report");
  }

  @Test
  void aCalendarExcludesDays() {
    join(jobs.putCalendar("weekend", Calendar.parse(List.of("SAT", "SUN"))));
    join(jobs.put(Job.named("report").queue(QUEUE).cron("0 12 * * *")
        .schedule(s -> s.exclude(List.of("weekend"))).build()));
    List<ZonedDateTime> next = join(jobs.next("report", 10));
    assertThat(next).hasSize(10).allMatch(time -> time.getDayOfWeek().getValue() <= 5);
    assertThatThrownBy(() -> join(jobs.put(Job.named("b").queue(QUEUE).cron("0 12 * * *")
        .schedule(s -> s.exclude(List.of("absent"))).build()))).hasMessageContaining("calendar");
  }

  @Test
  void aDamagedCalendarDelaysNoOtherJob() {
    join(jobs.putCalendar("weekend", Calendar.parse(List.of("SAT", "SUN"))));
    join(jobs.put(Job.named("report").queue(QUEUE).every(Duration.ofSeconds(10))
        .schedule(s -> s.exclude(List.of("weekend"))).build()));
    long version = join(store.document(DocumentKind.CALENDAR, "weekend").toCompletableFuture()).orElseThrow().version();
    join(store.writeDocument(DocumentKind.CALENDAR, "weekend", version, new byte[]{1, 2, 3}).toCompletableFuture());
    join(jobs.put(Job.named("other").queue(QUEUE).every(Duration.ofSeconds(1)).build()));
    advance(Duration.ofMinutes(5));
    JobStatus report = join(jobs.find("report")).orElseThrow();
    assertThat(report.state()).isEqualTo(JobStatus.State.ERROR);
    assertThat(report.error()).contains("calendar");
    assertThat(join(jobs.find("other")).orElseThrow().totals().fired()).isBetween(298L, 301L);
    join(jobs.putCalendar("weekend", Calendar.parse(List.of("SAT"))));
    advance(Duration.ofMinutes(6));
    assertThat(report().state()).isEqualTo(JobStatus.State.ACTIVE);
  }

  @Test
  void theStoreKeepsOneTaskPerJob() {
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(25));
    TaskRecord task = task("report");
    assertThat(task.state()).isEqualTo(TaskState.DELAYED);
    assertThat(join(jobs.list(10, null)).jobs()).extracting(JobStatus::name).containsExactly("report");
  }

  @Test
  void theEndOfARunWithManyShardsIsNotedWithinASecond() {
    join(jobs.put(everyTenSeconds().shards(2_500).overlap(Overlap.QUEUE).build()));
    advance(Duration.ofSeconds(11));
    JobRecord record = JobRecordFormat.decode("report",
        task("report").body().payload());
    assertThat(record.active()).isEmpty();
    assertThat(record.totals().succeeded()).isEqualTo(1);
  }

  @Test
  void aRunIsShownAsEndedBeforeAPassNotesItsEnd() {
    join(jobs.put(Job.named("report").queue(QUEUE).cron("0 2 1 1 *").build()));
    join(jobs.trigger("report", null));
    advance(Duration.ofMillis(50));
    assertThat(seen).hasSize(1);
    assertThat(report().active()).isEmpty();
    assertThat(report().totals().succeeded()).isEqualTo(1);
    assertThat(join(jobs.list(10, null)).jobs().getFirst().totals().succeeded()).isEqualTo(1);
  }

  @Test
  void aRunIsPlacedOnTheWorkersThatTheNodeHasRead() {
    behaviour = attempt -> new CompletableFuture<>();
    Jobs here = planner.jobs(engine::write);
    Workers workers = new Workers(QUEUE).add("w0", "a").add("w1", "a");
    planner.fleetChanged(workers.fleet(), clock.wallMillis());
    join(jobs.put(everyTenSeconds().shards(3).build()));
    advance(Duration.ofSeconds(10));
    JobStatus status = join(here.find("report")).orElseThrow();
    assertThat(status.active().getFirst().targets()).containsExactly(
        new JobStatus.RunTarget("", 0, "w0", List.of(0, 2), 0), new JobStatus.RunTarget("", 1, "w1", List.of(1), 0));
    assertThat(status.waitsFor()).isEmpty();
    planner.fleetChanged(workers.gone(0).gone(1).fleet(), clock.wallMillis());
    assertThat(join(here.find("report")).orElseThrow().waitsFor()).isEqualTo("waits for a worker of queue billing");
    assertThat(report().waitsFor()).as("without a planner in the process, workers are not known").isEmpty();
  }

  @Test
  void aRunUsesAnAllocatorOfThisNodeOrWaitsForIt() {
    Jobs here = planner.jobs(engine::write);
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").add("w1", "a").fleet(), clock.wallMillis());
    join(here.put(everyTenSeconds().shards(2).allocator("last").build()));
    advance(Duration.ofSeconds(10));
    JobStatus.RunTarget last = new JobStatus.RunTarget("", 1, "w1", List.of(0, 1), 0);
    JobStatus begun = join(here.find("report")).orElseThrow();
    assertThat(begun.active().getFirst().targets()).containsExactly(last);
    join(here.stop("report", begun.active().getFirst().time()));
    JobStatus put = join(here.put(everyTenSeconds().shards(2).allocator("first").build())).status();
    String missing = "its allocator, which this node does not have; each node of the store must register it:"
        + " allocator=first";
    assertThat(put.waitsFor()).as("reported before a time waits").isEqualTo("needs " + missing);
    advance(Duration.ofSeconds(30));
    JobStatus waits = join(here.find("report")).orElseThrow();
    assertThat(waits.waitsFor()).isEqualTo("waits for " + missing);
    assertThat(waits.waiting()).isEqualTo(1);
    assertThat(waits.totals().skipped()).isPositive();
    assertThat(waits.state()).isEqualTo(JobStatus.State.ACTIVE);
    assertThat(waits.active()).isEmpty();
    JobPlanner other = new JobPlanner(store, JobMeter.NONE, Map.of("first", (job, workers) -> List.of()));
    other.fleetChanged(new Workers(QUEUE).add("w0", "a").fleet(), clock.wallMillis());
    assertThat(join(other.jobs(engine::write).find("report")).orElseThrow().waitsFor())
        .contains("returned 0 workers for 2 shards");
    JobPlanner able = new JobPlanner(store, JobMeter.NONE,
        Map.of("first", (job, workers) -> Collections.nCopies(job.shards(), workers.getFirst())));
    able.fleetChanged(new Workers(QUEUE).add("w0", "a").fleet(), clock.wallMillis());
    assertThat(join(able.jobs(engine::write).find("report")).orElseThrow().waitsFor())
        .as("the planning node lacks the allocator").isEqualTo("waits until the node that plans the job assigns its"
            + " shards: allocator=first");
    join(here.put(everyTenSeconds().shards(2).allocator("last").build()));
    advance(Duration.ofMillis(100));
    assertThat(join(here.find("report")).orElseThrow().active().getFirst().targets()).containsExactly(last);
  }

  @Test
  void anAllocatorIsRefusedForAQueueWithoutWorkers() {
    JobHost host = new JobHost() {
      @Override
      public CompletableFuture<List<SubmitResult>> write(List<Draft> drafts) {
        return engine.write(drafts);
      }

      @Override
      public CompletionStage<Boolean> hasWorkers(String queue) {
        return CompletableFuture.completedFuture(false);
      }
    };
    assertThat(planner.jobs(host).put(everyTenSeconds().allocator("last").build())).failsWithin(Duration.ZERO)
        .withThrowableThat().withMessageContaining("allocation OWN is for queues whose tasks workers take");
  }

  @Test
  void tooManyShardsInAllZonesAreAnError() {
    Jobs here = planner.jobs(engine::write);
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").add("w1", "b").fleet(), clock.wallMillis());
    join(jobs.put(everyTenSeconds().scope(Scope.PER_ZONE).shards(Job.MAX_SHARDS).build()));
    join(jobs.trigger("report", null));
    advance(Duration.ofSeconds(1));
    JobStatus status = join(here.find("report")).orElseThrow();
    assertThat(status.state()).isEqualTo(JobStatus.State.ERROR);
    assertThat(status.error()).contains("shards: expected at most 10000", "with zones=2");
    assertThat(seen).isEmpty();
  }

  @Test
  void anActiveRunEndsWhileTheNextRunIsTooLarge() {
    Workers workers = new Workers(QUEUE).add("w0", "a");
    planner.fleetChanged(workers.fleet(), clock.wallMillis());
    join(jobs.put(everyTenSeconds().scope(Scope.PER_ZONE).shards(600).overlap(Overlap.ALLOW)
        .parameter(new Body(new byte[16 << 10], "a/b", Map.of())).timeout(Duration.ofSeconds(25)).build()));
    advance(Duration.ofSeconds(12));
    assertThat(report().active()).hasSize(1);
    planner.fleetChanged(workers.add("w1", "b").fleet(), clock.wallMillis());
    advance(Duration.ofSeconds(15));
    assertThat(report().state()).isEqualTo(JobStatus.State.ERROR);
    assertThat(report().error()).contains("parameter: expected at most 16777216 bytes");
    assertThat(report().active()).as("the run is in time").hasSize(1);
    advance(Duration.ofSeconds(15));
    JobRecord stored = JobRecordFormat.decode("report", task("report").body().payload());
    assertThat(stored.active()).isEmpty();
    assertThat(stored.history()).extracting(PastRun::result).containsExactly(PastRun.Result.TIMED_OUT);
    assertThat(report().state()).isEqualTo(JobStatus.State.ERROR);
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").fleet(), clock.wallMillis());
    advance(Duration.ofMinutes(2));
    assertThat(report().state()).isEqualTo(JobStatus.State.ACTIVE);
    assertThat(report().totals().fired()).isGreaterThan(1);
  }

  @Test
  void aTriggerIsRefusedIfItsParameterMakesTheRunTooLarge() {
    Jobs here = planner.jobs(engine::write);
    Body parameter = new Body(new byte[4_096], "a/b", Map.of());
    join(here.put(everyTenSeconds().scope(Scope.PER_ZONE).shards(3_000).build()));
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").add("w1", "b").fleet(), clock.wallMillis());
    assertThatThrownBy(() -> join(here.trigger("report", null, parameter))).rootCause()
        .isInstanceOf(InvalidSettingException.class).hasMessageContainingAll("parameter", "16777216", "got 24576000");
    assertThat(report().waiting()).isZero();
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").fleet(), clock.wallMillis());
    assertThat(join(here.trigger("report", "k", parameter)).isRepeated()).isFalse();
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").add("w1", "b").fleet(), clock.wallMillis());
    assertThat(join(here.trigger("report", "k", parameter)).isRepeated()).isTrue();
  }

  @Test
  void jobsContinueAfterTheClockOfTheStoreWasAhead() {
    List<Job> all = List.of(everyTenSeconds().build(), Job.named("cron").queue(QUEUE).cron("* * * * * *").build(),
        Job.named("delay").queue(QUEUE).after(Duration.ofSeconds(3)).build(),
        Job.named("shards").queue(QUEUE).every(Duration.ofSeconds(2)).shards(3).build());
    all.forEach(job -> join(jobs.put(job)));
    advance(Duration.ofSeconds(25));
    clock.stepWall(Duration.ofHours(1));
    advance(Duration.ofSeconds(12));
    behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Retry(Duration.ofSeconds(30),
        Answer.Health.WELL, "not now"));
    advance(Duration.ofSeconds(3));
    behaviour = attempt -> CompletableFuture.completedFuture(new Answer.Done(""));
    clock.stepWall(Duration.ofHours(-1));
    advance(Duration.ofSeconds(30));
    for (Job job : all) {
      JobStatus status = join(jobs.find(job.name())).orElseThrow();
      String latest = seen.stream().filter(each -> each.job().equals(job.name()) && each.atMillis() > clock.wallMillis()
          - 13_000).map(Seen::scheduledAt).max(Comparator.naturalOrder()).orElse("none");
      assertThat(latest).as("%s", status).isGreaterThan(clock.instant().minusSeconds(20).toString());
      assertThat(status.nextTime() == null || status.nextTime().isBefore(clock.instant().plusSeconds(20)))
          .as("%s", status).isTrue();
      assertThat(status.totals().missed()).as("times that have not come are not missed: %s", status).isLessThan(60);
    }
  }

  @Test
  void aRewindOrAPutHealsAJobThatIsAhead() {
    clock.stepWall(Duration.ofHours(1));
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(15));
    clock.stepWall(Duration.ofHours(-1));
    join(jobs.rewind("report"));
    advance(Duration.ofMillis(100));
    assertThat(report().nextTime()).isBefore(clock.instant().plusSeconds(11));
    assertThatThrownBy(() -> join(jobs.rewind("none"))).hasCauseInstanceOf(Jobs.UnknownJobException.class);
  }

  @Test
  void theNextTimeIsNotATimeThatRanAhead() {
    clock.stepWall(Duration.ofSeconds(30));
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(25));
    List<Instant> ran = seen.stream().map(shard -> Instant.parse(shard.scheduledAt())).toList();
    assertThat(ran).hasSize(2);
    clock.stepWall(Duration.ofSeconds(-40));
    join(jobs.rewind("report"));
    advance(Duration.ofMillis(100));
    Instant now = clock.instant();
    assertThat(ran).allMatch(time -> time.isAfter(now));
    JobStatus status = report();
    assertThat(status.nextTime()).isBefore(now.plusSeconds(31)).isNotIn(ran);
    assertThat(status.upcoming().stream().map(ZonedDateTime::toInstant)).hasSize(JobStatus.UPCOMING)
        .startsWith(status.nextTime()).doesNotContainAnyElementsOf(ran);
    assertThat(join(jobs.next("report", 3)).stream().map(ZonedDateTime::toInstant)).hasSize(3)
        .doesNotContainAnyElementsOf(ran);
  }

  @Test
  void nothingIsPlannedWhileTheClocksOfNodeAndStoreDisagree() {
    AtomicLong nodeMillis = new AtomicLong();
    ClockCheck clocks = new ClockCheck(nodeMillis::get, 5_000);
    for (long offset : new long[]{5_001, -5_001, 3_600_000}) {
      nodeMillis.set(1_000_000);
      assertThat(clocks.disagree(1_000_000 + offset)).isTrue();
    }
    assertThat(clocks.disagree(1_005_000)).isFalse();
    assertThat(ClockCheck.NONE.disagree(1_000_000)).isFalse();
    JobPlanner waiting = new JobPlanner(store, JobMeter.NONE, clocks);
    join(jobs.put(everyTenSeconds().build()));
    TaskRecord claimed = task("report").edit().claimedAt(2_000_000).done();
    Answer answer = waiting.deliver(DeliveryAttempt.of(waiting.internalQueues().getFirst(), claimed, ""))
        .toCompletableFuture().join();
    assertThat(answer).isInstanceOfSatisfying(Answer.Plan.class, plan -> {
      assertThat(plan.next().due()).isEqualTo(Due.at(2_002_000));
      assertThat(plan.next().body()).isEqualTo(task("report").body());
    });
  }

  @Test
  void aTimeWaitsUntilTheWorkersAreReadAndStayAway() {
    join(jobs.put(everyTenSeconds().scope(Scope.ALL).build()));
    advance(Duration.ofSeconds(15));
    assertThat(report().waiting()).isEqualTo(1);
    assertThat(report().waitsFor()).contains("workers of its queue have been read");
    advance(Duration.ofMinutes(2));
    assertThat(report().totals().noTargets()).as("unread workers are unknown").isZero();
    planner.fleetChanged(new Workers(QUEUE).add("w0", "a").gone(0).fleet(), clock.wallMillis());
    advance(Duration.ofSeconds(25));
    assertThat(report().totals().noTargets()).isZero();
    advance(Duration.ofSeconds(20));
    assertThat(report().totals().noTargets()).isPositive();
    assertThat(report().history().getFirst().result()).isEqualTo(PastRun.Result.NO_TARGETS);
    assertThat(seen).isEmpty();
  }

  @Test
  void aHandlerEndsItsJobByAMark() {
    behaviour = attempt -> CompletableFuture.completedFuture(
        new Answer.Noted(new Answer.Done(""), TaskNote.NONE.marked(TaskNote.Mark.END_JOB)));
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    advance(Duration.ofMillis(500));
    assertThat(JobRecordFormat.decode("report", task("report").body().payload()).isEnded()).as("within a second")
        .isTrue();
    advance(Duration.ofMinutes(1));
    assertThat(seen).hasSize(1);
    assertThat(report().state()).isEqualTo(JobStatus.State.COMPLETED);
    assertThat(join(jobs.next("report", 3))).as("the schedule is over").isEmpty();
    join(jobs.put(everyTenSeconds().build()));
    advance(Duration.ofSeconds(10));
    assertThat(seen).hasSize(2);
  }

  @Test
  void aHandlerContinuesInTheRunThatItsMarkRequests() {
    List<String> checkpoints = new ArrayList<>();
    behaviour = attempt -> {
      String checkpoint = attempt.task().note().checkpoint();
      checkpoints.add(String.valueOf(checkpoint));
      TaskNote.Mark mark = checkpoints.size() < 4 ? TaskNote.Mark.RUN_AGAIN : TaskNote.Mark.NONE;
      TaskNote note = new TaskNote(-1, "", "page " + checkpoints.size(), "", mark);
      return CompletableFuture.completedFuture(new Answer.Noted(new Answer.Done(""), note));
    };
    join(jobs.put(Job.named("report").queue(QUEUE).cron("0 2 1 1 *").build()));
    join(jobs.trigger("report", null));
    advance(Duration.ofSeconds(2));
    assertThat(checkpoints).containsExactly("null", "page 1", "page 2", "page 3");
    assertThat(report().totals().succeeded()).isEqualTo(4);
  }

  @Test
  void aRunHasListenersBeforeAndAfterItsShards() {
    List<String> phases = new ArrayList<>();
    behaviour = attempt -> {
      Map<String, String> headers = attempt.task().body().headers();
      phases.add(headers.getOrDefault(JobHeaders.PHASE, "shard")
          + headers.getOrDefault(JobHeaders.RUN_RESULT, "") + headers.getOrDefault(JobHeaders.RUN_FAILED, ""));
      return CompletableFuture.completedFuture(headers.getOrDefault(JobHeaders.SHARD, "").equals("1")
          ? new Answer.Fail("planned")
          : new Answer.Done(""));
    };
    join(jobs.put(everyTenSeconds().shards(2).runListeners(RunPhase.BEFORE, RunPhase.AFTER).build()));
    advance(Duration.ofSeconds(11));
    assertThat(phases).as("all within a second").containsExactly("before", "shard", "shard", "afterFAILED1");
    advance(Duration.ofSeconds(9));
    assertThat(JobRecordFormat.decode("report", task("report").body().payload()).totals().failed()).isEqualTo(1);
  }

  @Test
  void aRunIsShownWithItsPhase() {
    behaviour = attempt -> new CompletableFuture<>();
    join(jobs.put(everyTenSeconds().runListeners(RunPhase.BEFORE).build()));
    advance(Duration.ofSeconds(11));
    assertThat(report().active()).singleElement().extracting(JobStatus.ActiveRun::phase).isEqualTo(RunPhase.BEFORE);
  }

  @Test
  void aStopAndADeleteCancelTheListenerBeforeTheShards() {
    behaviour = attempt -> CompletableFuture.completedFuture(
        new Answer.Retry(Duration.ofMinutes(1), Answer.Health.WELL, "later"));
    join(jobs.put(everyTenSeconds().runListeners(RunPhase.BEFORE).build()));
    advance(Duration.ofSeconds(10));
    join(jobs.stop("report", report().active().getFirst().time()));
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).hasSize(1);
    advance(Duration.ofSeconds(10));
    join(jobs.delete("report", true));
    assertThat(join(store.query(QUEUE, TaskState.CANCELLED, 10, null).toCompletableFuture()).tasks()).hasSize(2);
  }

  @Test
  void aJobThatANewerVersionWroteIsNotReplaced() {
    join(jobs.put(everyTenSeconds().build()));
    TaskRecord task = task("report");
    byte[] newer = task.body().payload().clone();
    newer[0]++;
    int end = newer.length - Checksum.BYTES;
    ByteBuffer.wrap(newer).putInt(end, Checksum.of(Checksum.mark("report"), newer, 0, end));
    join(engine.write(List.of(new Draft(task.id(), Shards.JOBS, "report", Due.at(clock.wallMillis() + 3_600_000),
        new Body(newer, "application/octet-stream", Map.of()), 0, OnConflict.RESET, null))));
    assertThat(report().state()).isEqualTo(JobStatus.State.ERROR);
    assertThatThrownBy(() -> join(jobs.declare(everyTenSeconds().shards(2).build()))).hasMessageContaining("newer");
    assertThatThrownBy(() -> join(jobs.put(everyTenSeconds().shards(2).build()))).hasMessageContaining("newer");
    assertThat(join(store.find(new TaskRef.ByKey(Shards.JOBS, "report")).toCompletableFuture()).orElseThrow().body()
        .payload()).isEqualTo(newer);
  }

  @Test
  void jobsOfAFullQueueLeaveTheOtherQueuesAlone() {
    int max = 200;
    join(engine.putQueue(QueueConfig.builder("flood", Target.local()).maxJobs(max).build()));
    Jobs limited = planner.jobs(JobHost.of(engine::write, engine::findQueue, 10L * max));
    int refused = 0;
    for (int i = 0; i < 3 * max; i++) {
      CompletableFuture<Jobs.Put> put = limited.put(Job.named("flood-" + i).queue("flood").every(Duration.ofMillis(100))
          .build());
      loops.runUntilIdle();
      if (put.isCompletedExceptionally()) {
        assertThat(put).failsWithin(Duration.ZERO).withThrowableThat()
            .withCauseInstanceOf(Jobs.TooManyJobsException.class).withMessageContaining("queue=flood, max=" + max);
        refused++;
      }
    }
    assertThat(refused).isEqualTo(2 * max);
    assertThat(join(limited.put(everyTenSeconds().every(Duration.ofSeconds(1)).build())).isNew()).isTrue();
    advance(Duration.ofSeconds(3));
    assertThat(seen.stream().filter(shard -> shard.job().equals("report")).map(Seen::scheduledAt)).hasSize(3);
  }

  @Test
  void aJobDoesNotMoveToAFullQueue() {
    join(engine.putQueue(QueueConfig.builder("full", Target.local()).maxJobs(1).build()));
    Jobs limited = planner.jobs(JobHost.of(engine::write, engine::findQueue, JobHost.MAX_JOBS));
    join(limited.put(Job.named("first").queue("full").every(Duration.ofHours(1)).build()));
    join(limited.put(everyTenSeconds().build()));
    Job moved = everyTenSeconds().queue("full").build();
    for (CompletableFuture<?> refused : List.of(limited.move(moved), limited.edit("report", old -> moved))) {
      loops.runUntilIdle();
      assertThat(refused).failsWithin(Duration.ZERO).withThrowableThat()
          .withCauseInstanceOf(Jobs.TooManyJobsException.class);
    }
    assertThat(Objects.requireNonNull(report().definition()).queue()).isEqualTo(QUEUE);
    join(engine.changeQueue("full", queue -> queue.toBuilder().maxJobs(2).build()));
    assertThat(join(limited.move(moved)).isNew()).isFalse();
    assertThat(limited.put(Job.named("third").queue("full").every(Duration.ofHours(1)).build())).failsWithin(
        Duration.ZERO);
    assertThat(join(limited.put(everyTenSeconds().queue("full").shards(2).build())).status().version())
        .as("an existing job")
        .isEqualTo(3);
  }

  @Test
  void aQueueFullOfShardsLeavesTheOtherQueuesAlone() {
    join(engine.putQueue(QueueConfig.builder("flood", Target.local()).maxShards(25).build()));
    Jobs limited = planner.jobs(JobHost.of(engine::write, engine::findQueue, JobHost.MAX_JOBS));
    behaviour = attempt -> attempt.task().queue().equals("flood")
        ? new CompletableFuture<>()
        : CompletableFuture.completedFuture(new Answer.Done(""));
    for (int i = 0; i < 4; i++) {
      join(limited.put(Job.named("flood-" + i).queue("flood").every(Duration.ofSeconds(1)).overlap(Overlap.ALLOW)
          .shards(10).build()));
    }
    join(limited.put(everyTenSeconds().every(Duration.ofSeconds(1)).build()));
    advance(Duration.ofSeconds(6));
    assertThat(seen.stream().filter(shard -> shard.job().equals("report")).map(Seen::scheduledAt)).hasSize(6);
    assertThat(store.query("flood", null, 1_000, null).toCompletableFuture().join().tasks())
        .as("the last run begins with less than 25 shards").hasSize(30);
    List<JobStatus> flood = join(limited.list(10, null)).jobs().stream()
        .filter(status -> status.name().startsWith("flood")).toList();
    assertThat(flood).allSatisfy(status -> {
      assertThat(status.waiting()).isPositive();
      assertThat(status.waitsFor()).contains("queue flood", "foliot queues set flood --max-shards");
    });
    assertThat(join(limited.find("report")).orElseThrow().waitsFor()).isEmpty();
    join(engine.changeQueue("flood", queue -> queue.toBuilder().maxShards(40).build()));
    advance(Duration.ofSeconds(11));
    assertThat(store.query("flood", null, 1_000, null).toCompletableFuture().join().tasks()).hasSize(40);
  }
}
