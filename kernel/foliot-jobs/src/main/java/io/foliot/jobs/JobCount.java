package io.foliot.jobs;

import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.TaskStore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An estimate of the number of jobs in a store: its last count plus the jobs that this node has created since. Any
 * thread; no method waits for the store, whose first count may take long.
 *
 * <p>The store is read every ten seconds at most, and its counts may be ten seconds old. The count before the last one
 * is therefore kept as well, and the estimate is the larger of both sums. Jobs that this node created are always
 * included. Jobs that other nodes created may be missing for twenty seconds, and deleted jobs may be included for as
 * long.
 */
final class JobCount {
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final TaskStore store;
  private final JobSurroundings surroundings;
  private final AtomicLong created = new AtomicLong();
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile Answers answers;

  /**
   * @param jobs the count of the store
   * @param created the number of jobs that this node had created when the store was asked
   */
  private record Answer(long jobs, long created) {
    static final Answer NONE = new Answer(0, 0);

    long with(long createdNow) {
      return jobs + createdNow - created;
    }
  }

  private record Answers(Answer last, Answer before, long nextNanos) {}

  JobCount(TaskStore store, JobSurroundings surroundings) {
    this.store = store;
    this.surroundings = surroundings;
    answers = new Answers(Answer.NONE, Answer.NONE, surroundings.nanoTime());
  }

  /** Notes that this node created a job. */
  void created() {
    created.incrementAndGet();
  }

  /** Returns the estimated number of jobs, and reads the store's count again if the last one is old. */
  long count() {
    Answers known = answers;
    long nanos = surroundings.nanoTime();
    if (nanos - known.nextNanos() >= 0 && asking.compareAndSet(false, true)) {
      long createdBefore = created.get();
      store.counts().whenComplete((counts, failure) -> {
        if (counts != null) {
          long jobs = counts.getOrDefault(Shards.JOBS, QueueCounts.NONE).live();
          answers = new Answers(new Answer(jobs, createdBefore), known.last(), nanos + MAX_AGE_NANOS);
        }
        asking.set(false);
      });
    }
    long now = created.get();
    return Math.max(known.last().with(now), known.before().with(now));
  }
}
