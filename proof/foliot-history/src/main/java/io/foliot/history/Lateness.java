package io.foliot.history;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The lateness of the first attempts of firings: exact below two seconds, otherwise to three significant digits. */
public record Lateness(long firings, long p50Millis, long p99Millis, long maxMillis) {
  /** The time of a firing relative to the faults. */
  public enum Phase {
    /** Any time outside the other phases. */
    FAULT_FREE,
    /** A fault lasted at some time between due time and arrival. */
    DURING_FAULT,
    /** The firing was due within the grace time after a fault. */
    AFTER_HEAL
  }

  static Lateness of(@Nullable Histogram millis) {
    return millis == null
        ? new Lateness(0, 0, 0, 0)
        : new Lateness(millis.getTotalCount(), millis.getValueAtPercentile(50), millis.getValueAtPercentile(99),
            millis.getMaxValue());
  }

  @Override
  public String toString() {
    return firings == 0
        ? "none"
        : "p50 " + p50Millis + " ms, p99 " + p99Millis + " ms, max " + maxMillis + " ms (" + firings + " firings)";
  }
}
