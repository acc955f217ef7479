package io.foliot.schedule;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a schedule is refused. The parts of the message are available separately, so that a caller never parses
 * the text.
 */
public final class ScheduleException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;
  /** Longest part of the refused text in a message, in characters. */
  private static final int SHOWN_LENGTH = 80;
  private static final List<Duration> UNITS = List.of(Duration.ofDays(1), Duration.ofHours(1), Duration.ofMinutes(1),
      Duration.ofSeconds(1));
  private static final List<String> UNIT_NAMES = List.of("d", "h", "m", "s");

  private final String setting;
  private final @Nullable String field;
  private final String found;
  private final String expected;
  private final List<String> choices;
  private final @Nullable String example;

  private ScheduleException(String setting, @Nullable String field, String found, String expected, List<String> choices,
      @Nullable String example) {
    super((field == null ? setting : field) + ": expected " + expected + ", but got \"" + shown(found) + '"'
        + (choices.isEmpty() ? "" : "; choose one of " + String.join(", ", choices))
        + (example == null ? "" : "; for example \"" + example + '"'));
    this.setting = setting;
    this.field = field;
    this.found = found;
    this.expected = expected;
    this.choices = List.copyOf(choices);
    this.example = example;
  }

  static ScheduleException of(String setting, String found, String expected, @Nullable String example) {
    return new ScheduleException(setting, null, found, expected, List.of(), example);
  }

  static ScheduleException ofChoice(String setting, @Nullable String field, String found, String expected,
      List<String> choices, @Nullable String example) {
    return new ScheduleException(setting, field, found, expected, choices, example);
  }

  static ScheduleException ofField(String field, String found, String expected, @Nullable String example) {
    return new ScheduleException("cron", field, found, expected, List.of(), example);
  }

  /**
   * Returns a duration as callers of the API write it: a whole number of the largest unit that divides it. A duration
   * with parts of a millisecond is in ISO 8601.
   */
  static String text(Duration duration) {
    if (!EverySchedule.isWholeMillis(duration)) {
      return duration.toString();
    }
    if (duration.isNegative()) {
      return '-' + text(duration.negated());
    }
    for (int i = 0; i < UNITS.size(); i++) {
      if (duration.toSeconds() % UNITS.get(i).toSeconds() == 0 && duration.toNanosPart() == 0 && !duration.isZero()) {
        return duration.toSeconds() / UNITS.get(i).toSeconds() + UNIT_NAMES.get(i);
      }
    }
    return duration.isZero() ? "0s" : duration.toMillis() + "ms";
  }

  private static String shown(String text) {
    return text.length() <= SHOWN_LENGTH ? text : text.substring(0, SHOWN_LENGTH) + "...";
  }

  /** Returns the refused setting: cron, zone, every, after, at, from, to, exclude, jitter and so on. */
  public String setting() {
    return setting;
  }

  /** Returns the refused field of a cron expression, such as {@code day of week}, or null if there is none. */
  public @Nullable String field() {
    return field;
  }

  /** Returns the refused text in full; the message may show only its beginning. */
  public String found() {
    return found;
  }

  /** Returns the range or the rule that the text breaks, as it follows "expected" in the message. */
  public String expected() {
    return expected;
  }

  /** Returns texts that the caller may write instead, such as the nearest names; often empty. */
  public List<String> choices() {
    return choices;
  }

  /** Returns an example of a correct text, or null if there is none that would help. */
  public @Nullable String example() {
    return example;
  }
}
