package io.foliot.sim;

import io.foliot.core.TimeSource;

/**
 * The clocks of one machine, which show the virtual time plus an error. The wall clock can be set. The monotonic clock
 * only drifts, and stops while the machine is suspended.
 */
final class NodeClock implements TimeSource {
  private static final long MILLION = 1_000_000;

  private final Schedule schedule;
  private final long driftPpm;
  private final long originNanos;
  private long errorMicros;
  private long suspendedNanos = -1;
  private long sleptNanos;

  /**
   * Creates the clocks.
   *
   * @param skewMillis the initial lead of the wall clock over the virtual time
   * @param driftPpm how fast both clocks are, in parts per million; negative if they are slow
   * @param originNanos the first reading of the monotonic clock
   */
  NodeClock(Schedule schedule, long skewMillis, long driftPpm, long originNanos) {
    this.schedule = schedule;
    this.driftPpm = driftPpm;
    this.originNanos = originNanos;
    errorMicros = skewMillis * 1_000;
  }

  /** Moves the wall clock forward, or back if {@code millis} is negative. */
  void stepMillis(long millis) {
    errorMicros += millis * 1_000;
  }

  /** Sets the wall clock to the virtual time plus a lead. */
  void set(long aheadMillis) {
    errorMicros = 1_000 * aheadMillis - driftedNanos() / 1_000;
  }

  /** Stops the monotonic clock, as on a machine that sleeps. */
  void suspend() {
    if (suspendedNanos < 0) {
      suspendedNanos = ranNanos();
    }
  }

  /** Continues the monotonic clock, if it was stopped. */
  void resume() {
    if (suspendedNanos >= 0) {
      sleptNanos += ranNanos() - suspendedNanos;
      suspendedNanos = -1;
    }
  }

  /** Returns the time for which the monotonic clock would have run without suspensions. */
  private long ranNanos() {
    return schedule.nowNanos() + driftedNanos();
  }

  private long driftedNanos() {
    return schedule.nowNanos() / MILLION * driftPpm;
  }

  @Override
  public long wallMicros() {
    return schedule.nowMicros() + errorMicros + driftedNanos() / 1_000;
  }

  @Override
  public long monotonicNanos() {
    return originNanos + (suspendedNanos >= 0 ? suspendedNanos : ranNanos()) - sleptNanos;
  }
}
