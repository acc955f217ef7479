package io.foliot.schedule;

import static java.time.temporal.ChronoField.PROLEPTIC_MONTH;
import static org.assertj.core.api.Assertions.fail;

import java.time.LocalDate;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares {@link Months} with java.time. */
final class MonthsTest {
  private static void check(LocalDate day) {
    long date = Months.date(day.toEpochDay());
    long month = Months.month(date);
    if (month != day.getLong(PROLEPTIC_MONTH) || Months.day(date) != day.getDayOfMonth() - 1
        || Months.firstDay(month) != day.toEpochDay() - Months.day(date)
        || Months.length(month) != day.lengthOfMonth()) {
      fail("%s: month=%d day=%d firstDay=%d length=%d", day, month, Months.day(date), Months.firstDay(month),
          Months.length(month));
    }
  }

  @Test
  void eachDayOfTwoCyclesIsInItsMonth() {
    LocalDate.of(1599, 12, 1).datesUntil(LocalDate.of(2401, 2, 1)).forEach(MonthsTest::check);
  }

  @Test
  void distantDaysAreInTheirMonths() {
    Random random = new Random(7);
    check(LocalDate.MIN.plusYears(1));
    check(LocalDate.MAX.minusYears(1));
    for (int i = 0; i < 10_000; i++) {
      check(LocalDate.ofEpochDay(random.nextLong(-365_000_000, 365_000_000)));
    }
  }
}
