package io.foliot.core;

/**
 * The two clocks of the engine. Deadlines are wall time; waits and durations are monotonic time. The engine never
 * derives a wait from two readings of the wall clock.
 */
public interface TimeSource {
  /** Returns the wall clock in microseconds since 1970. The clock may be stepped in either direction. */
  long wallMicros();

  /** Returns the reading of a clock that only goes forward, in nanoseconds from an arbitrary origin. */
  long monotonicNanos();

  /** Returns the wall clock in milliseconds since 1970, rounded down. */
  default long wallMillis() {
    return Math.floorDiv(wallMicros(), 1_000);
  }
}
