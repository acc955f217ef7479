package io.foliot.schedule;

/**
 * The days of a month that the two day fields of a cron expression allow. Bit 0 of a set of days is the first day of a
 * month; bit 0 of a set of weekdays is Sunday.
 *
 * @param days days by number
 * @param fromEnd days counted from the end ({@code L}, {@code L-3}): bit 0 is the last day
 * @param nearest business days nearest to a number ({@code 15W})
 * @param nearestFromEnd business days nearest to a day counted from the end ({@code LW})
 * @param weekdays all days of these weekdays
 * @param lastWeekdays the last day of each of these weekdays in a month ({@code 5L})
 * @param nthWeekdays weekdays by their count in a month ({@code 2#1}): bits 0 to 6 for the first occurrence of each
 *     weekday, bits 7 to 13 for the second occurrence, and so on
 * @param either whether one of the two fields is enough to allow a day; if false, both must allow it
 */
record MonthDays(int days, int fromEnd, int nearest, int nearestFromEnd, int weekdays, int lastWeekdays,
    long nthWeekdays, boolean either) {
  /** Days of a week. */
  static final int WEEK = 7;
  /** Set of the seven weekdays. */
  static final int ALL_WEEKDAYS = 0x7f;
  /** Set of 31 days. */
  static final int ALL_DAYS = 0x7fff_ffff;
  /** Largest number of a weekday within a month: {@code MON#5} is the fifth Monday. */
  static final int WEEKS = 5;
  /** One bit in each of the five weeks of a month. */
  private static final int EACH_WEEK = 0x1020_4081;
  /** Weekday of the first day of the epoch, a Thursday. */
  private static final int EPOCH_WEEKDAY = 4;

  MonthDays onAnyWeekday() {
    return new MonthDays(days, fromEnd, nearest, nearestFromEnd, ALL_WEEKDAYS, 0, 0, false);
  }

  /** Returns the weekday of a day since the epoch: 0 is Sunday. */
  static int weekday(long epochDay) {
    return (int) Math.floorMod(epochDay + EPOCH_WEEKDAY, (long) WEEK);
  }

  /**
   * Returns the days of a month that have one of the weekdays.
   *
   * @param firstWeekday the weekday of the first day of the month
   * @param length the number of days of the month
   */
  static int daysOf(int weekdays, int firstWeekday, int length) {
    int turned = ((weekdays >>> firstWeekday) | (weekdays << (WEEK - firstWeekday))) & ALL_WEEKDAYS;
    return (turned * EACH_WEEK) & allDays(length);
  }

  /** Returns the set of all days of a month with this number of days. */
  static int allDays(int length) {
    return ALL_DAYS >>> (31 - length);
  }

  /** Returns the allowed days of a month ({@link Months}), which begins on a given day. */
  int in(long month, long firstDay, Calendar calendar) {
    int length = Months.length(month);
    int firstWeekday = weekday(firstDay);
    int byNumber = byNumber(month, length, calendar);
    int byWeekday = byWeekday(firstWeekday, length);
    int allowed = either ? byNumber | byWeekday : byNumber & byWeekday;
    return calendar.isEmpty() ? allowed : allowed & ~calendar.excludedDays(month);
  }

  private int byNumber(long month, int length, Calendar calendar) {
    int allowed = (days | fromEnd(fromEnd, length)) & allDays(length);
    if ((nearest | nearestFromEnd) != 0) {
      int business = calendar.businessDays(month);
      int wanted = (nearest | fromEnd(nearestFromEnd, length)) & allDays(length);
      for (; wanted != 0; wanted &= wanted - 1) {
        allowed |= nearestTo(Integer.numberOfTrailingZeros(wanted), business);
      }
    }
    return allowed;
  }

  /** Converts a set of days counted from the end to a set of days by number. */
  private static int fromEnd(int set, int length) {
    return set == 0 ? 0 : Integer.reverse(set) >>> (32 - length);
  }

  /**
   * Returns a set with one day, the business day nearest to the given day, or an empty set if the month has no business
   * day. Of two business days that are equally near, the earlier one is returned.
   */
  private static int nearestTo(int day, int business) {
    int notAfter = business & (ALL_DAYS >>> (30 - day));
    int after = business & ~(ALL_DAYS >>> (30 - day));
    int before = Integer.highestOneBit(notAfter);
    int next = Integer.lowestOneBit(after);
    if (before == 0 || next == 0) {
      return before | next;
    }
    return day - Integer.numberOfTrailingZeros(before) <= Integer.numberOfTrailingZeros(next) - day ? before : next;
  }

  private int byWeekday(int firstWeekday, int length) {
    int allowed = daysOf(weekdays, firstWeekday, length);
    if (lastWeekdays != 0) {
      allowed |= daysOf(lastWeekdays, firstWeekday, length) & ~allDays(length - WEEK);
    }
    if (nthWeekdays != 0) {
      for (int week = 0; week < WEEKS; week++) {
        int named = (int) (nthWeekdays >>> (WEEK * week)) & ALL_WEEKDAYS;
        allowed |= daysOf(named, firstWeekday, length) & (ALL_WEEKDAYS << (WEEK * week));
      }
    }
    return allowed;
  }
}
