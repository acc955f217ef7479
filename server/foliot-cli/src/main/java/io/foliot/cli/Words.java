package io.foliot.cli;

import io.foliot.api.DurationText;
import java.time.Duration;
import java.util.Locale;

/** Formats figures for people. */
final class Words {
  private Words() {}

  /** Rounds a duration that has the format of the API, for display; returns any other text unchanged. */
  static String rough(String duration) {
    try {
      return DurationText.rough(DurationText.parse(duration));
    } catch (IllegalArgumentException e) {
      return duration;
    }
  }

  /** Returns a number of seconds in a unit that suits its size; a dash for NaN. */
  static String seconds(double seconds) {
    if (Double.isNaN(seconds)) {
      return "-";
    }
    if (seconds == 0) {
      return "0 s";
    }
    if (seconds < 0.001) {
      return String.format(Locale.ROOT, "%.0f us", seconds * 1e6);
    }
    if (seconds < 1) {
      return String.format(Locale.ROOT, seconds < 0.01 ? "%.1f ms" : "%.0f ms", seconds * 1e3);
    }
    return DurationText.rough(Duration.ofMillis(Math.round(seconds * 1e3)));
  }

  /** Returns a number, with k for thousands and M for millions. */
  static String count(double count) {
    if (count < 10_000) {
      return String.format(Locale.ROOT, count == Math.rint(count) || count >= 100 ? "%.0f" : "%.1f", count);
    }
    if (count < 1e6) {
      return String.format(Locale.ROOT, count < 1e5 ? "%.1fk" : "%.0fk", count / 1e3);
    }
    return String.format(Locale.ROOT, count < 1e8 ? "%.1fM" : "%.0fM", count / 1e6);
  }

  /** Returns a number and a noun, in the plural unless the number is 1. */
  static String number(long number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }

  /** Returns a number of bytes in KiB or MiB, rounded down, or in GiB. */
  static String bytes(long bytes) {
    if (bytes < 1 << 20) {
      return bytes / 1024 + " KiB";
    }
    return bytes < 1L << 30
        ? bytes / (1 << 20) + " MiB"
        : String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1 << 30));
  }
}
