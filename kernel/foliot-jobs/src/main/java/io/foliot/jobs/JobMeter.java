package io.foliot.jobs;

/**
 * Counts the decisions of planning passes. Each pass calls it, on any thread, so an implementation must be fast and
 * must not throw. A pass whose result was not recorded is planned and counted again.
 */
public interface JobMeter {
  /** Counts decided scheduled times of a queue's jobs; {@code what}: fired, skipped, missed, paused, no_targets. */
  default void times(String queue, String what, long count) {}

  /** Counts runs that ended; {@code what}: succeeded, failed, unknown, stopped. */
  default void ended(String queue, String what, long count) {}

  /** Called when the run of a scheduled time began, with the milliseconds after that time. */
  default void began(String queue, long lateMillis) {}

  /**
   * Called with the state of a job after a pass.
   *
   * @param running how many of its runs are active
   * @param failuresInRow how many runs have failed since the last one that succeeded
   * @param nextMillis when its next pass is due, in milliseconds since 1970; until then the other values are valid
   */
  default void planned(String job, String queue, int running, long failuresInRow, long nextMillis) {}

  /** Counts nothing. */
  JobMeter NONE = new JobMeter() {};
}
