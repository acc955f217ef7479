package io.foliot.jobs;

/**
 * Counts the decisions of planning passes. The passes call the meter on any thread, so an implementation must be fast
 * and must not throw. If the result of a pass was not recorded, the pass is repeated, and its decisions are counted
 * again.
 */
public interface JobMeter {
  /**
   * Records that a planning pass has begun.
   *
   * @param lateMillis the milliseconds from the due time of the pass to its beginning
   */
  default void passed(long lateMillis) {}

  /**
   * Counts scheduled times of a queue's jobs that a pass has decided.
   *
   * @param what the decision: fired, skipped, missed, paused or no_targets
   */
  default void times(String queue, String what, long count) {}

  /**
   * Counts runs of a queue's jobs that have ended.
   *
   * @param what the result: succeeded, failed, unknown or stopped
   */
  default void ended(String queue, String what, long count) {}

  /**
   * Records that the run of a scheduled time has begun.
   *
   * @param lateMillis the milliseconds from the scheduled time to the beginning
   */
  default void began(String queue, long lateMillis) {}

  /**
   * Records the state of a job after a pass.
   *
   * @param running how many runs of the job are active
   * @param failuresInRow how many runs have failed since the latest run that succeeded
   * @param lacksRoom whether a run of the job waits because the jobs of its queue have as many unfinished shards as
   *     they may have
   * @param nextMillis when the next pass is due, in milliseconds since 1970; until then the other values are valid
   */
  default void planned(String job, String queue, int running, long failuresInRow, boolean lacksRoom,
      long nextMillis) {}

  /**
   * Records how many jobs were planned while the store's clock was ahead, and are not repaired yet.
   *
   * @param jobs the number of jobs
   */
  default void ahead(long jobs) {}

  /** A meter that counts nothing. */
  JobMeter NONE = new JobMeter() {};
}
