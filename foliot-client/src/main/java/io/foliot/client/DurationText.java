package io.foliot.client;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as the API has them: ISO 8601 ({@code PT30M}), or a number and a unit ({@code 30m}, {@code 1500ms}). */
final class DurationText {
  private static final Pattern SHORT = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)(ms|s|m|h|d)");

  private static final Map<String, Duration> UNITS = Map.of("ms", Duration.ofMillis(1), "s", Duration.ofSeconds(1),
      "m", Duration.ofMinutes(1), "h", Duration.ofHours(1), "d", Duration.ofDays(1));

  private DurationText() {}

  static Duration parse(String text) {
    Matcher matcher = SHORT.matcher(text);
    Duration unit = matcher.matches() ? UNITS.get(matcher.group(2)) : null;
    try {
      if (unit == null) {
        return Duration.parse(text);
      }
      BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit.toNanos()));
      BigDecimal[] seconds = nanos.divideAndRemainder(BigDecimal.valueOf(Duration.ofSeconds(1).toNanos()));
      return Duration.ofSeconds(seconds[0].longValueExact(), seconds[1].longValue());
    } catch (DateTimeException | ArithmeticException e) {
      throw new UnreadableAnswerException("a duration must be like PT30M, 30m or 1500ms: value=" + text, e);
    }
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
