package io.foliot.jobs;

import io.foliot.core.Stages;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.TaskStore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An estimate of the number of jobs in a store: a recent count of the store plus the jobs that this node has created
 * since that count. Thread-safe; no method waits for the store.
 *
 * <p>A call of {@link #count} starts a read of the store if the last successful read began at least ten seconds ago.
 * The count that the store returns may itself be ten seconds old, so it may lack jobs that this node created just
 * before the read. The previous count plus the jobs created since then includes these jobs. The estimate is therefore
 * the larger of two sums: for each of the latest two counts, the count plus the jobs created since that read. While
 * {@link #count} is called often and its reads succeed, jobs of other nodes may be missing for twenty seconds, and
 * deleted jobs may be included for thirty.
 */
final class JobCount {
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);
  /** Pause after a failed read. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TaskStore store;
  private final JobSurroundings surroundings;
  private final AtomicLong created = new AtomicLong();
  private final AtomicBoolean isReading = new AtomicBoolean();
  private volatile Readings readings;

  /**
   * A count of the store.
   *
   * @param jobs the number of jobs
   * @param created the number of jobs that this node had created when the read began
   */
  private record Reading(long jobs, long created) {
    static final Reading NONE = new Reading(0, 0);

    /** Returns this count plus the jobs that this node has created since the count. */
    long with(long createdNow) {
      return jobs + createdNow - created;
    }
  }

  /**
   * The latest two counts of the store.
   *
   * @param nextNanos when the store may be read again, as a reading of {@link JobSurroundings#nanoTime}
   */
  private record Readings(Reading last, Reading before, long nextNanos) {}

  JobCount(TaskStore store, JobSurroundings surroundings) {
    this.store = store;
    this.surroundings = surroundings;
    readings = new Readings(Reading.NONE, Reading.NONE, surroundings.nanoTime());
  }

  /** Records that this node created a job. */
  void created() {
    created.incrementAndGet();
  }

  /** Returns the estimated number of jobs. If the latest count is old, starts another read for later estimates. */
  long count() {
    Readings known = readings;
    long nanos = surroundings.nanoTime();
    if (nanos - known.nextNanos() >= 0 && isReading.compareAndSet(false, true)) {
      long createdBefore = created.get();
      Stages.call(store::counts).whenComplete((counts, failure) -> {
        if (counts != null) {
          long jobs = counts.getOrDefault(Shards.JOBS, QueueCounts.NONE).live();
          readings = new Readings(new Reading(jobs, createdBefore), known.last(), nanos + MAX_AGE_NANOS);
        } else {
          readings = new Readings(known.last(), known.before(), nanos + RETRY_NANOS);
        }
        isReading.set(false);
      });
    }
    long now = created.get();
    return Math.max(known.last().with(now), known.before().with(now));
  }
}
