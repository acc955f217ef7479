package io.foliot.sim;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.RunPhase;
import io.foliot.api.Target;
import io.foliot.core.store.TaskRecord;
import io.foliot.history.Event;
import io.foliot.history.History;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The callers of recurring jobs. Each job has one caller. The caller makes one change at a time through a random node,
 * and repeats the call until it is answered. The order of the changes is therefore known.
 */
final class JobCallers implements SimReceiver.Listener {
  static final String QUEUE = "work";

  private static final int JOBS = 3;
  private static final int ATTEMPTS = 50;
  private static final int HISTORY = 200;
  private static final long RETRY_MILLIS = 100;
  /** Pause before a call is repeated while no node serves. */
  private static final long NO_NODE_MILLIS = 2_000;
  private static final long WATCH_MILLIS = 500;
  /** Retention of ended shards: longer than the longest outage, so the end of a shard is always known. */
  private static final Duration RETENTION = Duration.ofDays(3);
  /** Maximum time between a scheduled time and a change that is made close to it. */
  private static final long CLOSE_MILLIS = 20;
  /** Bound of the time before a job is put. */
  private static final long FIRST_MILLIS = 8_000;
  /** Additional time before the first jobs in a calm world. */
  private static final long CALM_MILLIS = 10_000;
  /** Length of a backfilled period. */
  private static final long BACKFILLED_MILLIS = 6_000;
  private static final long LONGEST_LIFE_MILLIS = 15_000;
  private static final List<Overlap> OVERLAPS = List.copyOf(EnumSet.allOf(Overlap.class));
  private static final List<Misfire> MISFIRES = List.of(Misfire.DEFAULT, Misfire.all(5, Duration.ofHours(1)),
      Misfire.all(100, Duration.ofHours(1)), Misfire.skip(Duration.ofSeconds(5)), Misfire.once(Duration.ofSeconds(8)));

  private static final List<Set<RunPhase>> LISTENERS = List.of(Set.of(), Set.of(), Set.of(), Set.of(RunPhase.BEFORE),
      Set.of(RunPhase.AFTER), EnumSet.of(RunPhase.BEFORE, RunPhase.AFTER));

  private final Sim sim;
  private final Bug bug;
  private final Schedule schedule;
  private final History history;
  private final SplittableRandom random;
  private final Callers callers;
  private final List<JobStory> stories = new ArrayList<>();
  /** Jobs that exist for some seconds each, one after another. */
  private final List<JobStory> shortLived = new ArrayList<>();
  private final boolean mayForget;
  private final int maxShards;
  private long requests;
  private boolean over;

  JobCallers(Sim sim, History history, SplittableRandom random, SimStore store, List<SimNode> nodes, Bug bug,
      int maxShards) {
    this.sim = sim;
    this.bug = bug;
    this.maxShards = maxShards;
    schedule = sim.schedule();
    this.history = history;
    this.random = random;
    callers = new Callers(schedule, random, store, nodes);
    mayForget = store.behaviour().windowMillis() > 0;
  }

  /** Returns the stories of the jobs that exist until the end. */
  List<JobStory> stories() {
    return stories;
  }

  /** Returns the stories of the jobs that exist for some seconds each. */
  List<JobStory> shortLived() {
    return shortLived;
  }

  void start() {
    putQueue();
    long calm = sim.world().isCalm() ? CALM_MILLIS : 0;
    for (int i = 0; i < JOBS; i++) {
      JobStory story = new JobStory("job-" + i);
      stories.add(story);
      Job first = drawn(story.name);
      schedule.afterMillis(calm + random.nextLong(FIRST_MILLIS), () -> put(story, first, () -> next(story)));
    }
    schedule.afterMillis(calm + random.nextLong(FIRST_MILLIS), this::putAndDelete);
  }

  /** Ends the random changes. Each caller then puts its job again, and resumes it. */
  void end() {
    over = true;
    putQueue();
  }

  private void putQueue() {
    Retry retry = new Retry(ATTEMPTS, Duration.ofMillis(100), 2, Duration.ofMillis(sim.world().maxBackoffMillis()),
        0.5);
    Target target = new Target(SimReceiver.TYPE, Map.of(), Duration.ofMillis(sim.world().timeoutMillis()));
    QueueConfig queue = QueueConfig.builder(QUEUE, target).retry(retry).maxShards(maxShards)
        .retainFinished(RETENTION).retainFailed(RETENTION).build();
    callers.untilDone(engine -> engine.putQueue(queue));
  }

  /** Returns a job with a random definition. */
  private Job drawn(String name) {
    Job.Builder job = Job.named(name).queue(QUEUE).shards(oneOf(List.of(1, 1, 3))).overlap(oneOf(OVERLAPS))
        .misfire(oneOf(MISFIRES)).history(HISTORY).maxAttempts(oneOf(List.of(0, 0, 2)))
        .timeout(random.nextInt(3) == 0 ? Duration.ofMillis(1_000 + random.nextLong(9_000)) : null)
        .pauseAfterFailures(random.nextInt(8) == 0 ? 3 : 0).runListeners(listeners(oneOf(LISTENERS)));
    return random.nextInt(4) == 0
        ? job.after(Duration.ofMillis(1_000 + random.nextLong(3_000))).build()
        : timed(job).build();
  }

  private static RunPhase[] listeners(Set<RunPhase> phases) {
    return phases.toArray(RunPhase[]::new);
  }

  private Job.Builder timed(Job.Builder job) {
    return switch (random.nextInt(4)) {
      case 0 -> job.cron("*/" + oneOf(List.of(2, 3, 5)) + " * * * * *");
      case 1 -> job.every(Duration.ofMillis(2_000 + random.nextLong(8_000)))
          .schedule(settings -> settings.jitter(Duration.ofMillis(700)));
      default -> job.every(Duration.ofMillis(2_000 + random.nextLong(8_000)));
    };
  }

  private <T> T oneOf(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  // The actions of callers.

  private void next(JobStory story) {
    schedule.afterMillis(pauseMillis(story), () -> {
      if (over) {
        finish(story);
      } else if (mayForget) {
        // The order of changes is known only if the store loses no change.
        next(story);
      } else {
        act(story);
      }
    });
  }

  /** Returns a random pause, or one that ends just before or after the next scheduled time. */
  private long pauseMillis(JobStory story) {
    long pause = 200 + random.nextLong(6_000);
    Instant time = story.job().schedule().after() != null || random.nextBoolean()
        ? null
        : story.job().schedule().schedule(story.name, calendar -> null)
            .next(Instant.ofEpochMilli(schedule.nowMillis() + CLOSE_MILLIS));
    return time == null
        ? pause
        : time.toEpochMilli() - schedule.nowMillis() + random.nextLong(-CLOSE_MILLIS, CLOSE_MILLIS);
  }

  private void finish(JobStory story) {
    put(story, story.job(), () -> resume(story, () -> story.over = true));
  }

  private void act(JobStory story) {
    Runnable next = () -> next(story);
    switch (random.nextInt(12)) {
      case 0, 1 -> put(story, changed(story.job()), next);
      case 2, 3 -> pause(story, next);
      case 4, 5, 6 -> resume(story, next);
      case 7, 8 -> trigger(story, next);
      case 9 -> backfill(story, next);
      default -> stop(story, next);
    }
  }

  private Job changed(Job job) {
    Job.Builder next = Job.named(job.name()).queue(QUEUE).shards(job.shards()).overlap(job.overlap())
        .misfire(job.misfire()).history(HISTORY).maxAttempts(job.maxAttempts()).timeout(job.timeout())
        .pauseAfterFailures(job.pauseAfterFailures())
        .runListeners(listeners(random.nextInt(4) == 0 ? oneOf(LISTENERS) : job.runListeners()));
    return job.schedule().after() == null
        ? timed(next).build()
        : next.after(Duration.ofMillis(1_000 + random.nextLong(3_000))).build();
  }

  private void put(JobStory story, Job job, Runnable then) {
    long from = schedule.nowMillis();
    call("put", jobs -> {
      story.puts++;
      return jobs.put(job).thenApply(Jobs.Put::status);
    }, answer -> {
      if (answer != null) {
        story.defined.add(new JobStory.Defined(job, from, schedule.nowMillis()));
      }
      then.run();
    });
  }

  private void pause(JobStory story, Runnable then) {
    story.mayResume(schedule.nowMillis());
    Instant until = random.nextBoolean()
        ? null
        : Instant.ofEpochMilli(schedule.nowMillis() + 5_000 + random.nextLong(10_000));
    call("pause", jobs -> jobs.pause(story.name, until, "simulated", "caller"), answer -> {
      if (answer != null) {
        story.pausedAt = schedule.nowMillis();
        story.pausedUntil = until == null ? Long.MAX_VALUE : until.toEpochMilli() - 1;
      }
      then.run();
    });
  }

  private void resume(JobStory story, Runnable then) {
    story.mayResume(schedule.nowMillis());
    call("resume", jobs -> jobs.resume(story.name), answer -> then.run());
  }

  private void trigger(JobStory story, Runnable then) {
    String key = "request-" + requests++;
    call("trigger", jobs -> jobs.trigger(story.name, key), answer -> {
      requested(story, answer);
      then.run();
    });
  }

  private void backfill(JobStory story, Runnable then) {
    if (story.job().schedule().after() != null) {
      then.run();
      return;
    }
    String key = "request-" + requests++;
    Instant to = Instant.ofEpochMilli(schedule.nowMillis());
    call("backfill", jobs -> jobs.backfill(story.name, to.minusMillis(BACKFILLED_MILLIS), to, false, key), answer -> {
      requested(story, answer);
      then.run();
    });
  }

  private void requested(JobStory story, Jobs.@Nullable Requested answer) {
    if (answer != null) {
      Set<Long> times = answer.times().stream().map(Instant::toEpochMilli).collect(Collectors.toSet());
      story.requested.add(new JobStory.Requested(times, schedule.nowMillis()));
    }
  }

  private CompletableFuture<Boolean> delete(Jobs jobs, String name, boolean stopsRuns) {
    return bug == Bug.DELETE_CANCELS_NOTHING
        ? jobs.find(name).thenApply(Optional::isPresent)
        : jobs.delete(name, stopsRuns);
  }

  /** Puts a job, deletes it some seconds later, and continues with the next job. */
  private void putAndDelete() {
    if (over || mayForget) {
      return;
    }
    JobStory story = new JobStory("short-" + shortLived.size());
    shortLived.add(story);
    boolean stopsRuns = random.nextBoolean();
    put(story, drawn(story.name), () -> schedule.afterMillis(random.nextLong(LONGEST_LIFE_MILLIS),
        () -> call("delete", jobs -> delete(jobs, story.name, stopsRuns), existed -> {
          story.deletedAt = schedule.nowMillis();
          story.stopsRuns = stopsRuns;
          schedule.afterMillis(random.nextLong(FIRST_MILLIS), this::putAndDelete);
        })));
  }

  private void stop(JobStory story, Runnable then) {
    call("find", jobs -> jobs.find(story.name), found -> {
      List<JobStatus.ActiveRun> active = found == null ? List.of() : found.map(JobStatus::active).orElse(List.of());
      if (active.isEmpty()) {
        then.run();
        return;
      }
      Instant time = oneOf(active).time();
      call("stop", jobs -> jobs.stop(story.name, time), answer -> {
        if (answer != null) {
          story.stops.add(new JobStory.Stop(time.toEpochMilli(), schedule.nowMillis()));
        }
        then.run();
      });
    });
  }

  /** Repeats a call until it is answered. The answer is null if the call can never succeed. */
  private <T> void call(String what, Function<Jobs, CompletableFuture<T>> call, Consumer<@Nullable T> answered) {
    SimNode node = callers.someNode();
    Jobs jobs = node == null ? null : node.jobs();
    if (node == null || jobs == null) {
      schedule.afterMillis(NO_NODE_MILLIS, () -> call(what, call, answered));
      return;
    }
    NodeProcess process = node.process();
    boolean[] isAnswered = new boolean[1];
    process.run(() -> {
      CompletableFuture<?> unused = call.apply(jobs).whenComplete((result, failure) -> {
        isAnswered[0] = true;
        Throwable cause = failure != null && failure.getCause() != null ? failure.getCause() : failure;
        sim.trace().add("caller", what + (failure == null ? "" : " failed"), 0);
        if (failure == null || cause instanceof IllegalArgumentException
            || cause instanceof Jobs.UnknownJobException) {
          answered.accept(result);
        } else {
          schedule.afterMillis(RETRY_MILLIS, () -> call(what, call, answered));
        }
      });
    });
    watch(process, isAnswered, () -> call(what, call, answered));
  }

  /** Repeats a call if the called process is dead, or still paused after the heal. Such a process never answers. */
  private void watch(NodeProcess process, boolean[] isAnswered, Runnable again) {
    schedule.afterMillis(WATCH_MILLIS, () -> {
      if (!isAnswered[0]) {
        if (!process.isAlive() || (over && process.isPaused())) {
          again.run();
        } else {
          watch(process, isAnswered, again);
        }
      }
    });
  }

  // Calls from the receiver.

  @Override
  public void began(TaskRecord task) {
    Map<String, String> headers = task.body().headers();
    String job = headers.get(JobHeaders.JOB);
    for (JobStory story : job != null && job.startsWith("short") ? shortLived : stories) {
      if (story.name.equals(job)) {
        long time = Instant.parse(headers.getOrDefault(JobHeaders.SCHEDULED_AT, "")).toEpochMilli();
        int shard = Integer.parseInt(headers.getOrDefault(JobHeaders.SHARD, ""));
        story.begun.add(new JobStory.Begun(time, shard, headers.getOrDefault(JobHeaders.PHASE, ""), task.id(),
            task.generation(), task.attempt(),
            task.claimedAt(), schedule.nowMillis()));
      }
    }
  }

  @Override
  public void refused(TaskRecord task) {
    // The task is a dead letter, and its run has failed.
  }

  @Override
  public void accepted(TaskRecord task, long delivery) {
    boolean fails = random.nextInt(5) == 0;
    history.replied(delivery, schedule.nowMillis(), fails ? Event.Reception.RETRY : Event.Reception.SUCCESS);
    callers.report(task, fails);
  }
}
