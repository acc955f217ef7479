package io.foliot.jobs;

import io.foliot.core.Body;
import io.foliot.core.Limits;
import io.foliot.core.OnConflict;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Due;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.jobs.schedule.Calendar;
import io.foliot.jobs.schedule.ScheduleSettings;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The recurring jobs of a store, for callers that create, change and run them. Thread-safe; no method blocks.
 *
 * <p>Each change of a job, except a delete, is a compare-and-set: it reads the record of the job, applies {@link
 * JobChange} at the store's time, and writes the new record. If the stored record has changed since the read, the
 * change begins again. A change based on an old record therefore never replaces a newer record, and the result of a
 * change is valid on every node. A change is retried, with growing pauses, while a planning pass of the job runs. A
 * pass takes some milliseconds. If the third retry fails, the planner of this process delays the next pass. After six
 * seconds a change fails with {@link OverloadedException} and has no effect.
 *
 * <p>Futures fail with {@link IllegalArgumentException} for a request that can never work, and with
 * {@link UnknownJobException} for a job that does not exist. They also fail with the exceptions of
 * {@link io.foliot.core.Scheduler}.
 *
 * <p>This class is one file because all calls that change a job share the retries described above.
 */
public final class Jobs {
  private final TaskStore store;
  private final JobHost host;
  private final JobSurroundings surroundings;
  private final Supplier<@Nullable Fleet> fleet;
  private final Repeats repeats;
  private final Calendars calendars;
  private final StoreTime time;
  private final JobViews views;
  private final JobCount count;

  /** Thrown when there is no job with that name. */
  public static final class UnknownJobException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String job;

    UnknownJobException(String job) {
      super("there is no such job: job=" + job, null, false, false);
      this.job = job;
    }

    /** Returns the name of the job. */
    public String job() {
      return job;
    }
  }

  /** Thrown when no run of that time is active or waits, so that there is nothing to stop. */
  public static final class UnknownRunException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnknownRunException(String job, Instant time) {
      super("no run of that time is active or waits: job=" + job + ", time=" + time);
    }
  }

  /** Thrown when there are as many jobs as the host permits. Nothing was done. */
  public static final class TooManyJobsException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final long max;

    TooManyJobsException(String job, long max) {
      super("there are as many jobs as permitted, and a deleted job counts for up to half a minute: job=" + job
          + ", max=" + max, null, false, false);
      this.max = max;
    }

    /** Returns the maximum number of jobs. */
    public long max() {
      return max;
    }
  }

  /**
   * The effect of a put.
   *
   * @param status the job
   * @param isNew whether no job of this name existed before
   */
  public record Put(JobStatus status, boolean isNew) {}

  /**
   * An accepted request for runs.
   *
   * @param times the times of the runs: scheduled times, or the time of a trigger
   * @param origin the number of the request; a time and this number identify a run
   * @param isRepeated whether a request with the same key was accepted before, so that nothing was done
   */
  public record Requested(List<Instant> times, long origin, boolean isRepeated) {}

  /**
   * A shard or listener of a run that waits for its next attempt.
   *
   * @param scheduledAt the scheduled time of the shard's run, in RFC 3339
   * @param zone the zone in which the shard runs, or empty
   * @param shard the number of the shard; 0 for a listener
   * @param attempt the number of the attempt that failed
   * @param reason why that attempt failed
   * @param next when the next attempt begins
   */
  public record FailedShard(String scheduledAt, String zone, String shard, int attempt, String reason, Instant next) {}

  /**
   * A page of jobs.
   *
   * @param jobs the jobs, in no particular order
   * @param next where the next page begins, or null if there is none
   */
  public record Page(List<JobStatus> jobs, @Nullable String next) {}

  /** The record of a job as it was read. */
  private record Stored(JobRecord record, TaskRecord task) {}

  /** Creates the jobs of a store for a process without a planner. With a planner, use {@link JobPlanner#jobs}. */
  public Jobs(TaskStore store, JobHost host) {
    this(store, host, new ProcessSurroundings());
  }

  /** Creates the jobs of a store for a process without a planner, with the given clock, timer and random bits. */
  public Jobs(TaskStore store, JobHost host, JobSurroundings surroundings) {
    this(store, host, surroundings, new JobTurns(), () -> null, Allocators.NONE);
  }

  /**
   * @param turns shared with the planner of this process
   * @param fleet returns the workers that the planner of this process has read most recently, or null before its first
   *     read
   * @param allocators the allocators of that planner
   */
  Jobs(TaskStore store, JobHost host, JobSurroundings surroundings, JobTurns turns, Supplier<@Nullable Fleet> fleet,
      Allocators allocators) {
    this.store = store;
    this.host = host;
    this.surroundings = surroundings;
    this.fleet = fleet;
    repeats = new Repeats(surroundings, turns, this::wake);
    calendars = new Calendars(store);
    time = new StoreTime(store, surroundings);
    views = new JobViews(store, host, calendars, time, fleet, allocators);
    count = new JobCount(store, surroundings);
  }

  /**
   * Creates a job or replaces its definition. A put of the current definition changes nothing, unless a handler has
   * ended the job: then its scheduled times run again. Fails with {@link TooManyJobsException} if the job is new and
   * there are as many jobs as the host permits.
   */
  public CompletableFuture<Put> put(Job job) {
    return create(job, JobChange::create, (record, now, known) -> JobChange.put(record, job, now, known));
  }

  /**
   * Creates a job or replaces its definition with one from code, unless the same definition is among the latest eight
   * that code has declared. A change by a caller therefore remains until the code changes. During a rolling deployment,
   * an instance with the old code changes nothing.
   */
  public CompletableFuture<Put> declare(Job job) {
    return create(job, JobChange::declared, (record, now, known) -> JobChange.declare(record, job, now, known));
  }

  /**
   * Changes the definition of a job. The change is computed from the definition in the store, and is computed again if
   * the job changes meanwhile, so that it keeps changes that other callers make at the same time.
   *
   * @param edit returns the new definition, which has the same name; it must not block
   */
  public CompletableFuture<JobStatus> edit(String name, UnaryOperator<Job> edit) {
    return repeats.untilTaken(name, () -> stored(name).thenCompose(found -> {
      if (found == null) {
        return busy();
      }
      Job old = found.record().job();
      Job next = edit.apply(old);
      return ensureWorkers(next).thenCompose(ensured -> calendars.of(next.schedule()))
          .thenCompose(known -> calendars.of(old.schedule()).thenCompose(before -> time.now(name)
              .thenCompose(now -> changed(found,
                  JobChange.put(found.record(), next, now, calendar -> either(known, before, calendar)), now))));
    }));
  }

  /** Computes the record of a new job. */
  private interface Creation {
    JobRecord apply(Job job, long now, Function<String, @Nullable Calendar> known);
  }

  /** Computes the next record of a job. */
  private interface Change {
    JobRecord apply(JobRecord record, long now, Function<String, @Nullable Calendar> known);
  }

  private CompletableFuture<Put> create(Job job, Creation creation, Change change) {
    return ensureWorkers(job).thenCompose(ensured -> write(job, creation, change)).toCompletableFuture();
  }

  /** Fails if a job needs workers, and the tasks of its queue are not taken by workers. */
  private CompletionStage<Boolean> ensureWorkers(Job job) {
    boolean isOwn = job.allocation() == Allocation.OWN;
    if (job.scope() == Scope.ONE && !isOwn) {
      return CompletableFuture.completedFuture(true);
    }
    return host.hasWorkers(job.queue()).thenApply(hasWorkers -> {
      if (!hasWorkers) {
        throw new IllegalArgumentException((isOwn ? "allocation OWN" : "scope " + job.scope())
            + " is for queues whose tasks workers take, and the tasks of this queue are delivered to an address;"
            + " choose " + (isOwn ? "another allocation" : "scope ONE") + ": job=" + job.name() + ", queue="
            + job.queue());
      }
      return true;
    });
  }

  /** Writes a job. The first try assumes that the job is new, and does not read it. */
  private CompletableFuture<Put> write(Job job, Creation creation, Change change) {
    return calendars.of(job.schedule()).thenCompose(known -> time.estimated(job.name()).thenCompose(now -> {
      JobRecord created;
      try {
        created = creation.apply(job, now, known);
      } catch (IllegalArgumentException e) {
        // The schedule has no future time, which is refused for a new job. But if the job exists with the same
        // definition, the put is accepted, so the job must be read first.
        return busy();
      }
      return hasRoom() ? added(created, now, known) : busy();
    })).thenCompose(added -> added.isPresent()
        ? CompletableFuture.completedFuture(added.get())
        : repeats.untilTaken(job.name(), () -> replace(job, creation, change))).toCompletableFuture();
  }

  private boolean hasRoom() {
    return count.count() < host.maxJobs();
  }

  private CompletionStage<Optional<Put>> replace(Job job, Creation creation, Change change) {
    return calendars.of(job.schedule()).thenCompose(known -> time.now(job.name())
        .thenCompose(now -> read(job.name()).thenCompose(found -> {
          TaskRecord task = found.orElse(null);
          if (task == null || !task.isLive()) {
            JobRecord created = creation.apply(job, now, known);
            if (!hasRoom()) {
              throw new TooManyJobsException(job.name(), host.maxJobs());
            }
            return added(created, now, known);
          }
          if (task.state() == TaskState.RUNNING) {
            return busy();
          }
          JobRecord record = JobRecordFormat.decodeIfReadable(task);
          if (record == null) {
            ensureReplaceable(task);
          }
          CompletionStage<Optional<JobStatus>> replaced = record == null
              ? written(creation.apply(job, now, known), task.generation(), now)
              : calendars.of(record.job().schedule())
                  .thenCompose(old -> changed(new Stored(record, task),
                      change.apply(record, now, name -> either(known, old, name)), now));
          return replaced.thenApply(status -> status.map(is -> new Put(is, false)));
        })));
  }

  private static @Nullable Calendar either(Function<String, @Nullable Calendar> first,
      Function<String, @Nullable Calendar> second, String name) {
    Calendar found = first.apply(name);
    return found != null ? found : second.apply(name);
  }

  /** Returns a job, or empty if there is none. */
  public CompletableFuture<Optional<JobStatus>> find(String name) {
    return read(name).thenCompose(found -> found.filter(Jobs::exists)
        .map(task -> views.of(task).thenApply(Optional::of))
        .orElse(CompletableFuture.completedFuture(Optional.empty()))).toCompletableFuture();
  }

  /** Returns a failed shard or listener of an active run that waits for its next attempt; empty if none is found. */
  public CompletableFuture<Optional<FailedShard>> failedShard(String name) {
    return read(name).thenCompose(found -> found.filter(Jobs::exists).map(views::failedShard)
        .orElse(CompletableFuture.completedFuture(Optional.empty()))).toCompletableFuture();
  }

  /**
   * Returns a page of the jobs.
   *
   * @param limit the maximum number of jobs of the page
   * @param cursor the {@code next} of the previous page, or null for the first page
   */
  public CompletableFuture<Page> list(int limit, @Nullable String cursor) {
    return store.query(Shards.JOBS, null, limit, cursor)
        .thenCompose(page -> views.of(page.tasks().stream().filter(Jobs::exists).toList())
            .thenApply(jobs -> new Page(List.copyOf(jobs), page.cursor())))
        .toCompletableFuture();
  }

  /**
   * Deletes a job. The shards and listeners that are inserted finish, unless {@code stopsRuns} is true. No further
   * shard or listener is inserted.
   *
   * @return whether the job existed
   */
  public CompletableFuture<Boolean> delete(String name, boolean stopsRuns) {
    if (!isName(name)) {
      return CompletableFuture.completedFuture(false);
    }
    return store.cancel(List.of(new TaskRef.ByKey(Shards.JOBS, name))).thenCompose(results -> {
      CancelResult result = results.getFirst();
      boolean existed = switch (result.kind()) {
        case CANCELLED, CANCEL_PENDING -> true;
        case ALREADY_FINISHED, NOT_FOUND -> false;
      };
      // No pass inserts shards after the cancel. The record is therefore read after it, and not before. If a delete was
      // interrupted, a repeated delete completes it.
      return !stopsRuns || result.id() == null
          ? CompletableFuture.completedFuture(existed)
          : store.find(new TaskRef.ById(result.id()))
              .thenCompose(found -> cancelled(
                  found.map(JobRecordFormat::decodeIfReadable).map(Jobs::inserted).orElse(List.of())))
              .thenApply(done -> existed);
    }).toCompletableFuture();
  }

  private static List<TaskId> inserted(JobRecord record) {
    List<TaskId> ids = new ArrayList<>();
    record.active().forEach(run -> ids.addAll(JobLife.open(record.job().name(), run, run.inserted())));
    return ids;
  }

  /**
   * Pauses a job. After the future has completed, no scheduled time of the job begins until the pause ends.
   *
   * @param until when the job resumes by itself, or null for never
   */
  public CompletableFuture<JobStatus> pause(String name, @Nullable Instant until, String reason, String actor) {
    return change(name, (record, now, known) -> {
      long end = until == null ? JobRecord.Paused.OPEN : millis("until", until);
      InvalidJobException.ensure(end > now, "until", "an instant after now=" + Instant.ofEpochMilli(now),
          String.valueOf(until));
      return JobChange.pause(record, end, reason, actor, now, known);
    });
  }

  /** Resumes a job. Scheduled times that passed during the pause do not run, and are recorded as paused. */
  public CompletableFuture<JobStatus> resume(String name) {
    return change(name, JobChange::resume);
  }

  /**
   * Requests a run now. The run waits for its turn if the overlap rule does not allow several runs.
   *
   * @param key the caller's name for the request, or null; a request has no effect if its key is among the 32 latest
   *     keys of the job
   */
  public CompletableFuture<Requested> trigger(String name, @Nullable String key) {
    return trigger(name, key, null);
  }

  /**
   * Requests a run now, as {@link #trigger(String, String)} does. Fails with {@link InvalidJobException} if the run
   * would be too large with this parameter.
   *
   * @param parameter the payload of the run's shards, without headers; null for the job's parameter
   */
  public CompletableFuture<Requested> trigger(String name, @Nullable String key, @Nullable Body parameter) {
    return request(name, (record, now, known) -> parameter == null
        ? JobChange.trigger(record, key, now)
        : JobChange.trigger(record, key, parameter, fleet.get(), now));
  }

  /**
   * Requests runs of scheduled times in the past, the oldest first.
   *
   * @param from the start of the range, inclusive
   * @param to the end of the range, exclusive; not in the future
   * @param dryRun whether the times are only returned, and nothing is written
   * @param key the caller's name for the request, or null; a request has no effect if its key is among the 32 latest
   *     keys of the job
   */
  public CompletableFuture<Requested> backfill(String name, Instant from, Instant to, boolean dryRun,
      @Nullable String key) {
    return request(name, (record, now, known) -> {
      List<Long> times = JobChange.backfill(record, millis("from", from), millis("to", to), now, known);
      return dryRun || times.isEmpty()
          ? new JobChange.Requested(record, times, 0, false)
          : JobChange.request(record, key, times);
    });
  }

  /**
   * Stops the runs of a time. After the future has completed, no attempt of their shards begins. Running attempts are
   * stopped when they extend their leases. If a run has a listener after its shards, the listener still runs; another
   * stop during that phase cancels the listener. Fails with {@link UnknownRunException} if there is no run to stop.
   */
  public CompletableFuture<JobStatus> stop(String name, Instant time) {
    return change(name, (record, now, known) -> {
      long millis = millis("time", time);
      JobRecord next = JobChange.stop(record, millis, now, known);
      if (next == record && record.active().stream().noneMatch(run -> run.time() == millis)) {
        throw new UnknownRunException(name, time);
      }
      return next;
    }, record -> cancelled(JobLife.stopping(record, millis("time", time))));
  }

  private static long millis(String setting, Instant instant) {
    try {
      return instant.toEpochMilli();
    } catch (ArithmeticException e) {
      InvalidJobException refused = new InvalidJobException(setting,
          "an instant whose year has four digits, such as 2027-01-01T00:00:00Z", instant.toString());
      refused.initCause(e);
      throw refused;
    }
  }

  /** Cancels shards in batches that are small enough not to delay other steps of the store for long. */
  private CompletionStage<Boolean> cancelled(List<TaskId> shards) {
    CompletionStage<Boolean> all = CompletableFuture.completedFuture(true);
    for (int i = 0; i < shards.size(); i += JobLife.MAX_READ) {
      List<TaskRef> refs = shards.subList(i, Math.min(shards.size(), i + JobLife.MAX_READ)).stream()
          .<TaskRef>map(TaskRef.ById::new).toList();
      all = all.thenCompose(done -> store.cancel(refs)).thenApply(results -> true);
    }
    return all;
  }

  /** A request for runs, which {@link JobChange} applies to a record. */
  private interface Request {
    JobChange.Requested apply(JobRecord record, long now, Function<String, @Nullable Calendar> known);
  }

  private CompletableFuture<Requested> request(String name, Request request) {
    return repeats.untilTaken(name, () -> stored(name).thenCompose(found -> found == null
        ? busy()
        : calendars.of(found.record().job().schedule()).thenCompose(known -> time.now(name).thenCompose(now -> {
          JobChange.Requested requested = request.apply(found.record(), now, known);
          Requested result = new Requested(requested.times().stream().map(Instant::ofEpochMilli).toList(),
              requested.origin(), requested.isRepeated());
          return changed(found, requested.record(), now)
              .thenApply(status -> status.map(written -> result));
        }))));
  }

  private CompletableFuture<JobStatus> change(String name, Change change) {
    return change(name, change, record -> CompletableFuture.completedFuture(true));
  }

  /** Changes a job, then runs the action {@code then} with the written record before the future completes. */
  private CompletableFuture<JobStatus> change(String name, Change change,
      Function<JobRecord, CompletionStage<Boolean>> then) {
    return repeats.untilTaken(name, () -> stored(name).thenCompose(found -> found == null
        ? busy()
        : calendars.of(found.record().job().schedule()).thenCompose(known -> time.now(name).thenCompose(now -> {
          JobRecord next = change.apply(found.record(), now, known);
          return changed(found, next, now).thenCompose(status -> status.isEmpty()
              ? busy()
              : then.apply(next).thenApply(done -> status));
        }))));
  }

  /**
   * Returns the next {@code count} scheduled times of a job, or fewer if the schedule ends, the earliest first. For a
   * paused job these are the times after the end of its pause. If the pause has no end, they are the times after now.
   * Empty if a handler has ended the job.
   */
  public CompletableFuture<List<ZonedDateTime>> next(String name, int count) {
    return read(name).thenCompose(found -> {
      TaskRecord task = found.filter(Jobs::exists).orElseThrow(() -> new UnknownJobException(name));
      JobRecord record = JobRecordFormat.decodeIfReadable(task);
      if (record == null) {
        throw new IllegalArgumentException("the record of the job cannot be read; put the job again: job=" + name);
      }
      if (record.isEnded()) {
        return CompletableFuture.<List<ZonedDateTime>>completedFuture(List.of());
      }
      return calendars.of(record.job().schedule()).thenCombine(time.now(name),
          (known, now) -> JobViews.preview(record.job().schedule().schedule(name, known),
              JobViews.decidedUpTo(record, now), count));
    }).toCompletableFuture();
  }

  /**
   * Returns the first {@code count} times of a schedule after now, or fewer if the schedule ends, the earliest first.
   * The times are computed for a job with that name.
   */
  public CompletableFuture<List<ZonedDateTime>> preview(ScheduleSettings settings, String name, int count) {
    return calendars.of(settings).thenCombine(store.timeMicros(0),
        (known, micros) -> JobViews.preview(settings.schedule(name, known), Math.floorDiv(micros, 1_000), count))
        .toCompletableFuture();
  }

  /** Creates or replaces a calendar. Jobs use it from their next pass on. Returns whether the calendar existed. */
  public CompletableFuture<Boolean> putCalendar(String name, Calendar calendar) {
    if (!isName(name) || name.isBlank() || name.indexOf(',') >= 0) {
      return CompletableFuture.failedFuture(new InvalidJobException("calendar",
          "a name of 1 to 256 bytes of UTF-8 that is not blank, without commas and control characters", name));
    }
    return calendars.put(name, calendar).toCompletableFuture();
  }

  /** Returns a calendar, or empty if there is none. */
  public CompletableFuture<Optional<Calendar>> calendar(String name) {
    return calendars.find(name).toCompletableFuture();
  }

  /** Returns all calendars by name. */
  public CompletableFuture<Map<String, Calendar>> calendars() {
    return calendars.all().toCompletableFuture();
  }

  /**
   * Deletes a calendar. Jobs that name it are in error until they are changed or the calendar is put again. Returns
   * whether the calendar existed.
   */
  public CompletableFuture<Boolean> deleteCalendar(String name) {
    return calendars.put(name, null).toCompletableFuture();
  }

  private CompletionStage<Optional<TaskRecord>> read(String name) {
    return isName(name)
        ? store.find(new TaskRef.ByKey(Shards.JOBS, name))
        : CompletableFuture.completedFuture(Optional.empty());
  }

  /** Returns whether a job or a calendar may have this name. Stores are not queried for other names. */
  static boolean isName(String name) {
    try {
      Limits.ensureKey(name);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Returns whether a job exists. The task of a job that is deleted during a pass is live until the pass has ended. */
  private static boolean exists(TaskRecord task) {
    return task.isLive() && !task.cancelRequested();
  }

  /** Throws {@link OverloadedException} if a newer version of Foliot wrote a record, which must not be replaced. */
  private static void ensureReplaceable(TaskRecord task) {
    try {
      JobRecordFormat.decode(String.valueOf(task.key()), task.body().payload());
    } catch (NewerVersionException e) {
      throw new OverloadedException("the job was written by a newer version of Foliot; change it through a node of that"
          + " version: job=" + task.key());
    } catch (UnreadableException e) {
      // The record is damaged, so it may be replaced.
    }
  }

  /** Returns the record of a job, or null while a pass of the job runs. */
  private CompletionStage<@Nullable Stored> stored(String name) {
    return read(name).thenApply(found -> {
      TaskRecord task = found.filter(Jobs::exists).orElseThrow(() -> new UnknownJobException(name));
      JobRecord record = JobRecordFormat.decodeIfReadable(task);
      if (record == null) {
        throw new IllegalArgumentException("the record of the job cannot be read; put the job again: job=" + name);
      }
      return task.state() == TaskState.RUNNING ? null : new Stored(record, task);
    });
  }

  /** Returns the result that makes {@link Repeats} try again. */
  private static <T> CompletionStage<Optional<T>> busy() {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  private CompletionStage<Optional<JobStatus>> changed(Stored before, JobRecord next, long now) {
    // If a handler has ended the job, a pass must record that end first: this change may have to revive the job.
    return next == before.record()
        ? views.of(before.task()).thenApply(status -> {
          if (status.isEnded() && !next.isEnded()) {
            throw new JobChange.BehindException(status.name());
          }
          return Optional.of(status);
        })
        : written(next, before.task().generation(), now);
  }

  /** Makes the next pass of a job due at once. If a pass runs, or the job changes meanwhile, a pass follows anyway. */
  private CompletionStage<?> wake(String name) {
    return read(name).thenCompose(found -> {
      TaskRecord task = found.filter(Jobs::exists).orElse(null);
      return task == null || task.state() == TaskState.RUNNING
          ? CompletableFuture.completedFuture(List.of())
          : host.write(List.of(new Draft(task.id(), Shards.JOBS, name, Due.NOW, null, 0, OnConflict.RESET, null)
              .expecting(task.generation())));
    });
  }

  /**
   * Writes the record of a new job. The first pass is due when there is something to plan. Returns empty if the job
   * exists.
   */
  private CompletionStage<Optional<Put>> added(JobRecord record, long now, Function<String, @Nullable Calendar> known) {
    JobLife.Plan plan = JobLife.plan(record, now, Map.of(), known, null);
    Due due = plan.record().equals(record) ? Due.at(plan.at()) : Due.NOW;
    return written(record, due, Draft.ABSENT, now).thenApply(status -> {
      status.ifPresent(is -> count.created());
      return status.map(is -> new Put(is, true));
    });
  }

  /** Writes a record, to be planned at once. Returns empty if the job has changed meanwhile. */
  private CompletionStage<Optional<JobStatus>> written(JobRecord record, long expectedGeneration, long now) {
    return written(record, Due.NOW, expectedGeneration, now);
  }

  private CompletionStage<Optional<JobStatus>> written(JobRecord record, Due due, long expectedGeneration, long now) {
    String name = record.job().name();
    TaskId id = TaskId.of(now, Shards.hash16(name), surroundings.randomBits());
    Draft draft = new Draft(id, Shards.JOBS, name, due, JobPlanner.body(record), 0, OnConflict.REJECT, null)
        .expecting(expectedGeneration);
    return host.write(List.of(draft)).thenCompose(results -> results.getFirst().kind().isPlaced()
        ? views.written(record, now).thenApply(Optional::of)
        : busy());
  }
}
