package io.foliot.jobs;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The changes of this process that wait for a job whose planning passes leave almost no gap. A change is accepted only
 * between two passes, and a job that runs ten times a second on a slow store is nearly always in a pass. The planner of
 * this process delays the next pass of such a job a little, so that the change gets its turn. Planners of other
 * processes do not know of the change. Any thread.
 */
final class JobTurns {
  /** Longer than the pause between two attempts of a change and its three calls of a busy store. */
  static final long GAP_MILLIS = 300;

  private final ConcurrentHashMap<String, Integer> waiting = new ConcurrentHashMap<>();

  /** Notes that a change of a job waits for its turn. */
  void await(String job) {
    waiting.merge(job, 1, Integer::sum);
  }

  /** Notes that a change that waited has had its turn, or has given up. */
  void leave(String job) {
    waiting.computeIfPresent(job, (name, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Returns when the next pass of a job is due, in milliseconds since 1970.
   *
   * @param now the store's time
   * @param planned when it would be due if no change waited
   */
  long nextPass(String job, long now, long planned) {
    return waiting.containsKey(job) ? Math.max(planned, now + GAP_MILLIS) : planned;
  }
}
