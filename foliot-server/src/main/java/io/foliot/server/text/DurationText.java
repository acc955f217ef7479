package io.foliot.server.text;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;

/** Durations as people write them: {@code 30m}, {@code 1500ms}, or ISO 8601 as {@code PT30M}. */
public final class DurationText {
  /** What to write instead of something that is not a duration. */
  public static final String EXPECTED = "a duration such as \"30m\", \"1500ms\" or \"PT30M\"";

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  // Longer texts are mistakes; the bound keeps the arithmetic of the slow path small.
  private static final int MAX_LENGTH = 40;

  private DurationText() {}

  /**
   * Reads a duration, which may be negative.
   *
   * @throws IllegalArgumentException if the text is none, with what was expected
   */
  public static Duration parse(String text) {
    int length = text.length();
    int digits = 0;
    long amount = 0;
    while (digits < length && digits < 15 && isDigit(text.charAt(digits))) {
      amount = amount * 10 + (text.charAt(digits) - '0');
      digits++;
    }
    long unitMillis = digits == 0 ? 0 : unitMillis(text, digits);
    if (unitMillis != 0) {
      try {
        return Duration.ofMillis(Math.multiplyExact(amount, unitMillis));
      } catch (ArithmeticException e) {
        return parseSlowly(text);
      }
    }
    return parseSlowly(text);
  }

  private static Duration parseSlowly(String text) {
    if (text.length() <= MAX_LENGTH) {
      try {
        boolean iso = text.indexOf('P') >= 0 || text.indexOf('p') >= 0;
        return iso ? Duration.parse(text) : parseDecimal(text);
      } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
        throw new IllegalArgumentException(EXPECTED + " is expected: found=\"" + text + "\"", e);
      }
    }
    throw new IllegalArgumentException(EXPECTED + " is expected: found=" + text.length() + " characters");
  }

  private static Duration parseDecimal(String text) {
    int end = 0;
    while (end < text.length() && (isDigit(text.charAt(end)) || text.charAt(end) == '.' || text.charAt(end) == '-')) {
      end++;
    }
    long unitMillis = unitMillis(text, end);
    if (unitMillis == 0) {
      throw new NumberFormatException();
    }
    BigDecimal nanos = new BigDecimal(text.substring(0, end)).multiply(BigDecimal.valueOf(unitMillis))
        .multiply(BigDecimal.valueOf(NANOS_PER_MILLI));
    BigDecimal[] parts = nanos.divideAndRemainder(BigDecimal.valueOf(NANOS_PER_SECOND));
    return Duration.ofSeconds(parts[0].longValueExact(), parts[1].longValue());
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static long unitMillis(String text, int at) {
    int rest = text.length() - at;
    if (rest == 2) {
      return text.charAt(at) == 'm' && text.charAt(at + 1) == 's' ? 1 : 0;
    }
    if (rest != 1) {
      return 0;
    }
    return switch (text.charAt(at)) {
      case 's' -> 1_000L;
      case 'm' -> 60_000L;
      case 'h' -> 3_600_000L;
      case 'd' -> 86_400_000L;
      default -> 0;
    };
  }

  /** Writes a duration so that {@link #parse} reads it back, in the largest unit of which it is a whole number. */
  public static String format(Duration duration) {
    if (duration.toNanosPart() % NANOS_PER_MILLI != 0) {
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
}
