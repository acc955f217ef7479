package io.foliot.testkit;

import io.foliot.core.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A clock that is stopped until a test moves it. Any thread may read and move it.
 *
 * <p>{@link #advance} lets time pass: the wall clock and the monotonic clock move. {@link #stepWall} acts like an
 * operator or an NTP daemon: only the wall clock jumps, in either direction.
 */
public final class SettableClock implements TimeSource {
  /** Time at which the wall clock of a {@link #SettableClock()} starts. */
  public static final Instant DEFAULT_START = Instant.parse("2026-01-01T00:00:00Z");
  /** First reading of the monotonic clock. It is not 0, because no code may assume the origin of such a clock. */
  private static final long MONOTONIC_ORIGIN_NANOS = 7_000_000_007L;

  // guarded by this
  private long wallMicrosAtStart;
  private long elapsedNanos;

  /** Creates a clock set to the beginning of 2026. */
  public SettableClock() {
    this(DEFAULT_START);
  }

  /** Creates a clock whose wall clock starts at an instant, truncated to microseconds. */
  public SettableClock(Instant start) {
    wallMicrosAtStart = micros(start);
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  @Override
  public synchronized long wallMicros() {
    return Math.addExact(wallMicrosAtStart, elapsedNanos / 1_000);
  }

  @Override
  public synchronized long monotonicNanos() {
    return Math.addExact(MONOTONIC_ORIGIN_NANOS, elapsedNanos);
  }

  /** Returns the time of the wall clock. */
  public Instant instant() {
    return Instant.EPOCH.plus(wallMicros(), ChronoUnit.MICROS);
  }

  /**
   * Lets time pass.
   *
   * @throws IllegalArgumentException if the time is negative; {@link #stepWall} sets the wall clock back
   */
  public synchronized void advance(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException(
          "time does not pass backwards; stepWall sets the wall clock back: time=" + time);
    }
    elapsedNanos = Math.addExact(elapsedNanos, time.toNanos());
  }

  /**
   * Sets the wall clock forward, or back if the step is negative. The step is rounded down to microseconds. The
   * monotonic clock does not change.
   */
  public synchronized void stepWall(Duration step) {
    wallMicrosAtStart = Math.addExact(wallMicrosAtStart, Math.floorDiv(step.toNanos(), 1_000L));
  }

  /** Sets the wall clock to an instant, truncated to microseconds; the monotonic clock does not change. */
  public synchronized void setWall(Instant instant) {
    wallMicrosAtStart = Math.subtractExact(micros(instant), elapsedNanos / 1_000);
  }

  @Override
  public String toString() {
    return "SettableClock[wall=" + instant() + ", monotonicNanos=" + monotonicNanos() + "]";
  }
}
