package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Durations as the server writes and reads them: {@code 30m}, {@code 1500ms}, {@code 1h30m}, or ISO 8601 as
 * {@code PT30M}. The grammar is that of {@code io.foliot.core.DurationText}, on which this module does not depend. One
 * table of cases tests both.
 */
final class DurationText {
  private static final String UNITS = "wdhms";
  private static final long[] UNIT_MILLIS = {604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1};
  private static final int WEEK = 0;
  private static final int HOUR = 2;
  private static final int MINUTE = 3;
  private static final int MILLI = 5;
  /** A {@link Duration} has nanoseconds. */
  private static final int MAX_FRACTION_DIGITS = 9;

  private DurationText() {}

  /**
   * Returns the duration that an answer says, which is not negative.
   *
   * @throws UnreadableAnswerException if it is none
   */
  static Duration parse(String text) {
    Duration duration;
    try {
      duration = read(text);
    } catch (ArithmeticException e) {
      duration = null;
    }
    if (duration == null) {
      throw new UnreadableAnswerException("expected a duration such as \"30m\", but got \"" + text + '"', null);
    }
    return duration;
  }

  private static @Nullable Duration read(String text) {
    int length = text.length();
    boolean iso = length > 0 && lower(text, 0) == 'p';
    boolean time = !iso;
    int at = iso ? 1 : 0;
    int unit = WEEK - 1;
    boolean last = false;
    long millis = 0;
    long nanos = 0;
    while (at < length) {
      if (!time && lower(text, at) == 't') {
        time = true;
        unit = HOUR - 1;
        at++;
        if (at == length) {
          return null;
        }
      }
      int begin = at;
      long whole = 0;
      while (at < length && isDigit(text.charAt(at))) {
        whole = Math.addExact(Math.multiplyExact(whole, 10), text.charAt(at) - '0');
        at++;
      }
      boolean hasDigits = at > begin;
      long billionths = 0;
      boolean hasFraction = at < length && text.charAt(at) == '.';
      if (hasFraction) {
        int from = at + 1;
        at = from;
        while (at < length && isDigit(text.charAt(at))) {
          at++;
        }
        if (at == from || at - from > MAX_FRACTION_DIGITS) {
          return null;
        }
        billionths = billionths(text, from, at);
      }
      if (last || !(hasDigits || hasFraction) || at == length) {
        return null;
      }
      last = hasFraction;
      int next = unitAt(text, at, iso, time);
      if (next <= unit) {
        return null;
      }
      unit = next;
      at += unit == MILLI ? 2 : 1;
      millis = Math.addExact(millis, Math.multiplyExact(whole, UNIT_MILLIS[unit]));
      // Times 1,000,000 ns a millisecond, over 1,000,000,000; no product overflows.
      nanos = billionths * UNIT_MILLIS[unit] / 1_000;
    }
    if (unit < WEEK) {
      return null;
    }
    long allMillis = Math.addExact(millis, nanos / 1_000_000);
    return Duration.ofMillis(allMillis).plusNanos(nanos % 1_000_000);
  }

  private static long billionths(String text, int from, int to) {
    long value = 0;
    for (int i = 0; i < MAX_FRACTION_DIGITS; i++) {
      value = value * 10 + (from + i < to ? text.charAt(from + i) - '0' : 0);
    }
    return value;
  }

  /** The index of the unit there, or -1. */
  private static int unitAt(String text, int at, boolean iso, boolean time) {
    int unit = UNITS.indexOf(lower(text, at));
    if (iso) {
      return time == (unit >= HOUR) ? unit : -1;
    }
    boolean isMilli = unit == MINUTE && at + 1 < text.length() && lower(text, at + 1) == 's';
    return isMilli ? MILLI : unit;
  }

  private static char lower(String text, int at) {
    char c = text.charAt(at);
    return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  /**
   * The same duration, if it is not negative.
   *
   * @throws IllegalArgumentException if it is
   */
  static Duration requireNotNegative(String what, Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(what + " must not be negative: " + what + "=" + duration);
    }
    return duration;
  }

  /**
   * The same duration, if it is positive.
   *
   * @throws IllegalArgumentException if it is not
   */
  static Duration requirePositive(String what, Duration duration) {
    if (!duration.isPositive()) {
      throw new IllegalArgumentException(what + " must be positive: " + what + "=" + duration);
    }
    return duration;
  }
}
