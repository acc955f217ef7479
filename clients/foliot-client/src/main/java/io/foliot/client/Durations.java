package io.foliot.client;

import java.time.Duration;

/** Checks durations that callers supply. */
final class Durations {
  private Durations() {}

  /**
   * Returns the given duration.
   *
   * @throws IllegalArgumentException if the duration is negative
   */
  static Duration requireNotNegative(String what, Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(what + " must not be negative: " + what + "=" + duration);
    }
    return duration;
  }

  /**
   * Returns the given duration.
   *
   * @throws IllegalArgumentException if the duration is zero or negative
   */
  static Duration requirePositive(String what, Duration duration) {
    if (!duration.isPositive()) {
      throw new IllegalArgumentException(what + " must be positive: " + what + "=" + duration);
    }
    return duration;
  }
}
