package io.foliot.engine;

/**
 * A reading of the store's clock, continued by this node's monotonic clock: a step of the node's wall clock changes
 * nothing.
 *
 * <p>If a clock is read over a network, it had the returned value at an unknown instant during the call. The middle of
 * the call is taken as that instant, and is wrong by at most half of the call's duration. A slow reading, of a paused
 * process or a busy store, may therefore be less exact than an older quick reading. The older reading is then kept. But
 * if the two readings contradict each other, the store's clock was set, and the newer reading is used.
 *
 * @param storeMicros the value of the store's clock, in microseconds since 1970
 * @param atNanos the instant of the reading, by the monotonic clock
 * @param uncertainNanos by how much {@code atNanos} may be too early or too late, without drift
 * @param offsetMicros by how much the store's clock was ahead of this node's wall clock
 */
record ClockReading(long storeMicros, long atNanos, long uncertainNanos, long offsetMicros) {
  /** Largest assumed drift between two clocks: one nanosecond in this many, or 200 microseconds a second. */
  private static final long NANOS_PER_NANO_OF_DRIFT = 5_000;

  /** Returns the store's clock, in microseconds since 1970, at an instant of the monotonic clock. */
  long micros(long nowNanos) {
    return storeMicros + (nowNanos - atNanos) / 1_000;
  }

  /** Returns the earliest value that the store's clock may have, in microseconds since 1970. */
  long earliestMicros(long nowNanos) {
    return micros(nowNanos) - uncertainNanos(nowNanos) / 1_000 - 1;
  }

  private long uncertainNanos(long nowNanos) {
    return uncertainNanos + (nowNanos - atNanos) / NANOS_PER_NANO_OF_DRIFT + 1;
  }

  /** Returns the better of this reading and a newer one. */
  ClockReading or(ClockReading newer) {
    long nowNanos = newer.atNanos;
    long mine = uncertainNanos(nowNanos);
    long apartMicros = Math.abs(micros(nowNanos) - newer.storeMicros);
    boolean contradicts = apartMicros > (mine + newer.uncertainNanos) / 1_000 + 1;
    return newer.uncertainNanos <= mine || contradicts ? newer : this;
  }
}
