package io.foliot.jobs;

import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.TaskStore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * About how many jobs a store has: what it counted last, and what this node has created since. Any thread; nothing
 * waits for the store, which may take long to count its first time.
 *
 * <p>The store is asked every ten seconds at most, and its counts may be ten seconds old. So its answer before the last
 * is kept as well, and the larger sum of both is taken: what this node created is never left out, what other nodes
 * created may be for twenty seconds, and what was deleted counts for as long.
 */
final class JobCount {
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final TaskStore store;
  private final JobSurroundings surroundings;
  private final AtomicLong created = new AtomicLong();
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile Answers answers;

  /**
   * @param jobs what the store counted
   * @param created what this node had created when it was asked
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

  /** Returns about how many jobs there are, and asks the store again if it is time. */
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
