package io.foliot.jobs;

import java.util.HashMap;
import java.util.Map;

/**
 * The number of unfinished shards of the jobs of each queue, as the passes of this process have found them.
 * Thread-safe.
 *
 * <p>A pass knows the shards of its job from the job's record, so nothing is read from the store. A job that is planned
 * by another process is not known here. A job that this process no longer plans counts for some seconds more: until its
 * next pass is overdue, or, if that pass would come later, for {@value #COUNTED_MILLIS} ms. A job without a pass for so
 * long has no run of more than one shard, and so at most {@link JobRecord#MAX_ACTIVE} unfinished shards.
 */
final class QueueShards {
  /** Lateness of a pass beyond which the shards of its job no longer count. */
  static final long GRACE_MILLIS = 15_000;
  /** Longest time for which the shards of a job count, in addition to the grace. Longer than most polls of runs. */
  static final long COUNTED_MILLIS = 30_000;
  private static final long SWEEP_MILLIS = 10_000;

  /**
   * The unfinished shards of a job.
   *
   * @param shards their number by queue; more than one queue if deleted jobs of the same name have left runs
   * @param untilMillis when they count no longer, in milliseconds since 1970
   */
  private record Known(Map<String, Long> shards, long untilMillis) {}

  // guarded by this
  private final Map<String, Known> jobs = new HashMap<>();
  /** The sums over {@link #jobs}. */
  private final Map<String, Long> queues = new HashMap<>();
  private long sweptMillis;

  /** Returns how many unfinished shards the other jobs of a queue have. */
  synchronized long ofOthers(String job, String queue) {
    Known own = jobs.get(job);
    return queues.getOrDefault(queue, 0L) - (own == null ? 0 : own.shards().getOrDefault(queue, 0L));
  }

  /**
   * Records the unfinished shards of a job after a pass.
   *
   * @param shards their number by queue; no queue has 0
   * @param now the time of the pass, in milliseconds since 1970
   * @param next when the next pass is due by the state of the job
   * @param delay by how much this pass is delayed because planning is late
   */
  synchronized void planned(String job, Map<String, Long> shards, long now, long next, long delay) {
    if (Math.abs(now - sweptMillis) >= SWEEP_MILLIS) {
      sweptMillis = now;
      jobs.values().removeIf(known -> {
        boolean isOver = known.untilMillis() < now;
        if (isOver) {
          add(known.shards(), -1);
        }
        return isOver;
      });
    }
    long until = Math.min(next, now + COUNTED_MILLIS) + delay + GRACE_MILLIS;
    Known before = shards.isEmpty() ? jobs.remove(job) : jobs.put(job, new Known(shards, until));
    if (before != null) {
      add(before.shards(), -1);
    }
    add(shards, 1);
  }

  /** Forgets all jobs. Their next passes record them again. */
  synchronized void clear() {
    jobs.clear();
    queues.clear();
  }

  private void add(Map<String, Long> shards, int sign) {
    shards.forEach((queue, count) -> queues.merge(queue, sign * count,
        (sum, more) -> sum + more == 0 ? null : Long.valueOf(sum + more)));
  }
}
