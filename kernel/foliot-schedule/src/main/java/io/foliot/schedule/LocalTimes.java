package io.foliot.schedule;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * A set of local date-times, without a zone. A local date-time is represented by its number of seconds since
 * 1970-01-01T00:00, counted as if there were no clock changes.
 *
 * <p>Algorithm: a bit set for each field, and a search from the largest field to the smallest.
 * <ol>
 * <li>If the day of the argument is allowed, search the rest of that day: the next allowed hour; within the hour of the
 * argument, the next allowed minute; within the minute of the argument, the next allowed second. A field without a bit
 * left carries into the next larger field, and all smaller fields begin at their first bit.
 * <li>Else, or if the day has no time left, take the next bit of the days of the month ({@link MonthDays}).
 * <li>If the month has no such day, take the first allowed day and time of the next allowed month, in this year or in
 * the next allowed year.
 * </ol>
 * A step costs one bit operation per field, so a distant time costs hardly more than a near one. For a schedule of 29
 * February, the search examines at most nine Februaries. The search of days ends after 400 years, because the Gregorian
 * calendar repeats after 146,097 days, which are full weeks.
 *
 * <p>The bit sets are those of Vixie cron (1987), and the search carries as an odometer does. Two other searches were
 * rejected. Vixie cron tests each minute, which takes 1,440 tests for a day. In Spring the fields are java.time
 * adjusters: each step of a field creates a date-time, and the search starts over when a larger field has changed.
 *
 * @param seconds allowed seconds
 * @param minutes allowed minutes
 * @param hours allowed hours
 * @param days allowed days of each month
 * @param months allowed months: bit 1 is January
 * @param years allowed years, or null for all
 * @param calendar excluded days
 */
record LocalTimes(long seconds, long minutes, int hours, MonthDays days, int months, @Nullable BitSet years,
    Calendar calendar) {
  /** Result of {@link #next} if no element follows. */
  static final long NONE = Long.MIN_VALUE;
  static final long DAY_SECONDS = 86_400;
  static final int ALL_HOURS = 0xff_ffff;
  private static final int HOUR_SECONDS = 3_600;
  private static final int MINUTE_SECONDS = 60;
  private static final int GREGORIAN_CYCLE_YEARS = 400;

  boolean hasEveryHour() {
    return hours == ALL_HOURS;
  }

  /** Returns these times without the restriction to weekdays. */
  LocalTimes onAnyWeekday() {
    return new LocalTimes(seconds, minutes, hours, days.onAnyWeekday(), months, years, calendar);
  }

  LocalTimes without(Calendar excluded) {
    return new LocalTimes(seconds, minutes, hours, days, months, years, excluded);
  }

  /** Returns the first element that is not before a local second, or {@link #NONE}. */
  long next(long local) {
    long epochDay = Math.floorDiv(local, DAY_SECONDS);
    long date = Months.date(epochDay);
    long month = Months.month(date);
    int day = Months.day(date);
    int year = (int) Math.floorDiv(month, Months.YEAR_MONTHS);
    int monthOfYear = Math.floorMod(month, Months.YEAR_MONTHS) + 1;
    if (hasYear(year) && ((months >>> monthOfYear) & 1) != 0) {
      int fromToday = days.in(month, epochDay - day, calendar) >>> day;
      if ((fromToday & 1) != 0) {
        int time = timeFrom((int) (local - epochDay * DAY_SECONDS));
        if (time >= 0) {
          return epochDay * DAY_SECONDS + time;
        }
        fromToday ^= 1;
      }
      if (fromToday != 0) {
        return (epochDay + Integer.numberOfTrailingZeros(fromToday)) * DAY_SECONDS + firstTime();
      }
    }
    return afterMonth(year, monthOfYear);
  }

  private long afterMonth(int fromYear, int fromMonth) {
    int lastYear = Math.min(fromYear + GREGORIAN_CYCLE_YEARS, Schedule.LAST_YEAR);
    int month = fromMonth;
    for (int year = fromYear; year <= lastYear; year++) {
      if (hasYear(year)) {
        // -2 << n has all bits above bit n.
        int left = months & (-2 << month);
        for (; left != 0; left &= left - 1) {
          long each = (long) year * Months.YEAR_MONTHS + Integer.numberOfTrailingZeros(left) - 1;
          int allowed = days.in(each, Months.firstDay(each), calendar);
          if (allowed != 0) {
            return (Months.firstDay(each) + Integer.numberOfTrailingZeros(allowed)) * DAY_SECONDS + firstTime();
          }
        }
      }
      month = 0;
    }
    return NONE;
  }

  private boolean hasYear(int year) {
    return years == null || (year >= 0 && years.get(year));
  }

  /** Returns the first allowed second of a day that is not before a given second of the day, or -1 if none is left. */
  private int timeFrom(int second) {
    int hour = second / HOUR_SECONDS;
    int minute = second / MINUTE_SECONDS % 60;
    int inHour = ((hours >>> hour) & 1) == 0 ? -1 : inHourFrom(minute, second % MINUTE_SECONDS);
    if (inHour >= 0) {
      return hour * HOUR_SECONDS + inHour;
    }
    int later = hours & (-2 << hour);
    return later == 0
        ? -1
        : Integer.numberOfTrailingZeros(later) * HOUR_SECONDS + first(minutes) * MINUTE_SECONDS + first(seconds);
  }

  /** Returns the first allowed second of an hour (0 to 3,599) that is not before a minute and second, or -1. */
  private int inHourFrom(int minute, int second) {
    long left = ((minutes >>> minute) & 1) == 0 ? 0 : seconds & (-1L << second);
    if (left != 0) {
      return minute * MINUTE_SECONDS + first(left);
    }
    long later = minutes & (-2L << minute);
    return later == 0 ? -1 : first(later) * MINUTE_SECONDS + first(seconds);
  }

  private int firstTime() {
    return Integer.numberOfTrailingZeros(hours) * HOUR_SECONDS + first(minutes) * MINUTE_SECONDS + first(seconds);
  }

  private static int first(long bits) {
    return Long.numberOfTrailingZeros(bits);
  }
}
