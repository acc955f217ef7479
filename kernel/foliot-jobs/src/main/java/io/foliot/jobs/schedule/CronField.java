package io.foliot.jobs.schedule;

import java.util.List;

/** The fields of a cron expression. */
enum CronField {
  SECOND("second", 0, 59, List.of(), "*/10"), MINUTE("minute", 0, 59, List.of(), "*/5"), HOUR("hour", 0, 23, List.of(),
      "9-17"), DAY_OF_MONTH("day of month", 1, 31, List.of(), "1,15"), MONTH("month", 1, 12,
          List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), "JAN,JUL"),
  /** The numbers are those of the dialects unix and spring. */
  DAY_OF_WEEK("day of week", 0, 7, List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), "MON-FRI"), YEAR("year",
      1970, 2099, List.of(), "2026-2030");

  private final String text;
  private final int min;
  private final int max;
  private final List<String> names;
  private final String example;

  CronField(String text, int min, int max, List<String> names, String example) {
    this.text = text;
    this.min = min;
    this.max = max;
    this.names = names;
    this.example = example;
  }

  String text() {
    return text;
  }

  /** Returns the smallest number of a dialect. */
  int min(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect == CronDialect.QUARTZ ? 1 : min;
  }

  /** Returns the largest number that is accepted. */
  int max() {
    return max;
  }

  /** Returns the first number of {@code *}. */
  int first(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect != CronDialect.UNIX ? 1 : min;
  }

  /** Returns the last number of {@code *}. */
  int last(CronDialect dialect) {
    return this == DAY_OF_WEEK && dialect == CronDialect.UNIX ? max - 1 : max;
  }

  /** Returns the last number of {@code H}: a day of month that each month has. */
  int lastHashed(CronDialect dialect) {
    return this == DAY_OF_MONTH ? 28 : last(dialect);
  }

  /** Returns the names of numbers, in order. */
  List<String> names() {
    return names;
  }

  /** Returns the number of the first name. */
  int firstNamed(CronDialect dialect) {
    return min(dialect);
  }

  /** Returns the range as an object of "expected". */
  String range(CronDialect dialect) {
    String numbers = min(dialect) + "-" + max;
    return names.isEmpty() ? numbers : numbers + " or " + names.getFirst() + "-" + names.getLast();
  }

  String example() {
    return example;
  }
}
