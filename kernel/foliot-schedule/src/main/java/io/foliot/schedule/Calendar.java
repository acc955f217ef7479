package io.foliot.schedule;

import static java.time.temporal.ChronoField.PROLEPTIC_MONTH;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.Month;
import java.time.MonthDay;
import java.time.YearMonth;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Days on which nothing is scheduled: dates, days of every year, and weekdays. The business days are the days that are
 * not excluded. If a calendar excludes no weekdays, Saturdays and Sundays are not business days either. In a cron
 * expression, {@code W} refers to the business days of the schedule's calendar.
 *
 * @param dates excluded single days
 * @param yearly days that are excluded in every year
 * @param weekdays excluded weekdays
 */
public record Calendar(NavigableSet<LocalDate> dates, NavigableSet<MonthDay> yearly, Set<DayOfWeek> weekdays) {
  /** Maximum number of entries of a calendar that are not weekdays: two centuries of holidays. */
  public static final int MAX_ENTRIES = 4_000;
  /** A calendar that excludes no day. */
  public static final Calendar NONE = new Calendar(new TreeSet<>(), new TreeSet<>(), Set.of());

  /** Set of weekdays with bit 6 for Saturday and bit 0 for Sunday. */
  private static final int SATURDAY_AND_SUNDAY = 0x41;
  private static final String EXPECTED = "a date, a day of every year, or a weekday: \"2026-12-25\", \"12-25\", \"SUN\"";
  /** Maximum number of days in a search for an allowed day: a little more than two years. */
  private static final int SEARCHED_DAYS = 800;

  public Calendar {
    int entries = dates.size() + yearly.size();
    if (entries > MAX_ENTRIES) {
      throw ScheduleException.of("days", entries + " dates", "at most " + MAX_ENTRIES + " dates", null);
    }
    if (weekdays.size() == DayOfWeek.values().length) {
      throw ScheduleException.of("days", "all weekdays", "at least one weekday that is not excluded", "SUN");
    }
    dates = Collections.unmodifiableNavigableSet(new TreeSet<>(dates));
    yearly = Collections.unmodifiableNavigableSet(new TreeSet<>(yearly));
    Set<DayOfWeek> sorted = EnumSet.noneOf(DayOfWeek.class);
    sorted.addAll(weekdays);
    weekdays = Collections.unmodifiableSet(sorted);
  }

  /** Returns the calendar that excludes Saturdays, Sundays and the given dates. */
  public static Calendar businessDays(Collection<LocalDate> holidays) {
    return new Calendar(new TreeSet<>(holidays), new TreeSet<>(), EnumSet.of(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY));
  }

  /**
   * Returns the calendar of some entries: {@code 2026-12-25} is a date, {@code 12-25} a day of every year, {@code SAT}
   * or {@code SATURDAY} a weekday.
   *
   * @throws ScheduleException if an entry is not one of these, if all weekdays are excluded, or if there are more than
   *     {@link #MAX_ENTRIES} dates and days of every year
   */
  public static Calendar parse(Collection<String> entries) {
    NavigableSet<LocalDate> dates = new TreeSet<>();
    NavigableSet<MonthDay> yearly = new TreeSet<>();
    Set<DayOfWeek> weekdays = EnumSet.noneOf(DayOfWeek.class);
    for (String entry : entries) {
      DayOfWeek weekday = weekday(entry);
      if (weekday != null) {
        weekdays.add(weekday);
        continue;
      }
      try {
        if (entry.length() == "12-25".length()) {
          yearly.add(MonthDay.parse("--" + entry));
        } else {
          dates.add(LocalDate.parse(entry));
        }
      } catch (DateTimeException e) {
        ScheduleException refused = ScheduleException.of("days", entry, EXPECTED, null);
        refused.initCause(e);
        throw refused;
      }
    }
    return new Calendar(dates, yearly, weekdays);
  }

  private static @Nullable DayOfWeek weekday(String entry) {
    String upper = entry.toUpperCase(Locale.ROOT);
    for (DayOfWeek each : DayOfWeek.values()) {
      if (each.name().equals(upper) || shortName(each).equals(upper)) {
        return each;
      }
    }
    return null;
  }

  private static String shortName(DayOfWeek weekday) {
    return weekday.getDisplayName(TextStyle.SHORT, Locale.ROOT).toUpperCase(Locale.ROOT);
  }

  /** Returns entries for {@link #parse}: the weekdays from Monday on, then the days of every year, then the dates. */
  public List<String> entries() {
    List<String> entries = new ArrayList<>();
    weekdays.forEach(each -> entries.add(shortName(each)));
    yearly.forEach(each -> entries.add(each.toString().substring(2)));
    dates.forEach(each -> entries.add(each.toString()));
    return entries;
  }

  /**
   * Returns a calendar that excludes the days of this calendar and of another.
   *
   * @throws ScheduleException if the two exclude all weekdays, or have more than {@link #MAX_ENTRIES} dates and days of
   *     every year together
   */
  public Calendar and(Calendar other) {
    NavigableSet<LocalDate> allDates = new TreeSet<>(dates);
    allDates.addAll(other.dates);
    NavigableSet<MonthDay> allYearly = new TreeSet<>(yearly);
    allYearly.addAll(other.yearly);
    Set<DayOfWeek> allWeekdays = EnumSet.noneOf(DayOfWeek.class);
    allWeekdays.addAll(weekdays);
    allWeekdays.addAll(other.weekdays);
    return new Calendar(allDates, allYearly, allWeekdays);
  }

  /** Returns whether no day is excluded. */
  public boolean isEmpty() {
    return dates.isEmpty() && yearly.isEmpty() && weekdays.isEmpty();
  }

  /** Returns whether a day is excluded. */
  public boolean excludes(LocalDate date) {
    return weekdays.contains(date.getDayOfWeek()) || dates.contains(date)
        || yearly.contains(MonthDay.of(date.getMonthValue(), date.getDayOfMonth()));
  }

  /** Returns whether a day is a business day. */
  public boolean isBusinessDay(LocalDate date) {
    return ((businessDays(date.getLong(PROLEPTIC_MONTH)) >>> (date.getDayOfMonth() - 1)) & 1) != 0;
  }

  /** Returns the first business day of a month, or null if the month has none. */
  public @Nullable LocalDate firstBusinessDay(YearMonth month) {
    int days = businessDays(month.getLong(PROLEPTIC_MONTH));
    return days == 0 ? null : month.atDay(Integer.numberOfTrailingZeros(days) + 1);
  }

  /** Returns the last business day of a month, or null if the month has none. */
  public @Nullable LocalDate lastBusinessDay(YearMonth month) {
    int days = businessDays(month.getLong(PROLEPTIC_MONTH));
    return days == 0 ? null : month.atDay(32 - Integer.numberOfLeadingZeros(days));
  }

  /**
   * Returns the first day that is not excluded, from the given date on. Returns null if the first
   * {@link #SEARCHED_DAYS} days are all excluded.
   */
  @Nullable
  LocalDate firstAllowed(LocalDate from) {
    long first = from.toEpochDay();
    for (long day = first; day < first + SEARCHED_DAYS; day++) {
      LocalDate date = LocalDate.ofEpochDay(day);
      if (!excludes(date)) {
        return date;
      }
    }
    return null;
  }

  /** Returns the excluded days of a month ({@link Months}). Bit 0 is the first day. */
  int excludedDays(long month) {
    int length = Months.length(month);
    long first = Months.firstDay(month);
    int excluded = weekdays.isEmpty() ? 0 : MonthDays.daysOf(weekdayBits(), MonthDays.weekday(first), length);
    if (!dates.isEmpty()) {
      for (LocalDate date : dates.subSet(LocalDate.ofEpochDay(first), LocalDate.ofEpochDay(first + length))) {
        excluded |= 1 << (date.getDayOfMonth() - 1);
      }
    }
    if (!yearly.isEmpty()) {
      Month ofYear = Month.of(Math.floorMod(month, Months.YEAR_MONTHS) + 1);
      for (MonthDay day : yearly.subSet(MonthDay.of(ofYear, 1), true, MonthDay.of(ofYear, ofYear.maxLength()), true)) {
        excluded |= 1 << (day.getDayOfMonth() - 1);
      }
    }
    return excluded & MonthDays.allDays(length);
  }

  /** Returns the business days of a month ({@link Months}). Bit 0 is the first day. */
  int businessDays(long month) {
    int length = Months.length(month);
    int weekend = weekdays.isEmpty()
        ? MonthDays.daysOf(SATURDAY_AND_SUNDAY, MonthDays.weekday(Months.firstDay(month)), length)
        : 0;
    return MonthDays.allDays(length) & ~weekend & ~excludedDays(month);
  }

  /** Returns the excluded weekdays as a set in which bit 0 is Sunday. */
  private int weekdayBits() {
    int bits = 0;
    for (DayOfWeek each : weekdays) {
      bits |= 1 << (each.getValue() % MonthDays.WEEK);
    }
    return bits;
  }
}
