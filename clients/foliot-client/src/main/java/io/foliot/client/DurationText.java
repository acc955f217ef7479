package io.foliot.client;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parses durations by the grammar of the server: numbers with units, from large to small, such as {@code 30m}, {@code
 * 1500ms} or {@code 1h30m}. Durations of ISO 8601, such as {@code PT30M}, are parsed too. Units may be in upper or
 * lower case, except that minutes are {@code m} and never {@code M}. Only the last number may have a fraction, of at
 * most 9 digits.
 */
final class DurationText {
  private static final String NUMBER = "(\\d+|\\d*\\.\\d{1,9})";
  private static final Pattern PLAIN = Pattern
      .compile(optional("w") + optional("d") + optional("h") + optional("(?-i:m)(?!s)")
          + optional("s") + optional("ms"), Pattern.CASE_INSENSITIVE);
  private static final Pattern ISO = Pattern.compile("P" + optional("W") + optional("D") + "(?:T(?=[\\d.])"
      + optional("H") + optional("M") + optional("S") + ")?", Pattern.CASE_INSENSITIVE);
  /**
   * Length in nanoseconds of each unit, in the order of the groups of the patterns. Both patterns have the same units.
   */
  private static final BigDecimal[] UNITS = Stream.of(Duration.ofDays(7), Duration.ofDays(1), Duration.ofHours(1),
      Duration.ofMinutes(1), Duration.ofSeconds(1), Duration.ofMillis(1))
      .map(unit -> BigDecimal.valueOf(unit.toNanos())).toArray(BigDecimal[]::new);
  private static final BigDecimal NANOS_PER_SECOND = BigDecimal.valueOf(1_000_000_000);

  private DurationText() {}

  private static String optional(String unit) {
    return "(?:" + NUMBER + unit + ")?";
  }

  /**
   * Parses a duration. A fraction of a nanosecond is cut off.
   *
   * @throws UnreadableAnswerException if the text is not a duration, or its milliseconds do not fit into a long
   */
  static Duration parse(String text) {
    Matcher plain = PLAIN.matcher(text);
    Matcher parts = plain.matches() ? plain : ISO.matcher(text);
    try {
      if (parts.matches()) {
        Duration duration = sum(parts);
        long unused = duration.toMillis();
        return duration;
      }
    } catch (DateTimeException | ArithmeticException e) {
      throw unreadable(text, e);
    }
    throw unreadable(text, null);
  }

  private static UnreadableAnswerException unreadable(String text, @Nullable Exception cause) {
    return new UnreadableAnswerException("expected a duration such as \"30m\", but got \"" + text + '"', cause);
  }

  private static Duration sum(Matcher parts) {
    BigDecimal nanos = BigDecimal.ZERO;
    boolean isLast = false;
    boolean isEmpty = true;
    for (int i = 0; i < parts.groupCount(); i++) {
      String number = parts.group(i + 1);
      if (number != null) {
        if (isLast) {
          throw new DateTimeException("only the last number may have a fraction");
        }
        isLast = number.contains(".");
        isEmpty = false;
        nanos = nanos.add(new BigDecimal(number).multiply(UNITS[i]));
      }
    }
    if (isEmpty) {
      throw new DateTimeException("a duration must have a number");
    }
    BigDecimal[] seconds = nanos.divideAndRemainder(NANOS_PER_SECOND);
    return Duration.ofSeconds(seconds[0].longValueExact(), seconds[1].longValue());
  }

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
