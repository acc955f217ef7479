package io.foliot.engine;

/**
 * A reading of the store's clock, from which the monotonic clock counts on: a step of this node's wall clock changes
 * nothing.
 *
 * <p>A clock behind a network had the value that was read at an unknown instant of the call; taking the middle is wrong
 * by at most half the call. A slow reading, of a paused process or a busy store, is therefore less exact than an older
 * quick one. The older one is kept until it may have drifted as far, or until the two contradict each other, which
 * means that the store's clock was set.
 *
 * @param storeMicros the value of the store's clock
 * @param atNanos when, by the monotonic clock
 * @param uncertainNanos by how much {@code atNanos} may be wrong
 * @param offsetMicros by how much the store's clock was ahead of this node's
 */
record ClockReading(long storeMicros, long atNanos, long uncertainNanos, long offsetMicros) {
  /** The largest drift of two clocks per second, in nanoseconds: twice that of quartz. */
  private static final long DRIFT_NANOS_PER_SECOND = 200_000;
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  /** Returns the store's clock, in microseconds. */
  long micros(long nowNanos) {
    return storeMicros + (nowNanos - atNanos) / 1_000;
  }

  /** Returns the earliest value that the store's clock may have, in microseconds. */
  long earliestMicros(long nowNanos) {
    return micros(nowNanos) - uncertainNanos(nowNanos) / 1_000;
  }

  private long uncertainNanos(long nowNanos) {
    return uncertainNanos + (nowNanos - atNanos) / NANOS_PER_SECOND * DRIFT_NANOS_PER_SECOND;
  }

  /** Returns the better of this one and a newer one. */
  ClockReading or(ClockReading newer) {
    long nowNanos = newer.atNanos;
    long mine = uncertainNanos(nowNanos);
    long apartMicros = Math.abs(micros(nowNanos) - newer.storeMicros);
    boolean contradicts = apartMicros > (mine + newer.uncertainNanos) / 1_000 + 1;
    return newer.uncertainNanos <= mine || contradicts ? newer : this;
  }
}
