package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Scope;
import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.Schedule;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Jobs as callers see them: their records, plus the ends of shards that no pass has recorded yet. Thread-safe. */
final class JobViews {
  private final TaskStore store;
  private final JobHost host;
  private final Calendars calendars;
  private final StoreTime time;
  private final Supplier<@Nullable Fleet> fleet;
  private final Allocators allocators;

  JobViews(TaskStore store, JobHost host, Calendars calendars, StoreTime time, Supplier<@Nullable Fleet> fleet,
      Allocators allocators) {
    this.fleet = fleet;
    this.allocators = allocators;
    this.store = store;
    this.host = host;
    this.calendars = calendars;
    this.time = time;
  }

  /** Returns a job as if a pass had already recorded the ends of its shards. The pass itself may come minutes later. */
  CompletionStage<JobStatus> of(TaskRecord task) {
    return ends(List.of(task)).thenCompose(ends -> of(task, ends));
  }

  /** Returns several jobs, each as {@link #of(TaskRecord)} returns it, in the order of the records. */
  CompletionStage<List<JobStatus>> of(List<TaskRecord> tasks) {
    return ends(tasks).thenCompose(ends -> {
      CompletionStage<List<JobStatus>> all = CompletableFuture.completedFuture(new ArrayList<>());
      for (TaskRecord task : tasks) {
        all = all.thenCombine(of(task, ends), (list, status) -> {
          list.add(status);
          return list;
        });
      }
      return all;
    });
  }

  /** Returns the ends of shards that no pass has recorded yet. Reads at most {@link JobLife#MAX_READ} shards. */
  private CompletionStage<Map<TaskId, ShardEnd>> ends(List<TaskRecord> tasks) {
    List<TaskId> wanted = new ArrayList<>();
    for (TaskRecord task : tasks) {
      JobRecord record = JobRecordFormat.decodeIfReadable(task);
      if (record != null && wanted.size() < JobLife.MAX_READ) {
        wanted.addAll(JobLife.wanted(record));
      }
    }
    return ShardEnd.read(store, wanted.subList(0, Math.min(wanted.size(), JobLife.MAX_READ)));
  }

  private CompletionStage<JobStatus> of(TaskRecord task, Map<TaskId, ShardEnd> ends) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    if (record == null) {
      return CompletableFuture.completedFuture(new JobStatus(String.valueOf(task.key()), JobStatus.State.ERROR, null, 0,
          Instant.ofEpochMilli(task.createdAt()), null, null, List.of(), 0, List.of(), List.of(), JobTotals.NONE,
          false, "", "its record cannot be read; put the job again", null));
    }
    String error = task.attempt() > 0 && task.state() == TaskState.DELAYED && !task.attempts().isEmpty()
        ? task.attempts().getLast().message()
        : "";
    // Times in a pause do not run. If the pause has no end, the upcoming times are those after now.
    CompletionStage<Long> now = record.paused() != null && record.paused().until() == JobRecord.Paused.OPEN
        ? time.estimated(record.job().name())
        : CompletableFuture.completedFuture(task.changedAt());
    return calendars.of(record.job().schedule()).thenCompose(known -> now.thenCompose(
        millis -> checked(noted(record, task, ends, known), task.changedAt(), millis, known, error)));
  }

  /** Returns a job whose record a caller wrote at {@code now}, in milliseconds since 1970. */
  CompletionStage<JobStatus> written(JobRecord record, long now) {
    return calendars.of(record.job().schedule()).thenCompose(known -> checked(record, now, now, known, ""));
  }

  private static JobRecord noted(JobRecord record, TaskRecord task, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> known) {
    try {
      return JobLife.noted(record, task.changedAt(), ends, known);
    } catch (IllegalArgumentException e) {
      return record; // A calendar is missing; the status shows the error.
    }
  }

  private CompletionStage<JobStatus> checked(JobRecord record, long written, long now,
      Function<String, @Nullable Calendar> known, String error) {
    String queue = record.job().queue();
    boolean isIdle = record.active().isEmpty() && record.waiting().isEmpty();
    boolean mayWait = fleet.get() != null && !(isIdle && record.job().scope() == Scope.ONE);
    CompletionStage<Boolean> hasWorkers = mayWait
        ? host.hasWorkers(queue)
        : CompletableFuture.completedFuture(false);
    return host.hasQueue(queue).thenCombine(hasWorkers, (exists, workers) -> status(record, written, now, known,
        workers ? fleet.get() : null,
        exists ? error : "its queue does not exist; its runs wait until it is created again: queue=" + queue));
  }

  /**
   * Returns the status of a job. A pause is shown only if it lasts beyond the write of the record.
   *
   * @param written when the record was written, in milliseconds since 1970
   * @param now if the job is paused without an end, the upcoming times are those after this instant
   * @param workers the workers, or null if they are unknown or do not take the tasks of the job's queue
   */
  private JobStatus status(JobRecord record, long written, long now,
      Function<String, @Nullable Calendar> known, @Nullable Fleet workers, String error) {
    Job job = record.job();
    JobRecord.Paused paused = record.paused() != null && record.paused().holdsAfter(written) ? record.paused() : null;
    Instant next = null;
    List<ZonedDateTime> upcoming = List.of();
    String problem = error;
    String waitsFor = "";
    try {
      waitsFor = Rewind.isAhead(record, time.wallMillis())
          ? "was planned while the store's clock was ahead, up to " + Instant.ofEpochMilli(record.cursor())
              + "; it waits until this node and the store agree on the time, or for 'foliot jobs rewind " + job.name()
              + "'"
          : waitsFor(record, workers);
      Schedule schedule = job.schedule().schedule(job.name(), known);
      JobEdit decided = new JobEdit(record);
      decided.cursor = decidedUpTo(record, 0);
      long millis = paused != null && paused.until() == JobRecord.Paused.OPEN
          ? Long.MAX_VALUE
          : ScheduledTimes.next(decided, schedule);
      next = millis == Long.MAX_VALUE ? null : Instant.ofEpochMilli(millis);
      upcoming = record.isEnded() ? List.of() : upcoming(record, schedule, now, JobStatus.UPCOMING);
    } catch (IllegalArgumentException e) {
      problem = String.valueOf(e.getMessage());
    }
    boolean isOver = next == null && record.waiting().isEmpty() && record.active().isEmpty();
    JobStatus.State state = !problem.isEmpty()
        ? JobStatus.State.ERROR
        : paused != null ? JobStatus.State.PAUSED : isOver ? JobStatus.State.COMPLETED : JobStatus.State.ACTIVE;
    JobStatus.Pause pause = paused == null
        ? null
        : new JobStatus.Pause(Instant.ofEpochMilli(paused.since()),
            paused.until() == JobRecord.Paused.OPEN ? null : Instant.ofEpochMilli(paused.until()), paused.reason(),
            paused.actor());
    return new JobStatus(job.name(), state, job, record.version(), Instant.ofEpochMilli(record.created()), pause,
        next, upcoming, record.waiting().size(), record.active().stream().map(run -> active(run, workers)).toList(),
        record.history().reversed(), record.totals(), record.isEnded(), waitsFor, problem, latestFailure(record));
  }

  /**
   * Returns the reason why an active run waits for workers, of which the oldest such run is named, and whether the
   * latest pass found no room for a further run in the queue. If neither is so, no run is active and the job is not
   * paused, returns the reason why the next waiting time cannot begin. If no time waits either, returns the reason why
   * the next scheduled time would have no worker or no allocator. Returns an empty text if there is no such reason.
   *
   * @throws InvalidSettingException if the run of the next waiting time would be too large, even while a run is active
   */
  private String waitsFor(JobRecord record, @Nullable Fleet workers) {
    Job job = record.job();
    Body next = record.waiting().isEmpty()
        ? job.parameter()
        : new JobEdit(record).parameter(record.waiting().getFirst().origin());
    if (!record.waiting().isEmpty() && record.paused() == null) {
      RunPlaces.ensureFits(job, next, workers);
    }
    String room = record.lacksRoom()
        ? "waits until the jobs of queue " + job.queue() + " have fewer unfinished shards; to permit more, run"
            + " 'foliot queues set " + job.queue() + " --max-shards NUMBER'"
        : "";
    if (workers != null) {
      for (Run run : record.active()) {
        String reason = run.isStopping() ? "" : RunPlaces.waitsFor(job, run, workers);
        if (!reason.isEmpty()) {
          return room.isEmpty() ? reason : reason + ", and " + room;
        }
      }
    }
    if (!room.isEmpty()) {
      return room;
    }
    if (!record.active().isEmpty() || record.paused() != null) {
      return "";
    }
    if (!record.waiting().isEmpty()) {
      return switch (RunPlaces.choose(job, next, Attendance.of(workers), 0, allocators)) {
        case RunPlaces.Wait wait -> wait.reason();
        case RunPlaces.NoTargets none -> RunPlaces.waitsForWorker(job.queue());
        case RunPlaces.Begin begin -> beginsElsewhere(job);
        case RunPlaces.TooLarge large -> beginsElsewhere(job);
      };
    }
    if (record.isEnded()) {
      return "";
    }
    if (job.allocation() == Allocation.OWN && !allocators.has(job.allocator())) {
      return "needs " + Allocators.missing(job.allocator());
    }
    return workers == null ? "" : RunPlaces.wouldMiss(job, workers);
  }

  /** The node that plans the job may have read another fleet, or may have other allocators. */
  private static String beginsElsewhere(Job job) {
    return job.allocation() == Allocation.OWN
        ? "waits until the node that plans the job assigns its shards: allocator=" + job.allocator()
        : "";
  }

  /**
   * Returns a shard or listener that failed and waits for its next attempt; empty if none is found. Reads at most
   * {@link JobLife#MAX_READ} tasks.
   */
  CompletionStage<Optional<Jobs.FailedShard>> failedShard(TaskRecord task) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    if (record == null || record.active().isEmpty()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    return ShardEnd.tasks(store, JobLife.wanted(record)).thenApply(found -> found.stream().filter(Objects::nonNull)
        .flatMap(Optional::stream)
        .filter(shard -> shard.isLive() && shard.state() != TaskState.RUNNING && !shard.attempts().isEmpty())
        .findFirst().map(JobViews::failed));
  }

  private static Jobs.FailedShard failed(TaskRecord shard) {
    Map<String, String> headers = shard.body().headers();
    return new Jobs.FailedShard(headers.getOrDefault(JobHeaders.SCHEDULED_AT, ""),
        headers.getOrDefault(JobHeaders.ZONE, ""), headers.getOrDefault(JobHeaders.SHARD, ""), shard.attempt(),
        shard.attempts().getLast().message(), Instant.ofEpochMilli(shard.dueAt()));
  }

  private static List<JobStatus.RunTarget> targets(Run run, @Nullable Fleet fleet) {
    Map<Targets.Place, List<Integer>> shards = new LinkedHashMap<>();
    for (int shard = 0; shard < run.targets().shards(); shard++) {
      shards.computeIfAbsent(run.targets().place(shard), place -> new ArrayList<>()).add(shard);
    }
    List<JobStatus.RunTarget> targets = new ArrayList<>();
    shards.forEach((place, numbers) -> {
      boolean isSeat = place.address().kind() != Address.Kind.ZONE;
      Fleet.Seat seat = isSeat && fleet != null ? fleet.seat(place.address().number()) : null;
      targets.add(new JobStatus.RunTarget(place.zone(), isSeat ? Address.place(place.address().number()) : -1,
          seat == null ? "" : seat.worker(), numbers.stream().map(run.targets()::numberInZone).toList(),
          (int) numbers.stream().filter(run.ended()::get).count()));
    });
    return targets;
  }

  private static JobStatus.ActiveRun active(Run run, @Nullable Fleet fleet) {
    return new JobStatus.ActiveRun(Instant.ofEpochMilli(run.time()), run.origin(), run.shards(),
        run.ended().cardinality(), run.failed().cardinality(), Instant.ofEpochMilli(run.begun()),
        run.deadline() == 0 ? null : Instant.ofEpochMilli(run.deadline()), run.isStopping(),
        targets(run, fleet), run.phase(), run.reason());
  }

  private static JobStatus.@Nullable Failure latestFailure(JobRecord record) {
    for (Run run : record.active().reversed()) {
      if (!run.reason().isEmpty()) {
        return new JobStatus.Failure(Instant.ofEpochMilli(run.time()), run.origin(), run.reason());
      }
    }
    return record.history().reversed().stream().filter(past -> !past.reason().isEmpty()).findFirst()
        .map(past -> new JobStatus.Failure(Instant.ofEpochMilli(past.from()), past.origin(), past.reason()))
        .orElse(null);
  }

  /**
   * Returns an instant, in milliseconds since 1970. The scheduled times of the job up to this instant have been
   * decided, or will not run because of a pause.
   *
   * @param now the present, in milliseconds since 1970. During a pause without an end, no scheduled time up to this
   *     instant will run
   */
  static long decidedUpTo(JobRecord record, long now) {
    JobRecord.Paused paused = record.paused();
    return paused == null
        ? record.cursor()
        : Math.max(record.cursor(), paused.until() == JobRecord.Paused.OPEN ? now : paused.until() - 1);
  }

  /**
   * Returns the next scheduled times of a job, without those that have run already.
   *
   * @param now during a pause without an end, no time up to this instant is returned; in milliseconds since 1970
   */
  static List<ZonedDateTime> upcoming(JobRecord record, Schedule schedule, long now, int count) {
    JobEdit decided = new JobEdit(record);
    decided.cursor = decidedUpTo(record, now);
    Set<Long> ran = decided.ranAhead();
    return preview(schedule, decided.cursor, count + ran.size()).stream()
        .filter(time -> !ran.contains(time.toInstant().toEpochMilli())).limit(count).toList();
  }

  /** Returns the first times of a schedule after an instant, which is given in milliseconds since 1970. */
  static List<ZonedDateTime> preview(Schedule schedule, long after, int count) {
    return schedule.preview(Instant.ofEpochMilli(after), count);
  }
}
