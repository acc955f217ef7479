package io.foliot;

import io.foliot.core.QueueConfig;
import io.foliot.jobs.Job;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import io.foliot.jobs.schedule.Calendar;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The recurring jobs of a {@link Foliot}. A job puts a task into its queue at each scheduled time, or one for each
 * shard; the handler of that queue does the work, and {@link Run#job} says which time and shard it is for.
 *
 * <pre>{@code
 * foliot.tasks("billing", String.class).handle((text, run) -> report(run.job().scheduledAt()));
 * foliot.jobs().put(Job.named("report").queue("billing").cron("0 2 * * *").zone("Europe/Berlin"));
 * }</pre>
 *
 * <p>Any thread. Calls block until the store has answered, and fail as those of {@link Foliot}; those that name a job
 * fail with {@link Jobs.UnknownJobException} if there is none.
 */
public final class RecurringJobs {
  private final Jobs jobs;
  private final Backend backend;
  private final Function<String, CompletableFuture<Optional<QueueConfig>>> queues;

  RecurringJobs(Jobs jobs, Backend backend, Function<String, CompletableFuture<Optional<QueueConfig>>> queues) {
    this.jobs = jobs;
    this.backend = backend;
    this.queues = queues;
  }

  /**
   * Creates a job or replaces its definition. The same definition again changes nothing.
   *
   * @throws IllegalArgumentException if a setting cannot work, or the queue does not exist
   * @throws Jobs.TooManyJobsException if it is new, and there are a million
   */
  public JobStatus put(Job job) {
    ensureQueue(job);
    return backend.await(jobs.put(job)).status();
  }

  /** As {@link #put(Job)}. */
  public JobStatus put(Job.Builder job) {
    return put(job.build());
  }

  /**
   * Takes over a definition from code, unless code has declared the same one before: a later change by hand stays until
   * the code changes, and an old instance of the application undoes nothing while a new one is rolled out.
   *
   * @throws IllegalArgumentException if a setting cannot work, or the queue does not exist
   */
  public JobStatus declare(Job job) {
    ensureQueue(job);
    return backend.await(jobs.declare(job)).status();
  }

  /** As {@link #declare(Job)}. */
  public JobStatus declare(Job.Builder job) {
    return declare(job.build());
  }

  private void ensureQueue(Job job) {
    if (backend.await(queues.apply(job.queue())).isEmpty()) {
      throw new IllegalArgumentException("there is no queue of that name; foliot.tasks(name, type) creates it: job="
          + job.name() + ", queue=" + job.queue());
    }
  }

  /** Returns a job with its runs, or empty if there is none. */
  public Optional<JobStatus> find(String name) {
    return backend.await(jobs.find(name));
  }

  /**
   * Pages through the jobs.
   *
   * @param limit from 1 to 1,000
   * @param cursor the cursor of the last page, or null for the first
   */
  public Jobs.Page list(int limit, @Nullable String cursor) {
    return backend.await(jobs.list(limit, cursor));
  }

  /** Returns the next scheduled times of a job. */
  public List<ZonedDateTime> next(String name, int count) {
    return backend.await(jobs.next(name, count));
  }

  /** Asks for a run now, which waits for its turn where the overlap rule allows one; returns its time. */
  public Instant trigger(String name) {
    return backend.await(jobs.trigger(name, null)).times().getFirst();
  }

  /**
   * Asks for the runs of scheduled times in the past, at most 100, the oldest first.
   *
   * @param to the first instant after the range
   * @param dryRun whether only the times are returned
   */
  public List<Instant> backfill(String name, Instant from, Instant to, boolean dryRun) {
    return backend.await(jobs.backfill(name, from, to, dryRun, null)).times();
  }

  /**
   * Pauses a job: no scheduled time begins from the answer on.
   *
   * @param until when it resumes by itself, or null
   * @param reason for people
   */
  public JobStatus pause(String name, @Nullable Instant until, String reason) {
    return backend.await(jobs.pause(name, until, reason, "application"));
  }

  /** Resumes a job. Times that passed in the pause do not run. */
  public JobStatus resume(String name) {
    return backend.await(jobs.resume(name));
  }

  /** Stops the runs of a scheduled time: their shards are cancelled. */
  public JobStatus stop(String name, Instant time) {
    return backend.await(jobs.stop(name, time));
  }

  /**
   * Deletes a job; nothing of it fires any more.
   *
   * @param cancelsRuns whether the shards of active runs are cancelled; otherwise they finish
   * @return whether there was one
   */
  public boolean delete(String name, boolean cancelsRuns) {
    return backend.await(jobs.delete(name, cancelsRuns));
  }

  /** Creates or replaces a calendar, whose days schedules exclude by its name; returns whether there was one. */
  public boolean putCalendar(String name, Calendar calendar) {
    return backend.await(jobs.putCalendar(name, calendar));
  }
}
