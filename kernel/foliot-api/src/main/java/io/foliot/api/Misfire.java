package io.foliot.api;

import java.time.Duration;

/**
 * The rule for scheduled times that are found more than 30 s late, or together with others.
 *
 * @param policy the rule that selects the times to run
 * @param window the largest lateness of a time that may still run; any other late time is recorded as missed
 * @param max the maximum number of times that run with {@link Policy#ALL}; the other policies do not use it
 */
public record Misfire(Policy policy, Duration window, int max) {
  /** Maximum number of times that run after one outage. */
  public static final int MAX_RUNS = 100;
  private static final Duration LONGEST_WINDOW = Duration.ofDays(366);
  static final FieldType.Whole RUNS = new FieldType.Whole(1, MAX_RUNS);
  static final FieldType.Span LATENESS = new FieldType.Span(
      window -> !window.isNegative() && window.compareTo(LONGEST_WINDOW) <= 0, "a duration of at most 366 days", false);
  /** The window of {@link Policy#SKIP} unless another one is set. */
  public static final Duration WINDOW_OF_SKIP = Duration.ofMinutes(1);
  /** The rule that runs the latest time, if it is at most a day late. */
  public static final Misfire DEFAULT = once(Duration.ofDays(1));

  /** The choice among late times. */
  public enum Policy {
    /**
     * The latest time runs, if it is within the window. A header has the number of times that were missed directly
     * before this time.
     */
    ONCE,
    /**
     * All times within the window run, or the newest of them if there are more than the maximum. They run in order, and
     * one after the other unless the overlap rule allows concurrent runs.
     */
    ALL,
    /** All times within the window, or the newest 100 of them, run as if they were on time. */
    SKIP
  }

  /**
   * @throws InvalidSettingException if the window or the maximum is out of range
   */
  public Misfire {
    LATENESS.checked("misfire.window", window);
    RUNS.checked("misfire.max", max);
  }

  /** Returns the rule that runs the latest time within a window. */
  public static Misfire once(Duration window) {
    return new Misfire(Policy.ONCE, window, 1);
  }

  /** Returns the rule that runs the newest times within a window, up to a maximum. */
  public static Misfire all(int max, Duration window) {
    return new Misfire(Policy.ALL, window, max);
  }

  /** Returns the rule that runs the times within a window, and no others. */
  public static Misfire skip(Duration window) {
    return new Misfire(Policy.SKIP, window, MAX_RUNS);
  }
}
