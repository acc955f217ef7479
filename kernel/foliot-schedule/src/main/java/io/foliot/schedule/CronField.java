package io.foliot.schedule;

import java.time.Month;
import java.util.List;
import java.util.stream.Stream;

/** The fields of a cron expression. */
enum CronField {
  /** 0 to 59; not in the dialect unix. */
  SECOND("second", 0, 59, "*/10"),
  /** 0 to 59. */
  MINUTE("minute", 0, 59, "*/5"),
  /** 0 to 23. */
  HOUR("hour", 0, 23, "9-17"),
  /** 1 to 31. */
  DAY_OF_MONTH("day of month", 1, 31, "1,15"),
  /** 1 to 12, or names. */
  MONTH("month", 1, 12, "JAN,JUL"),
  /** 0 to 7 in the dialects unix and spring, 1 to 7 in quartz, or names. */
  DAY_OF_WEEK("day of week", 0, 7, "MON-FRI"),
  /** 1970 to 2099; only in the dialect quartz. */
  YEAR("year", 1970, 2099, "2026-2030");

  private static final List<String> MONTHS = List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
      "OCT", "NOV", "DEC");
  private static final List<String> WEEKDAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  private static final List<String> LONG_MONTHS = Stream.of(Month.values()).map(Month::name).toList();
  private static final List<String> LONG_WEEKDAYS = List.of("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY",
      "FRIDAY", "SATURDAY");

  private final String text;
  private final int min;
  private final int max;
  private final String example;

  CronField(String text, int min, int max, String example) {
    this.text = text;
    this.min = min;
    this.max = max;
    this.example = example;
  }

  String text() {
    return text;
  }

  /** Returns the smallest number that a dialect accepts. */
  int min(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect == CronDialect.QUARTZ ? 1 : min;
  }

  /** Returns the largest number that is accepted. */
  int max() {
    return max;
  }

  /** Returns the first number that {@code *} includes. */
  int first(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect != CronDialect.UNIX ? 1 : min;
  }

  /** Returns the last number that {@code *} includes. */
  int last(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect == CronDialect.UNIX ? max - 1 : max;
  }

  /**
   * Returns the largest number that may replace {@code H} without a range. For the day of month, it is 28, because each
   * month has this day.
   */
  int lastHashed(CronDialect dialect) {
    return this == DAY_OF_MONTH ? 28 : last(dialect);
  }

  /** Returns a salt that makes the hashes of one name differ between fields. Stored jobs depend on this salt. */
  long salt() {
    return switch (this) {
      case SECOND -> 0;
      case MINUTE -> 1;
      case HOUR -> 2;
      case DAY_OF_MONTH -> 3;
      case MONTH -> 4;
      case DAY_OF_WEEK -> 5;
      case YEAR -> 6;
    };
  }

  /** Returns the names that numbers of this field have, in order; empty if they have none. */
  List<String> names() {
    return this == MONTH ? MONTHS : this == DAY_OF_WEEK ? WEEKDAYS : List.of();
  }

  private List<String> longNames() {
    return this == MONTH ? LONG_MONTHS : this == DAY_OF_WEEK ? LONG_WEEKDAYS : List.of();
  }

  /** Returns whether a text contains a long name of this field, such as MONDAY. Only quartz accepts such names. */
  boolean hasLongName(String items) {
    return longNames().stream().anyMatch(items::contains);
  }

  /** Returns the position of a name among the names, or -1 if the text is not a name in the dialect. */
  int named(String name, CronDialect dialect) {
    int named = names().indexOf(name);
    return named < 0 && dialect == CronDialect.QUARTZ ? longNames().indexOf(name) : named;
  }

  /** Returns the number of the first name. */
  int firstNamed(CronDialect dialect) {
    return min(dialect);
  }

  /** Returns the range as text that follows "expected" in a message. */
  String range(CronDialect dialect) {
    String numbers = min(dialect) + "-" + max;
    return names().isEmpty() ? numbers : numbers + " or " + names().getFirst() + "-" + names().getLast();
  }

  String example() {
    return example;
  }
}
