package io.foliot.jobs;

import io.foliot.jobs.Allocators.UnallocatedException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Logs that a run of a job waits for the job's allocator, once for each wait. Thread-safe. */
final class WaitLog {
  /**
   * Maximum number of jobs that are remembered. While that many jobs wait, further jobs are not logged, but the status
   * of each job shows the reason.
   */
  static final int MAX_JOBS = 1_000;
  /**
   * A job may be forgotten if no pass over it has come for this time. A job that still waits is planned every two
   * seconds.
   */
  private static final long FORGOTTEN_MILLIS = 60_000;

  private final System.Logger logger;
  private final Map<String, Long> lastPasses = new ConcurrentHashMap<>();

  WaitLog(System.Logger logger) {
    this.logger = logger;
  }

  /**
   * Records a pass.
   *
   * @param unallocated the reason why a run of the job waits for the allocator, or null if no run does
   * @param now the store's time of the pass, in milliseconds since 1970
   */
  void planned(String job, @Nullable UnallocatedException unallocated, long now) {
    if (isNew(job, unallocated != null, now) && unallocated != null) {
      logger.log(System.Logger.Level.WARNING, "a run does not begin, and is tried again every two seconds: job=" + job
          + ", reason=it " + unallocated.getMessage(), unallocated.getCause());
    }
  }

  private boolean isNew(String job, boolean waits, long now) {
    if (!waits) {
      lastPasses.remove(job);
      return false;
    }
    if (lastPasses.size() >= MAX_JOBS && !lastPasses.containsKey(job)) {
      lastPasses.values().removeIf(last -> now - last > FORGOTTEN_MILLIS);
      if (lastPasses.size() >= MAX_JOBS) {
        return false;
      }
    }
    return lastPasses.put(job, now) == null;
  }
}
