package io.foliot.jobs;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.QueueConfig;
import io.foliot.api.RunPhase;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.Meter;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.engine.migration.Migration;
import io.foliot.schedule.Calendar;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Moves jobs with future times, a pause and a calendar to another store. */
final class JobsMoveTest {
  private final SettableClock clock = new SettableClock();
  private final ManualLoops loops = new ManualLoops(clock);
  private final SplittableRandom random = new SplittableRandom(42);
  private final List<String> fired = new ArrayList<>();

  private MemoryStore store(int slots) {
    return new MemoryStore(slots, clock, () -> new Token(random.nextLong(), random.nextLong()));
  }

  private Engine engine(TaskStore store) {
    LocalDelivery local = new LocalDelivery(Runnable::run).handle("billing", attempt -> {
      fired.add(attempt.task().body().headers().get("foliot-job") + " "
          + attempt.task().body().headers().get("foliot-scheduled-at"));
      return new Answer.Done("");
    });
    Engine engine = new Engine(EngineOptions.defaults("test"),
        new Environment(clock, loops::newLoop, new SplittableRandom(7), store, new SoleCoordinator(),
            List.of(local, new JobPlanner(store, JobMeter.NONE)), Meter.NONE));
    join(engine.start());
    return engine;
  }

  private <T> T join(CompletableFuture<T> future) {
    loops.runUntilIdle();
    assertThat(future).isDone();
    return future.join();
  }

  private void stop(Engine engine) {
    CompletableFuture<Void> stopped = engine.stop(Duration.ofSeconds(1));
    loops.advance(Duration.ofMillis(1_200));
    assertThat(stopped).isDone();
  }

  @Test
  void jobsContinueInTheStoreThatTheyWereMovedTo() {
    try (MemoryStore source = store(16); MemoryStore target = store(64)) {
      Engine before = engine(source);
      Jobs jobs = new Jobs(source, before::write);
      join(before.putQueue(QueueConfig.of("billing", Target.local())));
      join(jobs.putCalendar("holidays", Calendar.parse(List.of("12-25"))));
      join(jobs.put(Job.named("tick").queue("billing").every(Duration.ofMinutes(1))
          .schedule(s -> s.offset(Duration.ZERO).exclude(List.of("holidays"))).overlap(Overlap.QUEUE).build()));
      join(jobs.put(Job.named("idle").queue("billing").every(Duration.ofMinutes(1)).build()));
      join(jobs.pause("idle", null, "month end", "ops"));
      loops.advance(Duration.ofMinutes(5));
      assertThat(fired).hasSize(5);
      stop(before);

      new Migration(source, "the source", target, "the target", far -> {}).run(Duration.ofSeconds(5));
      loops.advance(Duration.ofMinutes(3));
      Engine after = engine(target);
      Jobs moved = new Jobs(target, after::write);
      loops.advance(Duration.ofMinutes(5));
      JobTotals totals = join(moved.find("tick")).orElseThrow().totals();
      assertThat(totals.fired() + totals.missed()).isEqualTo(minutesSince(fired.getFirst()));
      assertThat(fired).doesNotHaveDuplicates().hasSize((int) totals.fired()).allMatch(time -> time.startsWith("tick"));
      assertThat(totals.succeeded() + totals.unknown()).isEqualTo(totals.fired());
      assertThat(join(moved.find("idle")).orElseThrow().state()).isEqualTo(JobStatus.State.PAUSED);
      assertThat(join(moved.calendar("holidays"))).isPresent();
      stop(after);
    }
  }

  /** The tasks end when no pass can read their ends any more, as during the drain of a source. */
  @Test
  void reportsOfShardsBeforeTheMoveAreKept() {
    try (MemoryStore source = store(16); MemoryStore target = store(64)) {
      Engine before = engine(source);
      Jobs jobs = new Jobs(source, before::write);
      join(before.putQueue(QueueConfig.of("billing", Target.pull())));
      for (String name : List.of("prepared", "again", "ends")) {
        join(jobs.put(Job.named(name).queue("billing").every(Duration.ofMinutes(1)).shards(2)
            .runListeners(name.equals("prepared") ? new RunPhase[]{RunPhase.BEFORE} : new RunPhase[]{}).build()));
      }
      loops.advance(Duration.ofSeconds(70));
      stop(before);
      finish(source, "again", new TaskNote(1, "", "page 7", "", TaskNote.Mark.RUN_AGAIN));
      finish(source, "ends", new TaskNote(1, "", null, "", TaskNote.Mark.END_JOB));
      finish(source, "prepared", TaskNote.NONE);

      new Migration(source, "the source", target, "the target", far -> {}, JobMove::recordEnds)
          .run(Duration.ofSeconds(5));
      Engine after = engine(target);
      Jobs moved = new Jobs(target, after::write);
      loops.advance(Duration.ofSeconds(5));
      JobStatus prepared = join(moved.find("prepared")).orElseThrow();
      assertThat(prepared.active()).as("%s", prepared).hasSize(1);
      assertThat(prepared.active().getFirst().phase()).isEqualTo(RunPhase.SHARDS);
      assertThat(tasks(target, "prepared")).hasSize(2);
      JobStatus again = join(moved.find("again")).orElseThrow();
      assertThat(again.totals().succeeded()).as("%s", again).isEqualTo(1);
      assertThat(tasks(target, "again")).hasSize(2)
          .allMatch(task -> "page 7".equals(task.body().headers().get(JobHeaders.CHECKPOINT)));
      JobStatus ends = join(moved.find("ends")).orElseThrow();
      assertThat(ends.isEnded()).as("%s", ends).isTrue();
      assertThat(ends.totals().succeeded()).isEqualTo(1);
      stop(after);
    }
  }

  private static List<TaskRecord> tasks(MemoryStore store, String job) {
    return store.query("billing", null, 100, null).toCompletableFuture().join().tasks().stream()
        .filter(task -> task.isLive() && job.equals(task.body().headers().get(JobHeaders.JOB))).toList();
  }

  private static void finish(MemoryStore store, String job, TaskNote note) {
    List<TaskRecord> tasks = tasks(store, job);
    assertThat(tasks).isNotEmpty();
    for (TaskRecord task : tasks) {
      ClaimResult claimed = store.claim(List.of(new Claim(task.id(), 10_000))).toCompletableFuture().join().results()
          .getFirst();
      TaskRecord running = ((ClaimResult.Won) claimed).task();
      store.settle(List.of(new AttemptEnd(task.id(), running.generation(), requireNonNull(running.token()),
          new Outcome.Finished(), running.claimedAt(), "", note))).toCompletableFuture().join();
    }
  }

  /** Returns the number of scheduled times, one a minute, from the time in {@code first} to now, both included. */
  private long minutesSince(String first) {
    return Duration.between(Instant.parse(first.substring(first.indexOf(' ') + 1)),
        Instant.ofEpochMilli(clock.wallMillis())).toMinutes() + 1;
  }
}
