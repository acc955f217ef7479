package io.foliot.jobs;

import io.foliot.testkit.SettableClock;
import java.util.random.RandomGenerator;

/** The surroundings of jobs in tests: a clock that the test sets, and actions that the test runs. */
record TestSurroundings(SettableClock clock, RandomGenerator random, Timer timer) implements JobSurroundings {
  /** Receives the actions that are to run after a delay. */
  interface Timer {
    void after(long millis, Runnable action);
  }

  @Override
  public long nanoTime() {
    return clock.monotonicNanos();
  }

  @Override
  public long wallMillis() {
    return clock.wallMillis();
  }

  @Override
  public void after(long millis, Runnable action) {
    timer.after(millis, action);
  }

  @Override
  public long randomBits() {
    return random.nextLong();
  }
}
