package io.foliot.bench.store;

import java.time.Duration;

/**
 * The amount of work of one round.
 *
 * @param tasks how many tasks are drained; also the maximum number of live keys
 * @param time how long callers repeat their calls
 */
record Work(int tasks, Duration time) {
  Work {
    if (tasks < 1 || time.isNegative()) {
      throw new IllegalArgumentException("a round must have some work: tasks=" + tasks + ", time=" + time);
    }
  }

  /** Returns the work for a scheduler that drains a multiple of these tasks in the same time. */
  Work times(double share) {
    return new Work(Math.max(1, (int) Math.round(tasks * share)), time);
  }

  /** Returns half of this work, to warm up the JIT compiler. */
  Work warmUp() {
    return new Work(Math.max(1, tasks / 2), time.dividedBy(2));
  }
}
