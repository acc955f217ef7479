package io.foliot.sim;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.TaskState;
import io.foliot.core.TaskRef;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.JobTotals;
import io.foliot.jobs.Jobs;
import io.foliot.jobs.PastRun;
import io.foliot.schedule.Schedule;
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
 * Checks jobs by the definitions that callers put, the attempts that the receiver got, and the records in the store at
 * the end. The judge enumerates the scheduled times itself.
 *
 * <p>The checks assume that a change takes effect between the beginning and the end of its call, and accept each such
 * instant.
 */
final class JobJudge {
  /** Tolerated lag of a job at the end, in addition to the lease, the longest backoff and the store's patience. */
  private static final long BACK_MILLIS = 15_000;
  /**
   * Largest lag of a job's creation time behind the store's clock. A scheduled time just before the put may therefore
   * have a run.
   */
  private static final long CREATED_BEHIND_MILLIS = 50;
  /** Longest time without a run before the end. The simulated jobs have periods of 10 s or less. */
  private static final long MAX_SILENCE_MILLIS = 45_000;
  /** The time within which a job that waits for room has a pass: ten seconds, and as long again for a lost node. */
  private static final long ROOM_MILLIS = 20_000;
  private static final int PAGE = 1_000;
  private static final String BEFORE = "before";
  private static final String AFTER = "after";
  private static final String FULL = "FULL";

  private final World world;
  private final SimStore store;
  private final long end;
  private final int maxShards;
  private final BiConsumer<JobSimulation.Check, String> unmet;
  private final boolean mayForget;
  private final Jobs jobs;
  private final Map<String, List<TaskRecord>> shards = new HashMap<>();
  private final SortedMap<String, Long> counts = new TreeMap<>();

  /** The period of a run, from the insertion of its first shard to the end of its last one. */
  private record Span(long time, long from, long to) {}

  JobJudge(World world, SimStore store, long end, int maxShards, BiConsumer<JobSimulation.Check, String> unmet) {
    this.world = world;
    this.store = store;
    this.end = end;
    this.maxShards = maxShards;
    this.unmet = unmet;
    mayForget = store.behaviour().windowMillis() > 0;
    jobs = new Jobs(store.truth(), drafts -> CompletableFuture.failedFuture(new IllegalStateException("read-only")));
    for (PastRun.Result result : PastRun.Result.values()) {
      counts.put(result.name(), 0L);
    }
    counts.put(BEFORE, 0L);
    counts.put(AFTER, 0L);
    counts.put(FULL, 0L);
    String cursor = null;
    do {
      RecordPage page = store.truth().query(JobCallers.QUEUE, null, PAGE, cursor).toCompletableFuture().join();
      page.tasks().forEach(task -> shards
          .computeIfAbsent(String.valueOf(task.body().headers().get(JobHeaders.JOB)), job -> new ArrayList<>())
          .add(task));
      cursor = page.cursor();
    } while (cursor != null);
  }

  /** Returns the number of observations of each kind. */
  SortedMap<String, Long> counts() {
    return counts;
  }

  private void count(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  /** Checks a job that existed until the end. */
  void judge(JobStory story) {
    JobStatus status = jobs.find(story.name).join().orElse(null);
    if (status == null || !story.over) {
      unmet.accept(JobSimulation.Check.LIVENESS, "each call returns after the heal: job=" + story.name
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
    ensureOneIdPerShard(story);
    ensureFiredIsRecorded(story, status);
    if (story.job().schedule().after() == null) {
      ensureEachTimeHasARecord(story, status);
    }
    if (story.job().overlap() != Overlap.ALLOW) {
      ensureNoOverlap(story);
      ensureFences(story);
    }
    ensureChanges(story);
    if (!mayForget) {
      ensureRoom(story);
      ensureListeners(story, status);
    }
    ensureProgress(story, status);
  }

  /**
   * Checks a job that existed until the end, in a world in which the store's clock was ahead for some time: each shard
   * of a scheduled time has one id, and the job continues at the right time.
   */
  void judgeAfterClockSet(JobStory story) {
    JobStatus status = jobs.find(story.name).join().orElse(null);
    if (status == null || !story.over) {
      unmet.accept(JobSimulation.Check.LIVENESS, "each call returns after the heal: job=" + story.name + ", status="
          + status);
      return;
    }
    ensureOneIdPerShard(story);
    ensureProgress(story, status);
    Instant next = status.nextTime();
    if (next != null && next.toEpochMilli() > end + BACK_MILLIS) {
      unmet.accept(JobSimulation.Check.LIVENESS, "a job is not ahead of the store's clock: job=" + story.name + ", end="
          + end + ", " + status);
    }
  }

  /** Ensures that no shard of a job begins after its deletion, except in runs that may finish. */
  void judgeDeleted(JobStory story) {
    // A put that failed or was lost may reach the store after the deletion, and create the job again.
    if (story.deletedAt == 0 || story.puts > story.defined.size()) {
      return;
    }
    count("DELETES", 1);
    jobs.find(story.name).join().ifPresent(status -> unmet.accept(JobSimulation.Check.CHANGE,
        "a deleted job does not exist: job=" + story.name + ", deletedAt=" + story.deletedAt + ", " + status));
    for (JobStory.Begun begun : story.begun) {
      if ((story.stopsRuns ? begun.claimedAt() : begun.time()) > story.deletedAt) {
        unmet.accept(JobSimulation.Check.CHANGE, "no shard of a deleted job begins: job=" + story.name
            + ", deletedAt=" + story.deletedAt + ", stopsRuns=" + story.stopsRuns + ", " + begun);
      }
    }
  }

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

  /**
   * Ensures that the time of each run was scheduled by the definition that was valid then, or was requested by a
   * caller.
   */
  private void ensureScheduled(JobStory story, JobStatus status) {
    for (JobStory.Begun begun : story.begun) {
      if (begun.at() < begun.time()) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "no run begins before its time: job=" + story.name + ", " + begun);
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
        unmet.accept(JobSimulation.Check.SCHEDULE,
            "each run has a scheduled or requested time: job=" + story.name + ", " + begun);
      }
    }
  }

  /** Ensures that a shard of a scheduled time has one id, plus one for each request of that time. */
  private void ensureOneIdPerShard(JobStory story) {
    Map<String, Set<Object>> ids = new HashMap<>();
    for (JobStory.Begun begun : story.begun) {
      Set<Object> same = ids.computeIfAbsent(begun.time() + "/" + begun.shard() + begun.phase(),
          shard -> new HashSet<>());
      same.add(begun.id());
      if (same.size() > 1 + story.requests(begun.time())) {
        unmet.accept(JobSimulation.Check.SCHEDULE,
            "a shard of a scheduled time has one id: job=" + story.name + ", " + begun);
      }
    }
  }

  /** Ensures that each run has one record, and that the record agrees with the attempts. */
  private void ensureFiredIsRecorded(JobStory story, JobStatus status) {
    Set<Long> runs = new HashSet<>();
    List<Long> scheduled = new ArrayList<>();
    status.active().forEach(run -> {
      runs.add(run.time().toEpochMilli());
      // The origin 0 is the schedule; any other origin is a request.
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
          ensureAllDelivered(story, past);
        } else if (past.result() == PastRun.Result.UNKNOWN) {
          // The records of ended shards are kept for three days, which is longer than any run.
          unmet.accept(JobSimulation.Check.SCHEDULE, "the result of each run is known: job=" + story.name
              + ", " + past);
        }
      }
    }
    if (scheduled.size() != new HashSet<>(scheduled).size()) {
      unmet.accept(JobSimulation.Check.SCHEDULE,
          "a scheduled time runs once: job=" + story.name + ", runs=" + scheduled);
    }
    boolean isComplete = status.history().size() < story.job().history();
    if (isComplete && scheduled.size() != status.totals().fired()) {
      unmet.accept(JobSimulation.Check.SCHEDULE, "each run is recorded: job=" + story.name + ", runs="
          + scheduled.size() + ", " + status.totals());
    }
    for (JobStory.Begun begun : mayForget || !isComplete ? List.<JobStory.Begun>of() : story.begun) {
      if (!runs.contains(begun.time())) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "each run that began has a record: job=" + story.name + ", "
            + begun);
      }
    }
  }

  private void ensureAllDelivered(JobStory story, PastRun past) {
    for (int shard = 0; shard < past.shards(); shard++) {
      int mine = shard;
      if (story.begun.stream().noneMatch(begun -> begun.time() == past.from() && begun.shard() == mine
          && begun.phase().isEmpty())) {
        unmet.accept(JobSimulation.Check.SCHEDULE, "each shard of a run that succeeded was delivered: job=" + story.name
            + ", shard=" + shard + ", " + past);
      }
    }
  }

  /** Ensures that there are as many runs and records as scheduled times up to the cursor. */
  private void ensureEachTimeHasARecord(JobStory story, JobStatus status) {
    Instant next = status.nextTime();
    if (next == null) {
      return; // The job is paused because its runs failed too often.
    }
    long decided = next.toEpochMilli() - 1;
    long least = 0;
    long most = 0;
    long from = status.created().toEpochMilli();
    for (int i = 0; i < story.defined.size(); i++) {
      Schedule mine = schedule(story.defined.get(i).job());
      boolean isLast = i + 1 == story.defined.size();
      long to = isLast ? decided : Math.min(decided, story.defined.get(i + 1).from());
      long certain = times(mine, from, to);
      least += certain;
      most += certain;
      if (!isLast) {
        JobStory.Defined after = story.defined.get(i + 1);
        long[] counts = countsAcrossSwitch(mine, schedule(after.job()), Math.max(from, to),
            Math.min(decided, after.to()));
        least += counts[0];
        most += counts[1];
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

  /** Returns the number of scheduled times that wait for their run, without requested times. */
  private static long waiting(JobStory story, JobStatus status) {
    long requested = story.requested.stream().mapToLong(each -> each.times().size()).sum();
    return status.waiting() - Math.max(0, requested - status.totals().requested());
  }

  /**
   * Returns the least and the greatest number of scheduled times in a range in which one schedule replaces another.
   *
   * @param from the beginning of the range, exclusive
   * @param to the end of the range, inclusive
   */
  private static long[] countsAcrossSwitch(Schedule before, Schedule after, long from, long to) {
    NavigableSet<Long> oldTimes = timesOf(before, from, to);
    List<Long> newTimes = List.copyOf(timesOf(after, from, to));
    // The switch is at the beginning, at an old time, or just before a new time. For each of these instants, the count
    // is the number of old times up to the switch plus the number of new times after the switch.
    long least = newTimes.size();
    long most = newTimes.size();
    long kept = 0;
    int passed = 0;
    for (long time : oldTimes) {
      while (passed < newTimes.size() && newTimes.get(passed) < time) {
        passed++;
        least = Math.min(least, kept + newTimes.size() - passed);
      }
      kept++;
      if (passed < newTimes.size() && newTimes.get(passed) == time) {
        passed++;
      }
      least = Math.min(least, kept + newTimes.size() - passed);
      most = Math.max(most, kept + newTimes.size() - passed);
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

  private void ensureNoOverlap(JobStory story) {
    Map<String, Span> runs = new HashMap<>();
    for (TaskRecord shard : shards.getOrDefault(story.name, List.of())) {
      String time = String.valueOf(shard.body().headers().get(JobHeaders.SCHEDULED_AT));
      long to = shard.isLive() ? Long.MAX_VALUE : shard.changedAt();
      if (story.requests(Instant.parse(time).toEpochMilli()) == 0) {
        runs.merge(time, new Span(Instant.parse(time).toEpochMilli(), shard.createdAt(), to), JobJudge::union);
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

  /**
   * Ensures that no run began while the job had as many unfinished shards as its queue permits. The shards of other
   * jobs are not considered, because nodes do not know the shards of jobs that other nodes plan.
   */
  private void ensureRoom(JobStory story) {
    int unfinished = 0;
    int most = 0;
    for (int change : changes(shards.getOrDefault(story.name, List.of()).stream()).values()) {
      unfinished += change;
      most = Math.max(most, unfinished);
    }
    count(FULL, most >= maxShards ? 1 : 0);
    int largest = maxShards - 1 + story.job().shards();
    if (most > largest) {
      unmet.accept(JobSimulation.Check.ROOM, "no run begins while the job has all shards that its queue permits: job="
          + story.name + ", unfinished=" + most + ", largest=" + largest);
    }
  }

  /** Returns by how much the number of unfinished shards changes at each instant, in the order of the instants. */
  private static SortedMap<Long, Integer> changes(Stream<TaskRecord> tasks) {
    SortedMap<Long, Integer> changes = new TreeMap<>();
    tasks.filter(task -> phase(task).isEmpty()).forEach(shard -> {
      changes.merge(shard.createdAt(), 1, Integer::sum);
      changes.merge(shard.isLive() ? Long.MAX_VALUE : shard.changedAt(), -1, Integer::sum);
    });
    return changes;
  }

  /** Returns the longest time after an instant for which the queue of the jobs permitted another run. */
  private long longestRoomMillis(long from) {
    SortedMap<Long, Integer> changes = changes(shards.values().stream().flatMap(List::stream));
    changes.merge(end, 0, Integer::sum);
    long longest = 0;
    long freeFrom = from;
    int unfinished = 0;
    for (Map.Entry<Long, Integer> change : changes.entrySet()) {
      if (unfinished < maxShards) {
        longest = Math.max(longest, Math.min(end, change.getKey()) - Math.max(from, freeFrom));
      }
      unfinished += change.getValue();
      freeFrom = change.getKey();
    }
    return longest;
  }

  private static Span union(Span one, Span other) {
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
          unmet.accept(JobSimulation.Check.FENCE,
              "the fences of a shard grow from attempt to attempt: job=" + story.name + ", " + last + ", "
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
        // With a fixed delay, the run of a scheduled time within the pause begins right after the pause.
        long at = story.job().schedule().after() == null ? begun.time() : begun.claimedAt();
        if (begun.time() > pause.answered() && at <= pause.until() && story.requests(begun.time()) == 0) {
          unmet.accept(JobSimulation.Check.CHANGE,
              "no run begins for a time within a pause: job=" + story.name + ", " + pause + ", "
                  + begun);
        }
      }
      for (JobStory.Stop stop : story.stops) {
        if (begun.time() == stop.time() && begun.claimedAt() > stop.answered() && !begun.phase().equals(AFTER)
            && !story.isRequestedAfter(begun.time(), stop.answered())) {
          unmet.accept(JobSimulation.Check.CHANGE, "no shard of a stopped run begins: job=" + story.name
              + ", " + stop + ", " + begun);
        }
      }
    }
  }

  /**
   * The tasks of one run, by the records of the store.
   *
   * @param before the listener that runs before the shards, or null
   * @param after the listener that runs after the shards, or null
   */
  private record Tasks(@Nullable TaskRecord before, List<TaskRecord> shards, @Nullable TaskRecord after) {}

  /**
   * Ensures that listeners run in order and get the result. Skips requested times, because such a time may have several
   * runs, whose tasks have the same headers.
   */
  private void ensureListeners(JobStory story, JobStatus status) {
    Map<Long, List<TaskRecord>> byTime = new HashMap<>();
    for (TaskRecord task : shards.getOrDefault(story.name, List.of())) {
      long time = Instant.parse(String.valueOf(task.body().headers().get(JobHeaders.SCHEDULED_AT))).toEpochMilli();
      if (story.requests(time) == 0) {
        byTime.computeIfAbsent(time, at -> new ArrayList<>()).add(task);
      }
    }
    byTime.forEach((time, tasks) -> {
      String run = "job=" + story.name + ", time=" + time;
      Tasks byPhase = new Tasks(phase(tasks, BEFORE), tasks.stream().filter(task -> phase(task).isEmpty()).toList(),
          phase(tasks, AFTER));
      ensurePrepared(story, byPhase, run);
      ensureAfterIsLast(byPhase, run);
      PastRun past = status.history().stream().filter(each -> each.from() == time && each.result().isRun()).findFirst()
          .orElse(null);
      if (past != null) {
        ensureListenerGotTheResult(story, past, byPhase.after(), run);
      }
    });
  }

  private static String phase(TaskRecord task) {
    return task.body().headers().getOrDefault(JobHeaders.PHASE, "");
  }

  private static @Nullable TaskRecord phase(List<TaskRecord> tasks, String phase) {
    return tasks.stream().filter(task -> phase(task).equals(phase)).findFirst().orElse(null);
  }

  /** Ensures that shards were inserted only after the listener before them had succeeded. */
  private void ensurePrepared(JobStory story, Tasks tasks, String run) {
    TaskRecord before = tasks.before();
    count(BEFORE, before == null ? 0 : 1);
    for (TaskRecord shard : tasks.shards()) {
      boolean isPrepared = before == null
          ? !story.listens(RunPhase.BEFORE)
          : before.state() == TaskState.FINISHED && before.changedAt() <= shard.createdAt();
      if (!isPrepared) {
        unmet.accept(JobSimulation.Check.LISTENER, "shards begin after the success of the task before them: " + run
            + ", before=" + before + ", shard=" + shard);
      }
    }
  }

  /** Ensures that the listener after the shards was inserted only after all other tasks had ended. */
  private void ensureAfterIsLast(Tasks tasks, String run) {
    TaskRecord after = tasks.after();
    if (after == null) {
      return;
    }
    count(AFTER, 1);
    Stream<TaskRecord> others = Stream.concat(Stream.ofNullable(tasks.before()), tasks.shards().stream());
    others.filter(task -> task.isLive() || task.changedAt() > after.createdAt())
        .forEach(task -> unmet.accept(JobSimulation.Check.LISTENER,
            "the last task of a run begins after all others have ended: " + run
                + ", after=" + after + ", task=" + task));
  }

  /** Ensures that the listener of an ended run got the result that the job records. */
  private void ensureListenerGotTheResult(JobStory story, PastRun past, @Nullable TaskRecord after, String run) {
    // A run that was stopped while it waited has no tasks.
    boolean isMissing = after == null && story.listens(RunPhase.AFTER) && past.shards() > 0;
    boolean isWrong = after != null
        && !past.result().name().equals(after.body().headers().get(JobHeaders.RUN_RESULT));
    if (isMissing || isWrong || (after != null && after.isLive())) {
      unmet.accept(JobSimulation.Check.LISTENER, "a listener gets the result of its run: " + run + ", " + past
          + ", after=" + after);
    }
  }

  private void ensureProgress(JobStory story, JobStatus status) {
    if (status.state() == JobStatus.State.PAUSED && story.job().pauseAfterFailures() > 0) {
      return;
    }
    long grace = BACK_MILLIS + world.store().patienceMillis() + world.leaseMillis() + world.maxBackoffMillis();
    Instant next = status.nextTime();
    boolean isBehind = story.job().schedule().after() == null && (next == null || next.toEpochMilli() < end - grace);
    // The time of a run is that of its insertion, not of its first attempt. While a slot has no owner, a run that times
    // out or is replaced may end without an attempt. A time that ran while the store's clock was ahead does not run
    // again when it comes.
    long last = Stream.concat(status.active().stream().map(run -> run.begun().toEpochMilli()),
        status.history().stream().map(past -> Math.max(past.begun(), past.to()))).max(Comparator.naturalOrder())
        .orElse(0L);
    // The jobs of a full queue share its room in no order, so a job may wait for as long as others fill the queue.
    boolean hasRoom = status.waiting() == 0 || longestRoomMillis(last) > ROOM_MILLIS;
    boolean isSilent = last < end - MAX_SILENCE_MILLIS && hasRoom;
    if (isBehind || isSilent) {
      unmet.accept(JobSimulation.Check.LIVENESS, "a job continues after the heal: job=" + story.name
          + ", lastRun=" + last + ", end=" + end + ", " + status);
    }
  }
}
