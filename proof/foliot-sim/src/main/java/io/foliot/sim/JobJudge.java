package io.foliot.sim;

import io.foliot.core.JobHeaders;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.store.TaskPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.Job;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.JobTotals;
import io.foliot.jobs.Jobs;
import io.foliot.jobs.Overlap;
import io.foliot.jobs.PastRun;
import io.foliot.jobs.RunPhase;
import io.foliot.jobs.schedule.Schedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Judges jobs by rules of its own: the definitions that callers put, what the receiver saw, and the records of the
 * store at the end. It enumerates scheduled times itself, and ignores the cursor of a job.
 *
 * <p>Where the instant of a change is known only to lie within a call, both ends of the call are tried, and each
 * scheduled time between them.
 */
final class JobJudge {
  /** Added to the lease of a planner and of a shard, and to the delays of the store. */
  private static final long BACK_MILLIS = 15_000;
  /** The most by which the time of a new job is behind the store's clock: a time just before the put may run. */
  private static final long CREATED_BEHIND_MILLIS = 50;
  /** Within this time before the end each job has fired that has so short a period. */
  private static final long LAST_MILLIS = 45_000;
  private static final int PAGE = 1_000;
  private static final String BEFORE = "before";
  private static final String AFTER = "after";

  private final World world;
  private final SimStore store;
  private final long end;
  private final BiConsumer<JobSimulation.Check, String> unmet;
  private final boolean mayForget;
  private final Map<String, List<TaskRecord>> shards = new HashMap<>();
  private final SortedMap<String, Long> counts = new TreeMap<>();

  /** A run, by the records of its shards: from the first insertion to the last end. */
  private record Span(long time, long from, long to) {}

  JobJudge(World world, SimStore store, long end, BiConsumer<JobSimulation.Check, String> unmet) {
    this.world = world;
    this.store = store;
    this.end = end;
    this.unmet = unmet;
    mayForget = store.manners().windowMillis() > 0;
    for (PastRun.Result result : PastRun.Result.values()) {
      counts.put(result.name(), 0L);
    }
    counts.put(BEFORE, 0L);
    counts.put(AFTER, 0L);
    String cursor = null;
    do {
      TaskPage page = store.truth().query(JobCallers.QUEUE, null, PAGE, cursor).toCompletableFuture().join();
      page.tasks().forEach(task -> shards
          .computeIfAbsent(String.valueOf(task.body().headers().get(JobHeaders.JOB)), job -> new ArrayList<>())
          .add(task));
      cursor = page.cursor();
    } while (cursor != null);
  }

  /** Returns the number of each observation. */
  SortedMap<String, Long> counts() {
    return counts;
  }

  private void count(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  void judge(JobStory story) {
    Jobs jobs = new Jobs(store.truth(), drafts -> CompletableFuture.failedFuture(new IllegalStateException("judged")));
    JobStatus status = jobs.find(story.name).join().orElse(null);
    if (status == null || !story.over) {
      unmet.accept(JobSimulation.Check.LIVENESS, "each call is answered once things have healed: job=" + story.name
          + ", exists=" + (status != null) + ", end=" + end + ", status=" + status + ", task="
          + store.truth().find(new TaskRef.ByKey("foliot.jobs", story.name)).toCompletableFuture().join());
      return;
    }
    count("DELIVERIES", story.begun.size());
    count("PUTS", story.defined.size());
    count("PAUSES", story.pauses.size());
    count("REQUESTS", story.requested.size());
    count("STOPS", story.stops.size());
    status.history().forEach(past -> count(past.result().name(), past.count()));
    ensureScheduled(story, status);
    ensureOnePerShard(story);
    ensureFiredIsRecorded(story, status);
    if (story.job().schedule().after() == null) {
      ensureAccounts(story, status);
    }
    if (story.job().overlap() != Overlap.ALLOW) {
      ensureApart(story);
      ensureFences(story);
    }
    ensureChanges(story);
    if (!mayForget) {
      ensureListened(story, status);
    }
    ensureAlive(story, status);
  }

  /** Nothing of a deleted job begins any more, but for runs that were left to finish. */
  void judgeDeleted(JobStory story) {
    // A put whose answer was lost may reach the store after the deletion, and create the job again.
    if (story.deletedAt == 0 || story.puts > story.defined.size()) {
      return;
    }
    count("DELETES", 1);
    Jobs jobs = new Jobs(store.truth(), drafts -> CompletableFuture.failedFuture(new IllegalStateException("judged")));
    jobs.find(story.name).join().ifPresent(status -> unmet.accept(JobSimulation.Check.CHANGE,
        "a job that was deleted does not exist: job=" + story.name + ", deletedAt=" + story.deletedAt + ", " + status));
    for (JobStory.Begun begun : story.begun) {
      if ((story.stopsRuns ? begun.claimedAt() : begun.time()) > story.deletedAt) {
        unmet.accept(JobSimulation.Check.CHANGE, "nothing of a job begins once it was deleted: job=" + story.name
            + ", deletedAt=" + story.deletedAt + ", stopsRuns=" + story.stopsRuns + ", " + begun);
      }
    }
  }

  // Times.

  private static Schedule schedule(Job job) {
    return job.schedule().schedule(job.name(), calendar -> null);
  }

  private static boolean isTime(Schedule schedule, long time) {
    Instant next = schedule.next(Instant.ofEpochMilli(time - 1));
    return next != null && next.toEpochMilli() == time;
  }

  private static long times(Schedule schedule, long after, long to) {
    return to <= after
        ? 0
        : schedule.count(Instant.ofEpochMilli(after), Instant.ofEpochMilli(to), Long.MAX_VALUE);
  }

  /** Every run is of a time that some definition had when it was in force, or that a caller asked for. */
  private void ensureScheduled(JobStory story, JobStatus status) {
    for (JobStory.Begun begun : story.begun) {
      if (begun.at() < begun.time()) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "no time begins early: job=" + story.name + ", " + begun);
      }
      boolean isKnown = begun.time() <= status.created().toEpochMilli() || story.job().schedule().after() != null
          || story.requests(begun.time()) > 0;
      for (int i = 0; !isKnown && i < story.defined.size(); i++) {
        JobStory.Defined defined = story.defined.get(i);
        long to = i + 1 < story.defined.size() ? story.defined.get(i + 1).to() : Long.MAX_VALUE;
        long from = i == 0 ? defined.from() - CREATED_BEHIND_MILLIS : defined.from();
        isKnown = begun.time() > from && begun.time() <= to
            && isTime(schedule(defined.job()), begun.time());
      }
      if (!isKnown) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "only scheduled times run: job=" + story.name + ", " + begun);
      }
    }
  }

  /** A shard of a time has one id, and each request for that time adds one. */
  private void ensureOnePerShard(JobStory story) {
    Map<String, Set<Object>> ids = new HashMap<>();
    for (JobStory.Begun begun : story.begun) {
      Set<Object> same = ids.computeIfAbsent(begun.time() + "/" + begun.shard() + begun.phase(),
          shard -> new HashSet<>());
      same.add(begun.id());
      if (same.size() > 1 + story.requests(begun.time())) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "a time fires under one id: job=" + story.name + ", " + begun);
      }
    }
  }

  private void ensureFiredIsRecorded(JobStory story, JobStatus status) {
    Set<Long> runs = new HashSet<>();
    List<Long> scheduled = new ArrayList<>();
    status.active().forEach(run -> {
      runs.add(run.time().toEpochMilli());
      if (run.origin() == 0) {
        scheduled.add(run.time().toEpochMilli());
      }
    });
    for (PastRun past : status.history()) {
      if (past.result().isRun()) {
        runs.add(past.from());
        if (past.origin() == 0) {
          scheduled.add(past.from());
        }
        if (past.result() == PastRun.Result.SUCCEEDED) {
          ensureAllBegan(story, past);
        } else if (past.result() == PastRun.Result.UNKNOWN) {
          // Records of tasks are kept for a day here.
          unmet.accept(JobSimulation.Check.SCHEDULE, "the shards of a run are inserted with it: job=" + story.name
              + ", " + past);
        }
      }
    }
    if (scheduled.size() != new HashSet<>(scheduled).size()) {
      unmet.accept(JobSimulation.Check.SCHEDULE, "a time runs once: job=" + story.name + ", runs=" + scheduled);
    }
    boolean isWhole = status.history().size() < story.job().history();
    if (isWhole && scheduled.size() != status.totals().fired()) {
      unmet.accept(JobSimulation.Check.SCHEDULE, "each run is recorded: job=" + story.name + ", runs="
          + scheduled.size() + ", " + status.totals());
    }
    for (JobStory.Begun begun : mayForget || !isWhole ? List.<JobStory.Begun>of() : story.begun) {
      if (!runs.contains(begun.time())) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "each run that began has a record: job=" + story.name + ", "
            + begun);
      }
    }
  }

  private void ensureAllBegan(JobStory story, PastRun past) {
    for (int shard = 0; shard < past.shards(); shard++) {
      int mine = shard;
      if (story.begun.stream().noneMatch(begun -> begun.time() == past.from() && begun.shard() == mine
          && begun.phase().isEmpty())) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "a run that succeeded was delivered: job=" + story.name
            + ", shard=" + shard + ", " + past);
      }
    }
  }

  /** Each scheduled time up to the next one has exactly one run or record. */
  private void ensureAccounts(JobStory story, JobStatus status) {
    Instant next = status.nextTime();
    if (next == null) {
      return; // Its runs failed so often that it is paused.
    }
    long decided = next.toEpochMilli() - 1;
    long least = 0;
    long most = 0;
    long from = status.created().toEpochMilli();
    for (int i = 0; i < story.defined.size(); i++) {
      Schedule mine = schedule(story.defined.get(i).job());
      boolean isLast = i + 1 == story.defined.size();
      long to = isLast ? decided : Math.min(decided, story.defined.get(i + 1).from());
      long sure = times(mine, from, to);
      least += sure;
      most += sure;
      if (!isLast) {
        JobStory.Defined after = story.defined.get(i + 1);
        long[] within = within(mine, schedule(after.job()), Math.max(from, to), Math.min(decided, after.to()));
        least += within[0];
        most += within[1];
        from = Math.max(from, Math.min(decided, after.to()));
      }
    }
    JobTotals totals = status.totals();
    long accounted = totals.fired() + totals.skipped() + totals.missed() + totals.paused() + waiting(story, status);
    if (accounted < least || accounted > most) {
      unmet.accept(JobSimulation.Check.SCHEDULE, "each scheduled time has one run or record: job=" + story.name
          + ", scheduled=" + least + ".." + most + ", accounted=" + accounted + ", waiting=" + status.waiting() + ", "
          + totals + ", created=" + status.created() + ", next=" + next + ", defined=" + story.defined);
    }
  }

  /** Returns how many scheduled times wait: requests are over by now, unless their times wait as well. */
  private static long waiting(JobStory story, JobStatus status) {
    long asked = story.requested.stream().mapToLong(each -> each.times().size()).sum();
    return status.waiting() - Math.max(0, asked - status.totals().requested());
  }

  /** Returns the least and the most times in a range in which one schedule takes over from another. */
  private static long[] within(Schedule before, Schedule after, long from, long to) {
    NavigableSet<Long> old = timesOf(before, from, to);
    List<Long> young = List.copyOf(timesOf(after, from, to));
    // The schedule changes at the beginning, or at the instant of one of the old times, or before one of the new ones.
    long least = young.size();
    long most = young.size();
    long kept = 0;
    int gone = 0;
    for (long time : old) {
      while (gone < young.size() && young.get(gone) < time) {
        gone++;
        least = Math.min(least, kept + young.size() - gone);
      }
      kept++;
      if (gone < young.size() && young.get(gone) == time) {
        gone++;
      }
      least = Math.min(least, kept + young.size() - gone);
      most = Math.max(most, kept + young.size() - gone);
    }
    return new long[]{Math.min(least, kept), Math.max(most, kept)};
  }

  private static NavigableSet<Long> timesOf(Schedule schedule, long from, long to) {
    NavigableSet<Long> times = new TreeSet<>();
    for (Instant time = schedule.next(Instant.ofEpochMilli(from)); time != null
        && time.toEpochMilli() <= to; time = schedule.next(time)) {
      times.add(time.toEpochMilli());
    }
    return times;
  }

  // Runs.

  private void ensureApart(JobStory story) {
    Map<String, Span> runs = new HashMap<>();
    for (TaskRecord shard : shards.getOrDefault(story.name, List.of())) {
      String time = String.valueOf(shard.body().headers().get(JobHeaders.SCHEDULED_AT));
      long to = shard.isLive() ? Long.MAX_VALUE : shard.changedAt();
      if (story.requests(Instant.parse(time).toEpochMilli()) == 0) {
        runs.merge(time, new Span(Instant.parse(time).toEpochMilli(), shard.createdAt(), to), JobJudge::and);
      }
    }
    List<Span> spans = runs.values().stream().sorted(Comparator.comparingLong(Span::from)).toList();
    for (int i = 1; i < spans.size(); i++) {
      if (spans.get(i).from() < spans.get(i - 1).to()) {
        unmet.accept(JobSimulation.Check.RUNS, "no run begins while one is active: job=" + story.name + ", overlap="
            + story.job().overlap() + ", " + spans.get(i - 1) + ", " + spans.get(i));
      }
    }
  }

  private static Span and(Span one, Span other) {
    return new Span(one.time(), Math.min(one.from(), other.from()), Math.max(one.to(), other.to()));
  }

  private void ensureFences(JobStory story) {
    if (mayForget) {
      return;
    }
    Map<String, List<JobStory.Begun>> byShard = new HashMap<>();
    story.begun.forEach(
        begun -> byShard.computeIfAbsent(begun.shard() + begun.phase(), shard -> new ArrayList<>()).add(begun));
    for (List<JobStory.Begun> attempts : byShard.values()) {
      attempts.sort(Comparator.comparingLong(JobStory.Begun::claimedAt));
      JobStory.Begun last = null;
      for (JobStory.Begun begun : attempts) {
        if (last != null && begun.claimedAt() > last.claimedAt() && !isAbove(begun, last)) {
          unmet.accept(JobSimulation.Check.FENCE, "fences grow over all runs: job=" + story.name + ", " + last + ", "
              + begun);
        }
        last = begun;
      }
    }
  }

  private static boolean isAbove(JobStory.Begun one, JobStory.Begun other) {
    return one.generation() > other.generation()
        || (one.generation() == other.generation() && one.attempt() > other.attempt());
  }

  private void ensureChanges(JobStory story) {
    story.mayResume(end);
    for (JobStory.Begun begun : story.begun) {
      for (JobStory.Pause pause : story.pauses) {
        // With a fixed delay, the time that passed in the pause is the first one after it.
        long at = story.job().schedule().after() == null ? begun.time() : begun.claimedAt();
        if (begun.time() > pause.answered() && at <= pause.until() && story.requests(begun.time()) == 0) {
          unmet.accept(JobSimulation.Check.CHANGE, "no time of a pause runs: job=" + story.name + ", " + pause + ", "
              + begun);
        }
      }
      for (JobStory.Stop stop : story.stops) {
        boolean isAskedAgain = story.requested.stream()
            .anyMatch(each -> each.times().contains(begun.time()) && each.answered() > stop.answered());
        if (begun.time() == stop.time() && begun.claimedAt() > stop.answered() && !isAskedAgain
            && !begun.phase().equals(AFTER)) {
          unmet.accept(JobSimulation.Check.CHANGE, "nothing of a run begins once it was stopped: job=" + story.name
              + ", " + stop + ", " + begun);
        }
      }
    }
  }

  // Listeners.

  /**
   * The tasks of one run, by the records of the store.
   *
   * @param before that before its shards, or null
   * @param after that after them, or null
   */
  private record Tasks(@Nullable TaskRecord before, List<TaskRecord> shards, @Nullable TaskRecord after) {}

  /** A time that was also asked for has several runs, whose tasks have the same headers: it is left out. */
  private void ensureListened(JobStory story, JobStatus status) {
    Map<Long, List<TaskRecord>> byTime = new HashMap<>();
    for (TaskRecord task : shards.getOrDefault(story.name, List.of())) {
      long time = Instant.parse(String.valueOf(task.body().headers().get(JobHeaders.SCHEDULED_AT))).toEpochMilli();
      if (story.requests(time) == 0) {
        byTime.computeIfAbsent(time, at -> new ArrayList<>()).add(task);
      }
    }
    byTime.forEach((time, tasks) -> {
      String run = "job=" + story.name + ", time=" + time;
      Tasks sorted = new Tasks(phase(tasks, BEFORE), tasks.stream().filter(task -> phase(task).isEmpty()).toList(),
          phase(tasks, AFTER));
      ensurePrepared(story, sorted, run);
      ensureTold(sorted, run);
      PastRun past = status.history().stream().filter(each -> each.from() == time && each.result().isRun()).findFirst()
          .orElse(null);
      if (past != null) {
        ensureToldWhatIsRecorded(story, past, sorted.after(), run);
      }
    });
  }

  private static String phase(TaskRecord task) {
    return task.body().headers().getOrDefault(JobHeaders.PHASE, "");
  }

  private static @Nullable TaskRecord phase(List<TaskRecord> tasks, String phase) {
    return tasks.stream().filter(task -> phase(task).equals(phase)).findFirst().orElse(null);
  }

  /** No shard is inserted before the task before them has succeeded. */
  private void ensurePrepared(JobStory story, Tasks tasks, String run) {
    TaskRecord before = tasks.before();
    count(BEFORE, before == null ? 0 : 1);
    for (TaskRecord shard : tasks.shards()) {
      boolean isPrepared = before == null
          ? !story.listens(RunPhase.BEFORE)
          : before.state() == TaskState.FINISHED && before.changedAt() <= shard.createdAt();
      if (!isPrepared) {
        unmet.accept(JobSimulation.Check.LISTENER, "no shard begins before the task before it has succeeded: " + run
            + ", before=" + before + ", shard=" + shard);
      }
    }
  }

  /** The task after the shards is inserted once all others have ended. */
  private void ensureTold(Tasks tasks, String run) {
    TaskRecord after = tasks.after();
    if (after == null) {
      return;
    }
    count(AFTER, 1);
    Stream<TaskRecord> others = Stream.concat(Stream.ofNullable(tasks.before()), tasks.shards().stream());
    others.filter(task -> task.isLive() || task.changedAt() > after.createdAt())
        .forEach(task -> unmet.accept(JobSimulation.Check.LISTENER, "a run ends before its last task begins: " + run
            + ", after=" + after + ", task=" + task));
  }

  /** A run that is over has told its listener the result of its record. */
  private void ensureToldWhatIsRecorded(JobStory story, PastRun past, @Nullable TaskRecord after, String run) {
    // A run that waited when it was stopped has no tasks.
    boolean isMissing = after == null && story.listens(RunPhase.AFTER) && past.shards() > 0;
    boolean isWrong = after != null
        && !past.result().name().equals(after.body().headers().get(JobHeaders.RUN_RESULT));
    if (isMissing || isWrong || (after != null && after.isLive())) {
      unmet.accept(JobSimulation.Check.LISTENER, "a listener is told the result of its run: " + run + ", " + past
          + ", after=" + after);
    }
  }

  // Liveness.

  private void ensureAlive(JobStory story, JobStatus status) {
    if (status.state() == JobStatus.State.PAUSED && story.job().pauseAfterFailures() > 0) {
      return;
    }
    long grace = BACK_MILLIS + world.store().patienceMillis() + world.leaseMillis() + world.maxBackoffMillis();
    Instant next = status.nextTime();
    boolean isBehind = story.job().schedule().after() == null && (next == null || next.toEpochMilli() < end - grace);
    // A run that times out or is replaced soon may end before any attempt while a slot has no owner.
    long last = Stream.concat(status.active().stream().map(run -> run.begun().toEpochMilli()),
        status.history().stream().map(PastRun::begun)).max(Comparator.naturalOrder()).orElse(0L);
    boolean isSilent = last < end - LAST_MILLIS;
    if (isBehind || isSilent) {
      unmet.accept(JobSimulation.Check.LIVENESS, "a job continues after the heal: job=" + story.name
          + ", lastRun=" + last + ", end=" + end + ", " + status);
    }
  }
}
