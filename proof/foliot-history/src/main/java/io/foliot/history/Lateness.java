package io.foliot.history;

import java.util.Arrays;

/** How long after its due time the first attempt of a firing arrived. */
public record Lateness(long firings, long p50Millis, long p99Millis, long maxMillis) {
  /** What the system had to cope with. */
  public enum Phase {
    FAULT_FREE,
    /** A fault lay between due time and arrival. */
    DURING_FAULT,
    /** Due within the grace time after a fault. */
    AFTER_HEAL
  }

  static Lateness of(long[] millis) {
    long[] sorted = millis.clone();
    Arrays.sort(sorted);
    return new Lateness(sorted.length, at(sorted, 50), at(sorted, 99), at(sorted, 100));
  }

  private static long at(long[] sorted, int percent) {
    if (sorted.length == 0) {
      return 0;
    }
    long rank = (sorted.length * (long) percent + 99) / 100;
    return sorted[(int) Math.max(0, rank - 1)];
  }

  @Override
  public String toString() {
    return firings == 0
        ? "none"
        : "p50 " + p50Millis + " ms, p99 " + p99Millis + " ms, max " + maxMillis + " ms (" + firings + " firings)";
  }
}
