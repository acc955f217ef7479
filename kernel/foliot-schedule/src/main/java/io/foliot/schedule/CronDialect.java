package io.foliot.schedule;

import java.util.Locale;

/** The meaning of the fields of a cron expression. The dialects differ in weekday numbers and in the two day fields. */
public enum CronDialect {
  /**
   * Five fields: minute, hour, day of month, month, day of week. 0 and 7 are Sunday. If a day field begins with
   * {@code *}, a day must match both day fields; otherwise a day must match at least one of them.
   */
  UNIX,
  /** Six fields: second first. 0 and 7 are Sunday. A day must match both day fields; {@code ?} means {@code *}. */
  SPRING,
  /** Six or seven fields: second first, the optional year last. 1 is Sunday. Exactly one day field is {@code ?}. */
  QUARTZ;

  /** Returns the name as it is written in settings. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
