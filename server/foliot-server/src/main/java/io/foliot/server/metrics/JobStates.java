package io.foliot.server.metrics;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The jobs that run or fail, as of this node's last planning passes over them. Safe for use by any thread.
 *
 * <p>A state expires a minute after the job's next pass is due. If another node makes that pass, that node has the
 * state from then on, so the figures of all nodes can be added up.
 */
final class JobStates {
  private static final int MAX = 10_000;
  private static final long GRACE_MILLIS = 60_000;

  /** The state of one job. */
  record State(String job, String queue, int running, long failuresInRow, long untilMillis) {}

  private final Map<String, State> states = new ConcurrentHashMap<>();

  /** Records a job after a planning pass. */
  void planned(String job, String queue, int running, long failuresInRow, long nextMillis) {
    if (running == 0 && failuresInRow == 0) {
      states.remove(job);
    } else if (states.size() < MAX || states.containsKey(job)) {
      states.put(job, new State(job, queue, running, failuresInRow, nextMillis + GRACE_MILLIS));
    }
  }

  /** Returns the jobs that run or fail, those with the most failures first. */
  List<State> read(long nowMillis) {
    states.values().removeIf(state -> state.untilMillis() < nowMillis);
    return states.values().stream().sorted(Comparator.comparingLong(State::failuresInRow).reversed()).toList();
  }
}
