package io.foliot.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Durations as text: {@code 30m}, {@code 1500ms}, {@code 1.5s}, {@code 1h30m}, or as in ISO 8601: {@code PT30M},
 * {@code P1DT12H}. The API, callbacks, the configuration and the command line share this grammar:
 *
 * <pre>
 * duration = 1*( number unit )                  units from large to small, each at most once: w d h m s ms
 *          / "P" *( number day-unit )           from large to small: W D
 *                [ "T" 1*( number time-unit ) ] from large to small: H M S
 * number   = digits [ "." digits ] / "." digits only the last number has a fraction, of at most 9 digits
 * </pre>
 *
 * <p>A duration has at least one number. Upper and lower case mean the same, except that minutes are {@code m}: {@code
 * 1M} is refused, because other tools read it as a month. There are no signs and no spaces. A day has 24 hours.
 */
public final class DurationText {
  /** Description of a valid duration, for error messages. */
  public static final String EXPECTED = "a duration such as \"30m\"";

  /**
   * Letters of the units, in the order of {@link #UNIT_MILLIS}. The last unit, ms, is missing here because it has two
   * letters.
   */
  private static final String UNITS = "wdhms";
  private static final long[] UNIT_MILLIS = {604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1};
  // Indexes of units in UNIT_MILLIS.
  private static final int WEEK = 0;
  private static final int HOUR = 2;
  private static final int MINUTE = 3;
  private static final int MILLI = 5;
  /** Maximum number of digits of a fraction; a {@link Duration} counts nanoseconds. */
  private static final int MAX_FRACTION_DIGITS = 9;
  /** Maximum number of characters of an invalid text that an error message shows. */
  private static final int SHOWN_LENGTH = 40;

  private DurationText() {}

  /**
   * Returns the duration that a text denotes. The duration is not negative, and its milliseconds fit into a long.
   *
   * @throws IllegalArgumentException if the text is not a valid duration; the message says what was expected
   */
  public static Duration parse(String text) {
    Duration duration;
    try {
      duration = read(text);
    } catch (ArithmeticException e) {
      duration = null;
    }
    if (duration == null) {
      throw new IllegalArgumentException("expected " + EXPECTED + ", but got " + shown(text)
          + (text.endsWith("M") ? "; m is a minute, and there are no months" : ""));
    }
    return duration;
  }

  /**
   * Returns the duration that a text denotes, or null if the text does not match the grammar.
   *
   * @throws ArithmeticException if the milliseconds do not fit into a long
   */
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
      // billionths * UNIT_MILLIS * 1,000,000 ns / 1,000,000,000, reduced; no product overflows.
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

  /**
   * Returns the index of the unit at a position of the text, or -1 if there is none. In an ISO 8601 text, {@code time}
   * is true if the position is after the {@code T}.
   */
  private static int unitAt(String text, int at, boolean iso, boolean time) {
    int unit = UNITS.indexOf(lower(text, at));
    if (iso) {
      return time == (unit >= HOUR) ? unit : -1;
    }
    if (unit != MINUTE) {
      return unit;
    }
    boolean isMilli = at + 1 < text.length() && lower(text, at + 1) == 's';
    return isMilli ? MILLI : text.charAt(at) == 'M' ? -1 : MINUTE;
  }

  private static char lower(String text, int at) {
    char c = text.charAt(at);
    return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static String shown(String text) {
    StringBuilder shown = new StringBuilder("\"");
    for (int i = 0; i < Math.min(text.length(), SHOWN_LENGTH); i++) {
      char c = text.charAt(i);
      shown.append(Character.isISOControl(c) || Character.isSurrogate(c) ? ' ' : c);
    }
    return shown.append(text.length() > SHOWN_LENGTH ? "..." : "").append('"').toString();
  }

  /**
   * Formats a duration so that {@link #parse} can read it. Of the units d, h, m, s and ms, this method chooses the
   * largest one that divides the duration without a remainder. Zero is {@code 0s}. A duration with a fraction of a
   * millisecond is formatted as in ISO 8601.
   *
   * @param duration not negative
   */
  public static String format(Duration duration) {
    if (duration.toNanosPart() % 1_000_000 != 0) {
      return duration.toString();
    }
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 86_400_000L == 0) {
      return millis / 86_400_000L + "d";
    }
    if (millis % 3_600_000L == 0) {
      return millis / 3_600_000L + "h";
    }
    if (millis % 60_000L == 0) {
      return millis / 60_000L + "m";
    }
    return millis % 1_000L == 0 ? millis / 1_000L + "s" : millis + "ms";
  }

  /**
   * Formats a duration for display, in at most two units and rounded down: {@code 2h 4m}, {@code 29m 58s},
   * {@code 1.5 s}, {@code 420 ms}. {@link #parse} does not read this text; programs use {@link #format}.
   */
  public static String rough(Duration duration) {
    long millis = duration.toMillis();
    if (millis < 0) {
      return "-" + rough(duration.negated());
    }
    if (millis < 1_000) {
      return millis == 0 ? "0 s" : millis + " ms";
    }
    if (millis < 60_000) {
      long tenths = millis / 100;
      return tenths < 100 && tenths % 10 != 0 ? tenths / 10 + "." + tenths % 10 + " s" : tenths / 10 + " s";
    }
    long seconds = millis / 1_000;
    if (seconds < 3_600) {
      return pair(seconds / 60, "m", seconds % 60, "s");
    }
    return seconds < 86_400
        ? pair(seconds / 3_600, "h", seconds % 3_600 / 60, "m")
        : pair(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h");
  }

  private static String pair(long large, String largeUnit, long small, String smallUnit) {
    return large + largeUnit + (small == 0 ? "" : " " + small + smallUnit);
  }
}
