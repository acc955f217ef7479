package io.foliot.schedule;

import static java.time.DayOfWeek.SATURDAY;
import static java.time.DayOfWeek.SUNDAY;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.TemporalAdjusters;
import java.time.zone.ZoneOffsetTransition;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A second evaluator of cron expressions, by brute force over java.time. It tests each number of a field and each date
 * against the text of the fields. It shares no code with the schedules, and uses neither bit sets nor arithmetic with
 * offsets. It supports expressions in upper case, but neither {@code H} nor macros, and does not check its input.
 */
final class CronOracle {
  private static final List<String> MONTHS = List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
      "OCT", "NOV", "DEC");
  private static final List<String> WEEKDAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  private final CronDialect dialect;
  private final String[] fields;
  private final boolean[] seconds = new boolean[60];
  private final boolean[] minutes = new boolean[60];
  private final boolean[] hours = new boolean[24];
  private LocalDate lastDate = LocalDate.MIN;
  private boolean isLastDateAllowed;

  CronOracle(String cron, CronDialect dialect) {
    this.dialect = dialect;
    this.fields = (dialect == CronDialect.UNIX ? "0 " + cron : cron).split(" ", -1);
    for (int i = 0; i < 60; i++) {
      seconds[i] = allows(fields[0], i, 0, 59, List.of(), 0);
      minutes[i] = allows(fields[1], i, 0, 59, List.of(), 0);
      if (i < 24) {
        hours[i] = allows(fields[2], i, 0, 23, List.of(), 0);
      }
    }
  }

  /** Returns whether an instant at a whole second is a scheduled time. */
  boolean fires(Instant instant, ZoneId zone, DstGap gap, DstOverlap overlap) {
    ZonedDateTime time = instant.atZone(zone);
    LocalDateTime local = time.toLocalDateTime();
    boolean isSecondOccurrence = !time.withEarlierOffsetAtOverlap().toInstant().equals(instant);
    boolean both = overlap == DstOverlap.BOTH || (overlap == DstOverlap.AUTO && hasEveryHour());
    if (matches(local) && (!isSecondOccurrence || both)) {
      return true;
    }
    // If the instant is the end of a gap, the local second before it is inside the gap.
    ZoneOffsetTransition change = zone.getRules().getTransition(local.minusSeconds(1));
    if (gap == DstGap.SKIP || change == null || !change.isGap() || !change.getInstant().equals(instant)) {
      return false;
    }
    for (LocalDateTime lost = change.getDateTimeBefore(); lost.isBefore(change.getDateTimeAfter()); lost = lost
        .plusSeconds(1)) {
      if (matches(lost)) {
        return true;
      }
    }
    return false;
  }

  boolean hasEveryHour() {
    for (boolean hour : hours) {
      if (!hour) {
        return false;
      }
    }
    return true;
  }

  boolean matches(LocalDateTime time) {
    return matchesTime(time.toLocalTime()) && matchesDate(time.toLocalDate());
  }

  /**
   * Returns the first matching local time at or after {@code from}, or null if there is none within the given number of
   * days. The date of {@code from} is the first of these days.
   */
  @Nullable
  LocalDateTime next(LocalDateTime from, int days) {
    LocalDate first = from.toLocalDate();
    for (LocalDate date = first; date.isBefore(first.plusDays(days)); date = date.plusDays(1)) {
      if (matchesDate(date)) {
        LocalDateTime found = firstOn(date, date.equals(first) ? from.toLocalTime() : LocalTime.MIN);
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  private @Nullable LocalDateTime firstOn(LocalDate date, LocalTime from) {
    for (int hour = from.getHour(); hour < 24; hour++) {
      for (int minute = 0; minute < 60 && hours[hour]; minute++) {
        for (int second = 0; second < 60 && minutes[minute]; second++) {
          LocalTime time = LocalTime.of(hour, minute, second);
          if (!time.isBefore(from) && matchesTime(time)) {
            return date.atTime(time);
          }
        }
      }
    }
    return null;
  }

  private boolean matchesTime(LocalTime time) {
    return seconds[time.getSecond()] && minutes[time.getMinute()] && hours[time.getHour()];
  }

  private boolean matchesDate(LocalDate date) {
    if (!date.equals(lastDate)) {
      lastDate = date;
      isLastDateAllowed = readDate(date);
    }
    return isLastDateAllowed;
  }

  private boolean readDate(LocalDate date) {
    if (!allows(fields[4], date.getMonthValue(), 1, 12, MONTHS, 1)
        || (fields.length > 6 && !allows(fields[6], date.getYear(), 1970, 2099, List.of(), 0))) {
      return false;
    }
    boolean day = any(fields[3], item -> matchesDay(item, date));
    boolean weekday = any(fields[5], item -> matchesWeekday(item, date));
    boolean either = dialect == CronDialect.UNIX && !fields[3].startsWith("*") && !fields[5].startsWith("*");
    return either ? day || weekday : day && weekday;
  }

  private boolean matchesDay(String item, LocalDate date) {
    LocalDate last = date.with(TemporalAdjusters.lastDayOfMonth());
    boolean business = item.endsWith("W");
    String plain = business ? item.substring(0, item.length() - 1) : item;
    if (plain.equals("?")) {
      return true;
    }
    if (plain.startsWith("L")) {
      int back = plain.length() == 1 ? 0 : Integer.parseInt(plain.substring(2));
      LocalDate wanted = last.minusDays(back);
      return wanted.getMonth() == date.getMonth() && date.equals(business ? nearestWeekday(wanted) : wanted);
    }
    if (business) {
      int wanted = Integer.parseInt(plain);
      return wanted <= last.getDayOfMonth() && date.equals(nearestWeekday(date.withDayOfMonth(wanted)));
    }
    return allows(plain, date.getDayOfMonth(), 1, 31, List.of(), 0);
  }

  private static LocalDate nearestWeekday(LocalDate day) {
    if (day.getDayOfWeek() == SATURDAY) {
      return day.getDayOfMonth() == 1 ? day.plusDays(2) : day.minusDays(1);
    }
    if (day.getDayOfWeek() == SUNDAY) {
      return day.getDayOfMonth() == day.lengthOfMonth() ? day.minusDays(2) : day.plusDays(1);
    }
    return day;
  }

  private boolean matchesWeekday(String item, LocalDate date) {
    if (item.equals("?")) {
      return true;
    }
    if (item.equals("L")) {
      return date.getDayOfWeek() == SATURDAY;
    }
    if (item.endsWith("L")) {
      DayOfWeek wanted = weekday(item.substring(0, item.length() - 1));
      return date.equals(date.with(TemporalAdjusters.lastInMonth(wanted)));
    }
    int hash = item.indexOf('#');
    if (hash >= 0) {
      DayOfWeek wanted = weekday(item.substring(0, hash));
      LocalDate nth = date.with(TemporalAdjusters.dayOfWeekInMonth(Integer.parseInt(item.substring(hash + 1)), wanted));
      return date.equals(nth);
    }
    int sundayIsZero = date.getDayOfWeek().getValue() % 7;
    return switch (dialect) {
      case QUARTZ -> allows(item, sundayIsZero + 1, 1, 7, WEEKDAYS, 1);
      case SPRING -> allows(item, sundayIsZero, 1, 7, WEEKDAYS, 0) || (sundayIsZero == 0 && allows(item, 7, 1, 7,
          WEEKDAYS, 0));
      case UNIX -> allows(item, sundayIsZero, 0, 7, WEEKDAYS, 0) || (sundayIsZero == 0 && !item.startsWith("*")
          && allows(item, 7, 0, 7, WEEKDAYS, 0));
    };
  }

  private DayOfWeek weekday(String text) {
    int number = number(text, WEEKDAYS, dialect == CronDialect.QUARTZ ? 1 : 0);
    int sundayIsZero = dialect == CronDialect.QUARTZ ? number - 1 : number % 7;
    return sundayIsZero == 0 ? SUNDAY : DayOfWeek.of(sundayIsZero);
  }

  private static boolean any(String field, Predicate<String> matches) {
    for (String item : field.split(",", -1)) {
      if (matches.test(item)) {
        return true;
      }
    }
    return false;
  }

  private boolean allows(String field, int value, int min, int max, List<String> names, int firstNamed) {
    return any(field, item -> {
      String[] stepped = item.split("/", -1);
      int step = stepped.length == 1 ? 1 : Integer.parseInt(stepped[1]);
      String[] ends = stepped[0].split("-", -1);
      if (stepped[0].equals("*")) {
        return value >= min && (value - min) % step == 0;
      }
      int from = number(ends[0], names, firstNamed);
      if (ends.length == 1) {
        return stepped.length == 1 ? value == from : value >= from && value <= max && (value - from) % step == 0;
      }
      int to = ends[1].equals("SUN") && dialect != CronDialect.QUARTZ ? 7 : number(ends[1], names, firstNamed);
      IntPredicate isIn = each -> each >= from && each <= to && (each - from) % step == 0;
      if (from <= to) {
        return isIn.test(value);
      }
      int size = max - min + 1;
      int turned = value < from ? value + size : value;
      return turned >= from && turned <= to + size && (turned - from) % step == 0;
    });
  }

  private static int number(String text, List<String> names, int firstNamed) {
    int named = names.indexOf(text);
    return named >= 0 ? named + firstNamed : Integer.parseInt(text);
  }
}
