package io.foliot.jobs;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The changes of this process that wait for a gap between two planning passes of their job. A change is accepted only
 * between two passes. A job that runs ten times a second on a slow store is nearly always in a pass. The planner of
 * this process leaves {@link #GAP_MILLIS} before the next pass of such a job, so that the change can be written.
 * Planners of other processes are not notified of the change. Thread-safe.
 */
final class JobTurns {
  /**
   * Pause before the next pass while a change waits. The pause is long enough for the wait between two tries of the
   * change, and for one try. A try makes three calls to a store that may be busy.
   */
  static final long GAP_MILLIS = 300;

  private final ConcurrentHashMap<String, Integer> waiting = new ConcurrentHashMap<>();

  /** Records that a change of a job waits for its turn. */
  void await(String job) {
    waiting.merge(job, 1, Integer::sum);
  }

  /** Records that a change no longer waits, because it was written or has failed. */
  void leave(String job) {
    waiting.computeIfPresent(job, (name, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Returns when the next pass of a job is due, in milliseconds since 1970.
   *
   * @param now the store's time
   * @param planned when the pass would be due if no change waited
   */
  long nextPass(String job, long now, long planned) {
    return waiting.containsKey(job) ? Math.max(planned, now + GAP_MILLIS) : planned;
  }
}
