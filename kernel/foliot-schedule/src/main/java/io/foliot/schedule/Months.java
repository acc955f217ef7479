package io.foliot.schedule;

/**
 * The Gregorian calendar in arithmetic on numbers. A day is represented by its number since 1970-01-01, and a month by
 * 12 times the year plus the months since January, as {@link java.time.temporal.ChronoField#PROLEPTIC_MONTH} does.
 *
 * <p>The search for scheduled times uses these functions instead of LocalDate. In a loop that replaces one LocalDate by
 * another, the C2 compiler of JDK 25 (bug JDK-8385993) sometimes reads a field of an object that it has eliminated, and
 * the loop ends with a NullPointerException. Arithmetic has no objects that could be eliminated.
 *
 * <p>Algorithm: Neri and Schneider, Euclidean affine functions and their application to calendar algorithms (2022). A
 * year begins in March, so a leap day is the last day of its year. The month follows from the day of such a year by one
 * multiplication, because the lengths of the months repeat: 31, 30, 31, 30, 31.
 */
final class Months {
  static final int YEAR_MONTHS = 12;
  /** Days from 0000-03-01 to 1970-01-01. */
  private static final long EPOCH = 719_468;
  /** Months from January to March. */
  private static final int MARCH = 2;
  private static final int FEBRUARY = 2;
  /** Days of 400 years, after which the calendar repeats. */
  private static final int CYCLE_DAYS = 146_097;
  /** 2^32 divided by the days of four years, rounded up. */
  private static final long FOUR_YEARS = 2_939_745;
  private static final int INT_BITS = 32;
  /** Bits of the day in a date. */
  private static final int DAY_BITS = 5;

  private Months() {}

  /** Returns the date of a day. */
  static long date(long epochDay) {
    // A century has a quarter of the cycle's days on average, and a year a quarter of 1,461 days: both are counted in
    // quarters of a day.
    long quarters = 4 * (epochDay + EPOCH) + 3;
    long century = Math.floorDiv(quarters, CYCLE_DAYS);
    int inCentury = (int) (quarters - century * CYCLE_DAYS) | 3;
    long year = (inCentury * FOUR_YEARS) >>> INT_BITS;
    int dayOfYear = (inCentury - 1_461 * (int) year) >>> 2;
    // The first month is March. The fraction approximates 5 / 153 on all days of a year: five months have 153 days.
    int fraction = 2_141 * dayOfYear + 1_305;
    int month = fraction >>> 16;
    return (((century * 100 + year) * YEAR_MONTHS + MARCH + month) << DAY_BITS) | ((fraction & 0xffff) / 2_141);
  }

  /** Returns the month of a date. */
  static long month(long date) {
    return date >> DAY_BITS;
  }

  /** Returns the days since the first day of the month of a date. */
  static int day(long date) {
    return (int) date & 31;
  }

  /** Returns the first day of a month. */
  static long firstDay(long month) {
    long year = Math.floorDiv(month - MARCH, YEAR_MONTHS);
    int inYear = (int) (month - MARCH - year * YEAR_MONTHS);
    long century = Math.floorDiv(year, 100);
    return 365 * year + (year >> 2) - century + (century >> 2) + ((979 * inYear + 18) >>> 5) - EPOCH;
  }

  /** Returns the number of days of a month. */
  static int length(long month) {
    int ofYear = Math.floorMod(month, YEAR_MONTHS) + 1;
    if (ofYear == FEBRUARY) {
      return isLeap(Math.floorDiv(month, YEAR_MONTHS)) ? 29 : 28;
    }
    // Odd months have 31 days until July, even months from August on.
    return 30 + ((ofYear + (ofYear >>> 3)) & 1);
  }

  private static boolean isLeap(long year) {
    // A year that can be divided by 4 and by 25 can be divided by 100, and so can 400 be by 16 and 25.
    return (year & (year % 25 == 0 ? 15 : 3)) == 0;
  }
}
