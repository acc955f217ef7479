package io.foliot.sim;

import io.foliot.core.TimeSource;

/**
 * The clocks of one machine: the virtual time plus their errors. The wall clock is set; the monotonic clock only
 * drifts.
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
   * Clocks.
   *
   * @param skewMillis by how much the wall clock is ahead
   * @param driftPpm by how many millionths both are fast
   * @param originNanos the first reading of the monotonic clock
   */
  NodeClock(Schedule schedule, long skewMillis, long driftPpm, long originNanos) {
    this.schedule = schedule;
    this.driftPpm = driftPpm;
    this.originNanos = originNanos;
    errorMicros = skewMillis * 1_000;
  }

  /** The machine's clocks as an operator or a daemon changes them. */
  void stepMillis(long millis) {
    errorMicros += millis * 1_000;
  }

  /** Sets the wall clock to the virtual time plus this error. */
  void set(long aheadMillis) {
    errorMicros = 1_000 * aheadMillis - driftedNanos() / 1_000;
  }

  /** As where a whole machine is put to sleep: the monotonic clock stops, too. */
  void suspend() {
    if (suspendedNanos < 0) {
      suspendedNanos = ranNanos();
    }
  }

  void resume() {
    if (suspendedNanos >= 0) {
      sleptNanos += ranNanos() - suspendedNanos;
      suspendedNanos = -1;
    }
  }

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
