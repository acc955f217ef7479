package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Excluded days and business days. */
final class CalendarTest {
  private static final List<String> ENTRIES = List.of("SAT", "SUN", "02-29", "12-25", "2026-04-03", "2026-05-01");

  @Test
  void entriesAreReadAndWritten() {
    Calendar calendar = Calendar.parse(List.of("2026-05-01", "sunday", "12-25", "Sat", "02-29", "2026-04-03"));
    assertThat(calendar.entries()).isEqualTo(ENTRIES);
    assertThat(Calendar.parse(calendar.entries())).isEqualTo(calendar);
    assertThat(calendar.and(Calendar.NONE)).isEqualTo(calendar);
    assertThat(Calendar.NONE.isEmpty()).isTrue();
    assertThat(calendar.isEmpty()).isFalse();
  }

  @Test
  void wrongEntriesAreRefused() {
    for (String entry : List.of("", "2026-02-29", "13-01", "02-30", "Funday", "2026/12/25", "1-1")) {
      assertThatThrownBy(() -> Calendar.parse(List.of(entry))).as(entry).isInstanceOf(ScheduleException.class)
          .hasMessageContaining("days: expected a date, a day of every year, or a weekday");
    }
    List<String> allDays = new ArrayList<>();
    for (DayOfWeek day : DayOfWeek.values()) {
      allDays.add(day.name());
    }
    assertThatThrownBy(() -> Calendar.parse(allDays)).hasMessageContaining("at least one weekday");
    List<String> many = LocalDate.of(2026, 1, 1).datesUntil(LocalDate.of(2038, 1, 1)).map(LocalDate::toString).toList();
    assertThatThrownBy(() -> Calendar.parse(many)).hasMessageContaining("at most 4000 dates");
  }

  @Test
  void theDaysOfAMonthAgreeWithEachDay() {
    Random random = new Random(5);
    Calendar calendar = Calendar.parse(ENTRIES);
    for (int i = 0; i < 2_000; i++) {
      LocalDate date = LocalDate.of(2020 + random.nextInt(20), 1, 1).plusDays(random.nextInt(365));
      boolean isExcluded = ((calendar
          .excludedDays(date.getLong(ChronoField.PROLEPTIC_MONTH)) >>> (date.getDayOfMonth() - 1)) & 1) != 0;
      assertThat(isExcluded).as("%s", date).isEqualTo(calendar.excludes(date));
      assertThat(calendar.isBusinessDay(date)).as("%s", date).isEqualTo(!calendar.excludes(date));
    }
    assertThat(calendar.excludes(LocalDate.of(2028, 2, 29))).isTrue();
  }

  @Test
  void businessDaysSkipTheWeekendAndHolidays() {
    Calendar holidays = Calendar.parse(List.of("01-01", "2027-04-30"));
    assertThat(holidays.firstBusinessDay(YearMonth.of(2027, 1))).as("a weekend follows").isEqualTo("2027-01-04");
    assertThat(holidays.lastBusinessDay(YearMonth.of(2027, 4))).isEqualTo("2027-04-29");
    assertThat(holidays.isBusinessDay(LocalDate.of(2027, 1, 2))).as("Saturday").isFalse();
    assertThat(holidays.excludes(LocalDate.of(2027, 1, 2))).as("no business day, but not excluded").isFalse();

    Calendar gulf = Calendar.parse(List.of("FRI", "SAT"));
    assertThat(gulf.firstBusinessDay(YearMonth.of(2027, 1))).as("a Sunday").isEqualTo("2027-01-03");
    assertThat(Calendar.businessDays(List.of(LocalDate.of(2027, 1, 1))).firstBusinessDay(YearMonth.of(2027, 1)))
        .isEqualTo("2027-01-04");
  }
}
