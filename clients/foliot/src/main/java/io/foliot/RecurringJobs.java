package io.foliot;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import io.foliot.schedule.Calendar;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The recurring jobs of a {@link Foliot}. At each scheduled time, a job submits one task per shard to its queue. The
 * handler of that queue does the work; {@link Attempt#run} returns the scheduled time and the shard.
 *
 * <pre>{@code
 * foliot.tasks("billing", String.class).handle((text, attempt) -> report(attempt.run().scheduledAt()));
 * foliot.jobs().put(Job.named("report").queue("billing").cron("0 2 * * *").timeZone("Europe/Berlin"));
 * }</pre>
 *
 * <p>Safe for use by any thread. Calls block until the store has answered, and fail with the same exceptions as those
 * of {@link Foliot}. A call that needs an existing job fails with {@link Jobs.UnknownJobException} if there is none.
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
   * Creates a job or replaces its definition. Putting the same definition again changes nothing, unless a handler has
   * ended the job.
   *
   * @throws IllegalArgumentException if a setting is not valid, or the queue does not exist
   * @throws Jobs.JobNameInUseException if the job exists in another queue; see {@link #move}
   * @throws Jobs.TooManyJobsException if the job is new, and a million jobs exist already, or the queue has as many as
   *     its {@link Tasks#maxJobs} permits
   */
  public JobStatus put(Job job) {
    ensureQueue(job);
    return backend.await(jobs.put(job)).status();
  }

  /** Creates a job or replaces its definition, as {@link #put(Job)} does. */
  public JobStatus put(Job.Builder job) {
    return put(job.build());
  }

  /** Creates a job or replaces its definition, as {@link #put(Job)} does, also if the job exists in another queue. */
  public JobStatus move(Job job) {
    ensureQueue(job);
    return backend.await(jobs.move(job)).status();
  }

  /**
   * Declares a job that is defined in code. The store remembers the latest eight definitions that code has declared for
   * this job. The definition is stored only if it is not among them. A later change by hand therefore stays until the
   * code changes, and an old instance of the application changes nothing during a rolling deployment.
   *
   * @return the stored job, which may differ from the declaration
   * @throws IllegalArgumentException if a setting is not valid, or the queue does not exist
   */
  public JobStatus declare(Job job) {
    ensureQueue(job);
    return backend.await(jobs.declare(job)).status();
  }

  /** Declares a job that is defined in code, as {@link #declare(Job)} does. */
  public JobStatus declare(Job.Builder job) {
    return declare(job.build());
  }

  private void ensureQueue(Job job) {
    if (backend.await(queues.apply(job.queue())).isEmpty()) {
      throw new IllegalArgumentException("there is no queue of that name; foliot.tasks(name, type) creates it: job="
          + job.name() + ", queue=" + job.queue());
    }
  }

  /** Returns a job with its runs, or empty if the job does not exist. */
  public Optional<JobStatus> find(String name) {
    return backend.await(jobs.find(name));
  }

  /**
   * Returns a page of the jobs.
   *
   * @param limit from 1 to 1,000
   * @param cursor the cursor of the page before, or null for the first page
   */
  public Jobs.Page list(int limit, @Nullable String cursor) {
    return backend.await(jobs.list(limit, cursor));
  }

  /**
   * Returns the next {@code count} scheduled times of a job in ascending order, or fewer if the schedule ends. For a
   * paused job, these times are after the end of the pause, or after now if the pause has no end.
   */
  public List<ZonedDateTime> next(String name, int count) {
    return backend.await(jobs.next(name, count));
  }

  /**
   * Requests a run now, and returns the time that identifies the run. The run waits for active runs if the overlap rule
   * does not allow concurrent runs.
   */
  public Instant trigger(String name) {
    return backend.await(jobs.trigger(name, null)).times().getFirst();
  }

  /**
   * Requests runs for scheduled times in the past, the oldest first. Returns the times in this order.
   *
   * @param from the first instant of the range
   * @param to the first instant after the range
   * @param dryRun whether to return the times only, without a request
   * @throws IllegalArgumentException if the range is empty, ends in the future or has more than 100 times, or if the
   *     job has a fixed delay
   */
  public List<Instant> backfill(String name, Instant from, Instant to, boolean dryRun) {
    return backend.await(jobs.backfill(name, from, to, dryRun, null)).times();
  }

  /**
   * Pauses a job: after this method has returned, the schedule starts no run until the job is resumed.
   *
   * @param until when the job resumes by itself; null for never
   * @param reason a human-readable reason
   */
  public JobStatus pause(String name, @Nullable Instant until, String reason) {
    return backend.await(jobs.pause(name, until, reason, "application"));
  }

  /** Resumes a job. Scheduled times that passed during the pause start no runs. */
  public JobStatus resume(String name) {
    return backend.await(jobs.resume(name));
  }

  /**
   * Returns a page of the shards and listeners of the runs of a scheduled time, with their tasks: the reasons of
   * failures, the attempts and the logs. Empty if the job has no run of that time, or no longer keeps it.
   *
   * @param onlyFailed whether only failed and cancelled tasks are returned
   * @param limit from 1 to 1,000
   * @param cursor the {@code next} of the page before, or null for the first page
   */
  public Jobs.RunPage tasks(String name, Instant time, boolean onlyFailed, int limit, @Nullable String cursor) {
    return backend.await(jobs.tasks(name, time, onlyFailed, limit, cursor));
  }

  /**
   * Runs a failed shard of a run again, from its last checkpoint. If the run has ended, it is active again until the
   * shard has ended, and its result then follows from all its shards. Listeners do not run again.
   *
   * @param origin 0 for the schedule, else the number of the request for the run; null for the only run of the time
   * @param zone the zone of the shard, or empty
   * @param shard the number of the shard; with a zone, its number within the zone
   * @throws Jobs.UnknownRunException if there is no such run
   * @throws Jobs.NotFailedException if the shard has not failed, or its record is gone
   * @throws Jobs.RunActiveException if another run is active, and the overlap rule permits only one
   */
  public JobStatus redrive(String name, Instant time, @Nullable Long origin, String zone, int shard) {
    return backend.await(jobs.redrive(name, time, origin, zone, shard));
  }

  /** Stops the runs of a scheduled time by cancelling their shards. */
  public JobStatus stop(String name, Instant time) {
    return backend.await(jobs.stop(name, time));
  }

  /**
   * Deletes a job. No further run of it begins.
   *
   * @param cancelsRuns whether the shards of active runs are cancelled; otherwise they finish
   * @return whether the job existed
   */
  public boolean delete(String name, boolean cancelsRuns) {
    return backend.await(jobs.delete(name, cancelsRuns));
  }

  /**
   * Creates or replaces a calendar. Schedules exclude the days of the calendars that they name.
   *
   * @return whether a calendar of this name existed before
   */
  public boolean putCalendar(String name, Calendar calendar) {
    return backend.await(jobs.putCalendar(name, calendar));
  }
}
