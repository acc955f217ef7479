package io.foliot.client;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses durations. A duration is a sum of numbers with units, such as {@code 30m}, {@code 1500ms} or {@code 1h30m}, or
 * has the form of ISO 8601. The server writes ISO 8601 for durations that are not whole milliseconds. The server
 * requires an order of units, which this parser does not. Only the server accepts {@code .5s}, {@code 30M} and
 * {@code P1W}.
 */
final class DurationText {
  private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|[wdhms])");
  private static final BigDecimal NANOS_PER_SECOND = BigDecimal.valueOf(1_000_000_000);

  private DurationText() {}

  /**
   * Parses a duration. A fraction of a nanosecond is cut off.
   *
   * @throws UnreadableAnswerException if the text is not a duration
   */
  static Duration parse(String text) {
    try {
      return text.startsWith("P") ? Duration.parse(text) : sum(text);
    } catch (DateTimeException | ArithmeticException e) {
      throw new UnreadableAnswerException("expected a duration such as \"30m\", but got \"" + text + '"', e);
    }
  }

  private static Duration sum(String text) {
    BigDecimal nanos = BigDecimal.ZERO;
    Matcher part = PART.matcher(text);
    int end = 0;
    while (part.find() && part.start() == end) {
      nanos = nanos.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(unit(part.group(2)).toNanos())));
      end = part.end();
    }
    if (end == 0 || end < text.length()) {
      throw new DateTimeException("expected numbers with units: end=" + end);
    }
    BigDecimal[] seconds = nanos.divideAndRemainder(NANOS_PER_SECOND);
    return Duration.ofSeconds(seconds[0].longValueExact(), seconds[1].longValue());
  }

  private static Duration unit(String name) {
    return switch (name) {
      case "w" -> Duration.ofDays(7);
      case "d" -> Duration.ofDays(1);
      case "h" -> Duration.ofHours(1);
      case "m" -> Duration.ofMinutes(1);
      case "s" -> Duration.ofSeconds(1);
      default -> Duration.ofMillis(1);
    };
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
