package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.Scope;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleSettings;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The recurring jobs of a store, for callers that create, change and run them. Thread-safe; no method blocks.
 *
 * <p>Each change of a job is a compare-and-set: it reads the record of the job, applies {@link JobChange} at the
 * store's time, and writes the new record. If the stored record has changed since the read, the change begins again. A
 * change based on an old record therefore never replaces a newer record, and the result of a change is valid on every
 * node. Whether a caller may reach the job ({@link #within}) is decided on the same record: on the one that the write
 * replaces, or on the one that is returned. A change is
 * retried while a planning pass of the job runs, which takes some milliseconds. A job that is planned without a pause
 * is nearly always running. From the fifth try on, a change therefore claims the task of the job, as a pass does, and
 * writes the new record as the end of its own attempt. The claim excludes all passes, of any process. After six seconds
 * a change fails with {@link OverloadedException} and has no effect.
 *
 * <p>Futures fail with {@link IllegalArgumentException} for a request that can never work, and with
 * {@link UnknownJobException} for a job that does not exist. They also fail with the exceptions of
 * {@link io.foliot.core.Scheduler}.
 *
 * <p>This class is one file because all calls that change a job share the retries described above.
 */
public final class Jobs {
  /** Number of records that a page reads at least, if jobs of other queues may be among them. */
  private static final int SCANNED = 50;

  private final TaskStore store;
  private final JobHost host;
  private final JobSurroundings surroundings;
  private final PlanningShares shares;
  private final Supplier<@Nullable Fleet> fleet;
  private final Repeats repeats;
  private final Calendars calendars;
  private final StoreTime time;
  private final JobViews views;
  private final JobCount count;
  private final QueueJobs queueJobs;
  private final JobWrites writes;
  private final RunTasks runTasks;
  /** The queues whose jobs the caller may reach; null for all. */
  private final @Nullable Predicate<String> queues;

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
      this(job, time, "no run of that time is active or waits");
    }

    UnknownRunException(String job, Instant time, String reason) {
      super(reason + ": job=" + job + ", time=" + time);
    }
  }

  /** Thrown when a shard that shall run again has not failed, or its record is gone. Nothing was done. */
  public static final class NotFailedException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    NotFailedException(String job, String reason) {
      super(reason + ": job=" + job);
    }
  }

  /** Thrown when an ended run cannot continue, because another run of the job is active. Nothing was done. */
  public static final class RunActiveException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    RunActiveException(String job) {
      super("a run of the job is active, and its overlap rule permits no other: job=" + job);
    }
  }

  /** Thrown when a job of that name exists in another queue. Nothing was done. */
  public static final class JobNameInUseException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    JobNameInUseException(String job) {
      super("a job of this name exists in another queue: job=" + job);
    }
  }

  /** Thrown when a request has the key of another request: of another kind, or with other arguments. */
  public static final class RequestMismatchException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    RequestMismatchException(String job) {
      super("the key belonged to another request for runs of this job; use a new one for a new request: job=" + job);
    }
  }

  /** Thrown when there are as many jobs as the host permits, in the store or in a queue. Nothing was done. */
  public static final class TooManyJobsException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final @Nullable String queue;
    private final long max;

    TooManyJobsException(String job, long max) {
      super("there are as many jobs as permitted, and a deleted job counts for up to half a minute: job=" + job
          + ", max=" + max, null, false, false);
      queue = null;
      this.max = max;
    }

    TooManyJobsException(String job, String queue, long max) {
      super("the queue has as many jobs as its setting maxJobs permits, and a deleted job counts until the jobs are"
          + " counted again: job=" + job + ", queue=" + queue + ", max=" + max, null, false, false);
      this.queue = queue;
      this.max = max;
    }

    /** Returns the queue that has too many jobs; empty if all queues together have too many. */
    public Optional<String> queue() {
      return Optional.ofNullable(queue);
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

  /** The record of a job as it was read, or as it was claimed. */
  private record Stored(JobRecord record, TaskRecord task) {}

  /** Creates the jobs of a store for a process without a planner. With a planner, use {@link JobPlanner#jobs}. */
  public Jobs(TaskStore store, JobHost host) {
    this(store, host, new ProcessSurroundings());
  }

  /** Creates the jobs of a store for a process without a planner, with the given clock, timer and random bits. */
  public Jobs(TaskStore store, JobHost host, JobSurroundings surroundings) {
    this(store, host, surroundings, new PlanningShares(), () -> null, Allocators.NONE);
  }

  /**
   * @param shares shared with the planner of this process
   * @param fleet returns the workers that the planner of this process has read most recently, or null before its first
   *     read
   * @param allocators the allocators of that planner
   */
  Jobs(TaskStore store, JobHost host, JobSurroundings surroundings, PlanningShares shares,
      Supplier<@Nullable Fleet> fleet,
      Allocators allocators) {
    this.store = store;
    this.host = host;
    this.surroundings = surroundings;
    this.shares = shares;
    this.fleet = fleet;
    repeats = new Repeats(surroundings, this::wake);
    calendars = new Calendars(store);
    time = new StoreTime(store, surroundings);
    views = new JobViews(store, host, calendars, time, fleet, allocators);
    count = new JobCount(store, surroundings);
    queueJobs = new QueueJobs(store, surroundings);
    writes = new JobWrites(store, host);
    runTasks = new RunTasks(store);
    queues = null;
  }

  private Jobs(Jobs all, Predicate<String> queues) {
    store = all.store;
    host = all.host;
    surroundings = all.surroundings;
    shares = all.shares;
    fleet = all.fleet;
    repeats = all.repeats;
    calendars = all.calendars;
    time = all.time;
    views = all.views;
    count = all.count;
    queueJobs = all.queueJobs;
    writes = all.writes;
    runTasks = all.runTasks;
    this.queues = queues;
  }

  /**
   * Returns these jobs for a caller that may only reach the jobs of some queues. For such a caller, a job of another
   * queue does not exist, except that its name is in use. Each call decides this on the very record that it returns or
   * replaces, so a job that another caller creates or moves meanwhile stays out of reach.
   *
   * @param reachable returns whether the caller may reach the jobs of a queue
   */
  public Jobs within(Predicate<String> reachable) {
    return new Jobs(this, reachable);
  }

  /** Returns whether the caller may reach the job of a record; null for a record that cannot be read. */
  private boolean isReachable(@Nullable JobRecord record) {
    return queues == null || (record != null && queues.test(record.job().queue()));
  }

  /**
   * Creates a job or replaces its definition. A put of the current definition changes nothing, unless a handler has
   * ended the job: then its scheduled times run again. Fails with {@link TooManyJobsException} if the job is new and
   * there are as many jobs as the host permits, in the store or in the queue. Fails with {@link JobNameInUseException}
   * if the job exists in another queue, so that two users of a name do not replace each other's job; see {@link #move}.
   */
  public CompletableFuture<Put> put(Job job) {
    return create(job, false, JobChange::create, (record, now, known) -> JobChange.put(record, job, now, known));
  }

  /**
   * Creates a job or replaces its definition, as {@link #put} does, also if the job exists in another queue. Fails with
   * {@link TooManyJobsException} if the job moves to a queue that has as many jobs as the host permits.
   */
  public CompletableFuture<Put> move(Job job) {
    return create(job, true, JobChange::create, (record, now, known) -> JobChange.put(record, job, now, known));
  }

  /**
   * Creates a job or replaces its definition with one from code, unless the same definition is among the latest eight
   * that code has declared. A change by a caller therefore remains until the code changes. During a rolling deployment,
   * an instance with the old code changes nothing. Fails as {@link #put} does.
   */
  public CompletableFuture<Put> declare(Job job) {
    return create(job, false, JobChange::declared, (record, now, known) -> JobChange.declare(record, job, now, known));
  }

  /**
   * Changes the definition of a job. The change is computed from the definition in the store, and is computed again if
   * the job changes meanwhile, so that it keeps changes that other callers make at the same time. Fails with
   * {@link TooManyJobsException} if the job moves to a queue that has as many jobs as the host permits.
   *
   * @param edit returns the new definition, which has the same name; it must not block
   */
  public CompletableFuture<JobStatus> edit(String name, UnaryOperator<Job> edit) {
    return changing(name, found -> {
      Job old = found.record().job();
      Job next = edit.apply(old);
      ensureReachable(next);
      boolean moves = !next.queue().equals(old.queue());
      return ensureWorkers(next).thenCompose(ensured -> calendars.of(next.schedule()))
          .thenCompose(known -> calendars.of(old.schedule()).thenCompose(before -> time.now(name)
              .thenCompose(read -> {
                long now = JobWrites.now(found.task(), read);
                JobRecord changed = JobChange.put(found.record(), next, now,
                    calendar -> either(known, before, calendar));
                return moves
                    ? entering(next, Jobs::refused, () -> changed(found, changed, now))
                    : changed(found, changed, now);
              })));
    });
  }

  /** Computes the record of a new job. */
  private interface Creation {
    JobRecord apply(Job job, long now, Function<String, @Nullable Calendar> known);
  }

  /** Computes the next record of a job. */
  private interface Change {
    JobRecord apply(JobRecord record, long now, Function<String, @Nullable Calendar> known);
  }

  private CompletableFuture<Put> create(Job job, boolean moves, Creation creation, Change change) {
    return Stages.call(() -> {
      ensureReachable(job);
      return ensureWorkers(job);
    }).thenCompose(ensured -> write(job, moves, creation, change)).toCompletableFuture();
  }

  /** Fails if the queue of a new definition is out of the caller's reach. */
  private void ensureReachable(Job job) {
    if (queues != null && !queues.test(job.queue())) {
      throw new IllegalArgumentException("the caller does not reach the queue of the job: job=" + job.name()
          + ", queue=" + job.queue());
    }
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
  private CompletableFuture<Put> write(Job job, boolean moves, Creation creation, Change change) {
    return calendars.of(job.schedule()).thenCompose(known -> time.estimated(job.name()).thenCompose(now -> {
      JobRecord created;
      try {
        created = creation.apply(job, now, known);
      } catch (IllegalArgumentException e) {
        // The schedule has no future time, which is refused for a new job. But if the job exists with the same
        // definition, the put is accepted, so the job must be read first.
        return JobWrites.busy();
      }
      return creating(job, refusal -> JobWrites.busy(), () -> added(created, now, known));
    })).thenCompose(added -> added.isPresent()
        ? CompletableFuture.completedFuture(added.get())
        : repeats.untilTaken(job.name(), claims -> replace(job, moves, creation, change, claims)))
        .toCompletableFuture();
  }

  /**
   * Writes a new job if the store and its queue have room for it.
   *
   * @param refused returns the result if there is no room
   */
  private <T> CompletionStage<Optional<T>> creating(Job job,
      Function<TooManyJobsException, CompletionStage<Optional<T>>> refused,
      Supplier<CompletionStage<Optional<T>>> write) {
    return count.count() < host.maxJobs()
        ? entering(job, refused, write)
        : refused.apply(new TooManyJobsException(job.name(), host.maxJobs()));
  }

  /** Writes a job that is new in its queue if the queue has room for it. */
  private <T> CompletionStage<Optional<T>> entering(Job job,
      Function<TooManyJobsException, CompletionStage<Optional<T>>> refused,
      Supplier<CompletionStage<Optional<T>>> write) {
    String queue = job.queue();
    return host.maxJobs(queue).thenCompose(max -> queueJobs.enter(queue, max, count.count())
        ? Stages.call(write).whenComplete((written, failure) -> queueJobs.entered(queue, job.name(),
            failure == null && written.isPresent()))
        : refused.apply(new TooManyJobsException(job.name(), queue, max)));
  }

  private static <T> CompletionStage<Optional<T>> refused(TooManyJobsException refusal) {
    return CompletableFuture.failedFuture(refusal);
  }

  private CompletionStage<Optional<Put>> replace(Job job, boolean moves, Creation creation, Change change,
      boolean claims) {
    return calendars.of(job.schedule()).thenCompose(known -> time.now(job.name())
        .thenCompose(now -> read(job.name()).thenCompose(found -> {
          TaskRecord live = found.filter(TaskRecord::isLive).orElse(null);
          if (live == null) {
            JobRecord created = creation.apply(job, now, known);
            return creating(job, Jobs::refused, () -> added(created, now, known));
          }
          return writes.held(live, claims,
              task -> replaced(task, job, moves, creation, change, known, JobWrites.now(task, now)));
        })));
  }

  private CompletionStage<Optional<Put>> replaced(TaskRecord task, Job job, boolean moves, Creation creation,
      Change change, Function<String, @Nullable Calendar> known, long now) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    boolean isRemoved = JobRecordFormat.isRemoved(task);
    boolean isElsewhere = record != null && !record.job().queue().equals(job.queue());
    if (record != null && record.isDeleted()) {
      JobRecord created = creation.apply(job, now, known);
      return isElsewhere
          ? entering(job, Jobs::refused, () -> recreated(created, record, task, now))
          : recreated(created, record, task, now);
    }
    if (!isRemoved && (!isReachable(record) || (isElsewhere && !moves))) {
      throw new JobNameInUseException(job.name());
    }
    if (record == null && !isRemoved) {
      ensureReplaceable(task);
    }
    Supplier<CompletionStage<Optional<JobStatus>>> write = () -> record == null
        ? written(creation.apply(job, now, known), task, now)
        : calendars.of(record.job().schedule()).thenCompose(old -> changed(new Stored(record, task),
            change.apply(record, now, name -> either(known, old, name)), now));
    return (isRemoved || isElsewhere ? entering(job, Jobs::refused, write) : write.get())
        .thenApply(status -> status.map(is -> new Put(is, isRemoved)));
  }

  /** Creates a job in place of a deleted one that still looks after its runs. The new job looks after them. */
  private CompletionStage<Optional<Put>> recreated(JobRecord created, JobRecord deleted, TaskRecord task, long now) {
    if (deleted.hasManyLeft()) {
      throw new OverloadedException("too many runs of deleted jobs of this name have not ended; stop them with"
          + " another delete, or wait: job=" + created.job().name());
    }
    return written(created.withLeft(deleted.left()), task, now)
        .thenApply(status -> status.map(is -> new Put(is, true)));
  }

  private static @Nullable Calendar either(Function<String, @Nullable Calendar> first,
      Function<String, @Nullable Calendar> second, String name) {
    Calendar found = first.apply(name);
    return found != null ? found : second.apply(name);
  }

  /** Returns a job, or empty if there is none. */
  public CompletableFuture<Optional<JobStatus>> find(String name) {
    return read(name).thenCompose(found -> found.filter(this::isFound)
        .map(task -> views.of(task).thenApply(Optional::of))
        .orElse(CompletableFuture.completedFuture(Optional.empty()))).toCompletableFuture();
  }

  /**
   * A job, and what its active runs wait for.
   *
   * @param status the job
   * @param failed a failed shard or listener of an active run that waits for its next attempt; empty if none is found
   */
  public record Explained(JobStatus status, Optional<FailedShard> failed) {}

  /** Returns a job with a failed shard of its active runs, from one read of the job; empty if there is no such job. */
  public CompletableFuture<Optional<Explained>> explain(String name) {
    return read(name).thenCompose(found -> found.filter(this::isFound)
        .map(task -> views.of(task).thenCombine(views.failedShard(task),
            (status, failed) -> Optional.of(new Explained(status, failed))))
        .orElse(CompletableFuture.completedFuture(Optional.empty()))).toCompletableFuture();
  }

  /**
   * Returns a page of the jobs. A call reads a bounded number of records, so a page with a {@code next} may have fewer
   * jobs than the limit, or none.
   *
   * @param limit the maximum number of jobs of the page
   * @param cursor the {@code next} of the previous page, or null for the first page
   */
  public CompletableFuture<Page> list(int limit, @Nullable String cursor) {
    int scanned = queues == null ? limit : Math.max(limit, SCANNED);
    return store.query(Shards.JOBS, null, scanned, cursor).thenCompose(page -> {
      List<TaskRecord> found = page.tasks().stream().filter(this::isFound).toList();
      // The jobs beyond the limit are for the next page, which must begin before them.
      return found.size() <= limit
          ? CompletableFuture.completedFuture(page)
          : store.query(Shards.JOBS, null, page.tasks().indexOf(found.get(limit - 1)) + 1, cursor);
    }).thenCompose(page -> views.of(page.tasks().stream().filter(this::isFound).toList())
        .thenApply(jobs -> new Page(List.copyOf(jobs), page.cursor()))).toCompletableFuture();
  }

  /**
   * Deletes a job. The shards and listeners that are inserted finish, unless {@code stopsRuns} is true; passes look
   * after them as before, so that a shard whose worker is gone, or whose run is past its deadline, is cancelled. No
   * further shard or listener is inserted. A repeated delete with {@code stopsRuns} stops the runs of the deleted job.
   *
   * @return whether the job existed
   */
  public CompletableFuture<Boolean> delete(String name, boolean stopsRuns) {
    return repeats.untilTaken(name, claims -> read(name).thenCompose(found -> {
      TaskRecord stored = found.filter(this::isStored).orElse(null);
      return stored == null
          ? CompletableFuture.completedFuture(Optional.of(false))
          : writes.held(stored, claims, task -> isStored(task) ? deleted(name, task, stopsRuns) : JobWrites.busy());
    }));
  }

  private CompletionStage<Optional<Boolean>> deleted(String name, TaskRecord task, boolean stopsRuns) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    if (record == null) {
      ensureReplaceable(task);
      return writes.written(name, Body.EMPTY, task).thenApply(done -> done ? Optional.of(true) : Optional.empty());
    }
    JobRecord next = JobChange.delete(record, stopsRuns);
    CompletionStage<Boolean> written = next == record
        ? CompletableFuture.completedFuture(true)
        : writes.written(name, JobPlanner.body(next), task);
    return written.thenCompose(done -> !done
        ? JobWrites.busy()
        : cancelled(JobLife.stopping(next)).thenApply(cancelled -> Optional.of(!record.isDeleted())));
  }

  /**
   * Pauses a job. After the future has completed, no scheduled time of the job begins until the pause ends.
   *
   * @param until when the job resumes by itself, or null for never
   */
  public CompletableFuture<JobStatus> pause(String name, @Nullable Instant until, String reason, String actor) {
    return change(name, (record, now, known) -> {
      long end = until == null ? JobRecord.Paused.OPEN : millis("until", until);
      InvalidSettingException.ensure(end > now, "until", "an instant after now=" + Instant.ofEpochMilli(now),
          String.valueOf(until));
      return JobChange.pause(record, end, reason, actor, now, known);
    });
  }

  /** Resumes a job. Scheduled times that passed during the pause do not run, and are recorded as paused. */
  public CompletableFuture<JobStatus> resume(String name) {
    return change(name, JobChange::resume);
  }

  /**
   * Makes the next pass of a job due at once. If the job was planned while the store's clock was ahead, this pass sets
   * the job back: its times after now are decided again when they come. Otherwise the job does not change.
   */
  public CompletableFuture<JobStatus> rewind(String name) {
    return wake(name).thenCompose(woken -> find(name))
        .thenApply(status -> status.orElseThrow(() -> new UnknownJobException(name))).toCompletableFuture();
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
   * Requests a run now, as {@link #trigger(String, String)} does. Fails with {@link InvalidSettingException} if the run
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
      long first = millis("from", from);
      long end = millis("to", to);
      List<Long> times = JobChange.backfill(record, first, end, now, known);
      return dryRun || times.isEmpty()
          ? new JobChange.Requested(record, times, 0, false)
          : JobChange.request(record, key, JobRecordFormat.digest(first, end), times);
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
      InvalidSettingException refused = new InvalidSettingException(setting,
          "an instant whose year has four digits, such as 2027-01-01T00:00:00Z", instant.toString());
      refused.initCause(e);
      throw refused;
    }
  }

  /**
   * A page of the tasks of a time's runs. A page with a {@code next} may have fewer tasks than the limit, or none.
   *
   * @param tasks for each run first the listener before the shards, then the shards, then the listener after them
   * @param next where the next page begins, or null if there is none
   */
  public record RunPage(List<RunTask> tasks, @Nullable String next) {
    public RunPage {
      tasks = List.copyOf(tasks);
    }
  }

  /**
   * Returns the shards and listeners of the runs of a time, active or ended. Empty if the job has no run of that time,
   * or no longer keeps it. A task of a queue that the caller does not reach is shown as removed.
   *
   * @param onlyFailed whether only failed and cancelled tasks are returned
   * @param limit the maximum number of tasks that are read
   * @param cursor the {@code next} of the previous page, or null for the first page
   */
  public CompletableFuture<RunPage> tasks(String name, Instant time, boolean onlyFailed, int limit,
      @Nullable String cursor) {
    return read(name).thenCompose(found -> {
      TaskRecord task = found.filter(this::isFound).orElseThrow(() -> new UnknownJobException(name));
      return runTasks.page(readable(name, task), millis("time", time), onlyFailed, limit, cursor,
          queues == null ? queue -> true : queues);
    }).toCompletableFuture();
  }

  /**
   * Runs a failed shard of a run again, from its last checkpoint, in a new generation of the same task. If the run has
   * ended, it is active again until the shard has ended, and its result then follows from all its shards. Listeners do
   * not run again. Fails with {@link UnknownRunException}, {@link NotFailedException} or {@link RunActiveException}. If
   * this call fails for another reason, the shard may run although the result of the run does not follow; the call may
   * be repeated.
   *
   * @param origin 0 for the schedule, else the number of the request for the run; null for the only run of the time
   * @param zone the zone of the shard, or empty
   * @param shard the number of the shard; with a zone, its number within the zone
   */
  public CompletableFuture<JobStatus> redrive(String name, Instant time, @Nullable Long origin, String zone,
      int shard) {
    return changing(name, found -> ensureRecorded(found.record()).thenCompose(recorded -> time(name, found))
        .thenCompose(now -> {
          JobChange.Reopened reopened = JobChange.reopen(found.record(), millis("time", time), origin, zone, shard,
              now);
          // The task is made live first. A pass between the two writes would otherwise read the old end again.
          return revived(name, reopened.id()).thenCompose(live -> changed(found, reopened.record(), now));
        }));
  }

  /** Fails with {@link JobChange.BehindException} if a pass must first record ends of shards. */
  private CompletionStage<Boolean> ensureRecorded(JobRecord record) {
    return ShardEnd.read(store, JobLife.wanted(record)).thenApply(ends -> {
      if (!ends.values().stream().allMatch(ShardEnd::isLive)) {
        throw new JobChange.BehindException(record.job().name());
      }
      return true;
    });
  }

  private CompletionStage<Long> time(String name, Stored found) {
    return time.now(name).thenApply(read -> JobWrites.now(found.task(), read));
  }

  private CompletionStage<Boolean> revived(String name, TaskId id) {
    return store.find(new TaskRef.ById(id)).thenCompose(read -> {
      TaskRecord task = read.filter(each -> queues == null || queues.test(each.queue()))
          .orElseThrow(() -> new NotFailedException(name, "the record of the shard was removed after the retention of"
              + " its queue, so it cannot run again; trigger the job"));
      if (task.state() == TaskState.CANCELLED) {
        throw new NotFailedException(name, "the shard was cancelled, and never runs again; trigger the job");
      }
      return task.state() != TaskState.FAILED
          ? CompletableFuture.completedFuture(true)
          : store.redrive(List.of(new Redrive(task.queue(), id))).thenApply(results -> true);
    });
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
    return changing(name, found -> calendars.of(found.record().job().schedule())
        .thenCompose(known -> time.now(name).thenCompose(read -> {
          long now = JobWrites.now(found.task(), read);
          JobChange.Requested requested = request.apply(found.record(), now, known);
          Requested result = new Requested(requested.times().stream().map(Instant::ofEpochMilli).toList(),
              requested.origin(), requested.isRepeated());
          return changed(found, requested.record(), now)
              .thenApply(status -> status.map(written -> result));
        })));
  }

  private CompletableFuture<JobStatus> change(String name, Change change) {
    return change(name, change, record -> CompletableFuture.completedFuture(true));
  }

  /** Changes a job, then runs the action {@code then} with the written record before the future completes. */
  private CompletableFuture<JobStatus> change(String name, Change change,
      Function<JobRecord, CompletionStage<Boolean>> then) {
    return changing(name, found -> calendars.of(found.record().job().schedule())
        .thenCompose(known -> time.now(name).thenCompose(read -> {
          long now = JobWrites.now(found.task(), read);
          JobRecord next = change.apply(found.record(), now, known);
          return changed(found, next, now).thenCompose(status -> status.isEmpty()
              ? JobWrites.busy()
              : then.apply(next).thenApply(done -> status));
        })));
  }

  /** Repeats a change of a job that exists until it was written. */
  private <T> CompletableFuture<T> changing(String name, Function<Stored, CompletionStage<Optional<T>>> change) {
    return repeats.untilTaken(name, claims -> read(name).thenCompose(found -> {
      TaskRecord stored = found.filter(this::isFound).orElseThrow(() -> new UnknownJobException(name));
      return writes.held(stored, claims, task -> {
        if (!isFound(task)) {
          throw new UnknownJobException(name);
        }
        return change.apply(new Stored(readable(name, task), task));
      });
    }));
  }

  /**
   * Returns the next {@code count} scheduled times of a job, or fewer if the schedule ends, the earliest first. For a
   * paused job these are the times after the end of its pause. If the pause has no end, they are the times after now.
   * Empty if a handler has ended the job.
   */
  public CompletableFuture<List<ZonedDateTime>> next(String name, int count) {
    return read(name).thenCompose(found -> {
      TaskRecord task = found.filter(this::isFound).orElseThrow(() -> new UnknownJobException(name));
      JobRecord record = readable(name, task);
      if (record.isEnded()) {
        return CompletableFuture.<List<ZonedDateTime>>completedFuture(List.of());
      }
      return calendars.of(record.job().schedule()).thenCombine(time.now(name),
          (known, now) -> JobViews.upcoming(record, record.job().schedule().schedule(name, known), now, count));
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
      return CompletableFuture.failedFuture(new InvalidSettingException("calendar",
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

  /** Returns whether a task is that of a job which the caller may reach, also of a deleted job that has runs left. */
  private boolean isStored(TaskRecord task) {
    return task.isLive() && !task.cancelRequested() && !JobRecordFormat.isRemoved(task)
        && isReachable(JobRecordFormat.decodeIfReadable(task));
  }

  /** Returns whether a task is that of a job which exists for the caller. */
  private boolean isFound(TaskRecord task) {
    JobRecord record = isStored(task) ? JobRecordFormat.decodeIfReadable(task) : null;
    return record == null ? isStored(task) : !record.isDeleted();
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

  private static JobRecord readable(String name, TaskRecord task) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    if (record == null) {
      throw new IllegalArgumentException("the record of the job cannot be read; put the job again: job=" + name);
    }
    return record;
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
        : written(next, before.task(), now);
  }

  /** Makes the next pass of a job due at once. If a pass runs, or the job changes meanwhile, a pass follows anyway. */
  private CompletionStage<?> wake(String name) {
    return read(name).thenCompose(found -> {
      TaskRecord task = found.filter(this::isFound).orElse(null);
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
    JobLife.Plan plan = JobLife.plan(record, now, Map.of(), known, Attendance.UNKNOWN);
    long first = plan.record().equals(record) ? plan.at() : now;
    Due due = Due.at(shares.firstPass(record.job().queue(), now, first));
    String name = record.job().name();
    TaskId id = TaskId.of(now, Shards.hash16(name), surroundings.randomBits());
    return writes.written(name, JobPlanner.body(record), due, Draft.ABSENT, id).thenCompose(done -> {
      if (!done) {
        return JobWrites.busy();
      }
      count.created();
      return views.written(record, now).thenApply(status -> Optional.of(new Put(status, true)));
    });
  }

  /** Writes a record, to be planned at once. Returns empty if the job has changed meanwhile. */
  private CompletionStage<Optional<JobStatus>> written(JobRecord record, TaskRecord before, long now) {
    return writes.written(record.job().name(), JobPlanner.body(record), before)
        .thenCompose(done -> done ? views.written(record, now).thenApply(Optional::of) : JobWrites.busy());
  }
}
