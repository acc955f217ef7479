package io.foliot.server.metrics;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The jobs that have active runs, failed runs since their last success, or a run without room in its queue, as of this
 * node's latest planning passes. Safe for use by any thread.
 *
 * <p>A state expires a minute after the next planning pass of its job is due. If another node then makes a planning
 * pass of the job, both nodes have a state of the job until the older state expires. Until then, a sum over all nodes
 * may count the job twice.
 */
final class JobStates {
  /** Maximum number of jobs whose states are kept; further jobs are ignored. */
  private static final int MAX = 10_000;
  /** Time for which a state is kept after the next planning pass is due. */
  private static final long GRACE_MILLIS = 60_000;

  /**
   * The state of one job.
   *
   * @param running the number of active runs
   * @param failuresInRow the number of failed runs since the last success
   * @param lacksRoom whether a run waits because its queue has as many unfinished shards of jobs as it may have
   * @param untilMillis the time at which the state expires, in ms since 1970
   */
  record State(String job, String queue, int running, long failuresInRow, boolean lacksRoom, long untilMillis) {}

  private final Map<String, State> states = new ConcurrentHashMap<>();

  /**
   * Records a job after a planning pass.
   *
   * @param nextMillis the time of the next planning pass, in ms since 1970
   */
  void planned(String job, String queue, int running, long failuresInRow, boolean lacksRoom, long nextMillis) {
    if (running == 0 && failuresInRow == 0 && !lacksRoom) {
      states.remove(job);
    } else if (states.size() < MAX || states.containsKey(job)) {
      states.put(job, new State(job, queue, running, failuresInRow, lacksRoom, nextMillis + GRACE_MILLIS));
    }
  }

  /** Returns the states that have not expired, the jobs with the most failures in a row first. */
  List<State> read(long nowMillis) {
    states.values().removeIf(state -> state.untilMillis() < nowMillis);
    return states.values().stream().sorted(Comparator.comparingLong(State::failuresInRow).reversed()).toList();
  }
}
