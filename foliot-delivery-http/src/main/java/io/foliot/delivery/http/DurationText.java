package io.foliot.delivery.http;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Durations as the API writes them: ISO 8601, or a whole number with ms, s, m, h or d. */
final class DurationText {
  /** Enough for 100 years in milliseconds. */
  private static final int MAX_DIGITS = 13;
  private static final int MAX_LENGTH = 64;

  private DurationText() {}

  /** The duration, or null if the text is none. */
  static @Nullable Duration parse(String text) {
    String trimmed = text.strip().toLowerCase(Locale.ROOT);
    if (trimmed.length() > MAX_LENGTH) {
      return null;
    }
    int digits = 0;
    while (digits < trimmed.length() && trimmed.charAt(digits) >= '0' && trimmed.charAt(digits) <= '9') {
      digits++;
    }
    if (digits == 0) {
      return iso(trimmed);
    }
    if (digits > MAX_DIGITS) {
      return null;
    }
    long amount = Long.parseLong(trimmed.substring(0, digits));
    return switch (trimmed.substring(digits)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      case "d" -> Duration.ofDays(amount);
      default -> null;
    };
  }

  private static @Nullable Duration iso(String text) {
    try {
      return Duration.parse(text);
    } catch (DateTimeException | ArithmeticException e) {
      return null;
    }
  }
}
