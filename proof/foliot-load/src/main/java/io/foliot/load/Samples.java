package io.foliot.load;

import org.HdrHistogram.Histogram;

/**
 * Measured values. Percentiles are accurate to four significant digits. The count, minimum and maximum are exact. For
 * the percentiles, negative values are replaced by zero. No percentile exceeds the maximum. Used by one thread.
 */
final class Samples {
  /** Significant digits of percentiles. The error is at most 0.01 %, and a histogram takes a few megabytes. */
  private static final int DIGITS = 4;

  private final Histogram values = new Histogram(DIGITS);
  private long min = Long.MAX_VALUE;
  private long max = Long.MIN_VALUE;

  void add(long value) {
    values.recordValue(Math.max(0, value));
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  void addAll(Samples other) {
    values.add(other.values);
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
  }

  int size() {
    return Math.toIntExact(values.getTotalCount());
  }

  /**
   * Returns the smallest value v such that at least {@code percent} % of all values are at most v. Returns 0 if there
   * are no values.
   */
  double percentile(double percent) {
    return size() == 0 ? 0 : Math.min(values.getValueAtPercentile(percent), max);
  }

  double median() {
    return percentile(50);
  }

  /** Returns the largest value, or 0 if there are none. */
  double max() {
    return size() == 0 ? 0 : max;
  }

  /** Returns the smallest value, which may be negative, or 0 if there are none. */
  double min() {
    return size() == 0 ? 0 : min;
  }
}
