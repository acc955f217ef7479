package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The meaning of cron expressions, and the refusals of invalid expressions. */
final class CronTextTest {
  private static final Instant SUNDAY = Instant.parse("2026-11-01T00:00:00Z");

  private static CronSchedule parse(String cron) {
    return CronSchedule.parse(cron, ZoneOffset.UTC);
  }

  private static ScheduleException refused(String cron, @Nullable CronDialect dialect) {
    return catchThrowableOfType(ScheduleException.class,
        () -> CronSchedule.parse(cron, dialect, ZoneOffset.UTC, ""));
  }

  private static List<String> days(String cron, @Nullable CronDialect dialect, int count) {
    return CronSchedule.parse(cron, dialect, ZoneOffset.UTC, "").preview(SUNDAY.minusSeconds(1), count).stream()
        .map(time -> time.toLocalDate().toString()).toList();
  }

  @Test
  void theDialectFollowsFromTheFields() {
    assertThat(parse("0 2 * * 1").dialect()).isEqualTo(CronDialect.UNIX);
    assertThat(parse("0 0 2 * * 1").dialect()).isEqualTo(CronDialect.SPRING);
    assertThat(parse("0 0 2 ? * MON").dialect()).isEqualTo(CronDialect.SPRING);
    assertThat(parse("0 0 2 ? * L").dialect()).as("only quartz has a weekday L").isEqualTo(CronDialect.QUARTZ);
    assertThat(parse("0 0 22-2 ? * MON").dialect()).isEqualTo(CronDialect.QUARTZ);
    assertThat(parse("0 0 2 ? * 2 2026-2030").dialect()).isEqualTo(CronDialect.QUARTZ);
  }

  @Test
  void weekdayNumbersAreThoseOfTheDialect() {
    assertThat(days("0 0 * * 2", null, 1)).as("unix: Tuesday").containsExactly("2026-11-03");
    assertThat(days("0 0 0 * * 2", CronDialect.SPRING, 1)).as("Tuesday").containsExactly("2026-11-03");
    assertThat(days("0 0 0 ? * 2", CronDialect.QUARTZ, 1)).as("Monday").containsExactly("2026-11-02");
    assertThat(days("0 0 * * 0", null, 2)).containsExactly("2026-11-01", "2026-11-08");
    assertThat(days("0 0 * * 7", null, 2)).containsExactly("2026-11-01", "2026-11-08");
    assertThat(days("0 0 * * FRI-SUN", null, 3)).containsExactly("2026-11-01", "2026-11-06", "2026-11-07");
    assertThat(days("0 0 0 ? * FRI-MON", CronDialect.QUARTZ, 3)).containsExactly("2026-11-01", "2026-11-02",
        "2026-11-06");
  }

  /** Sunday has the numbers 0 and 7. A step over all begins with the first number of the dialect. */
  @Test
  void stepsOfWeekdaysEndWithSunday() {
    List<String> oddDays = List.of("2026-11-01", "2026-11-02", "2026-11-04", "2026-11-06");
    List<String> evenDays = List.of("2026-11-01", "2026-11-03", "2026-11-05", "2026-11-07");
    assertThat(days("0 0 * * 1/2", null, 4)).as("Mon, Wed, Fri, Sun").isEqualTo(oddDays);
    assertThat(days("0 0 0 * * 1/2", CronDialect.SPRING, 4)).isEqualTo(oddDays);
    assertThat(days("0 0 * * 1-7/2", null, 4)).isEqualTo(oddDays);
    assertThat(days("0 0 * * FRI/1", null, 3)).containsExactly("2026-11-01", "2026-11-06", "2026-11-07");
    assertThat(days("0 0 * * 2/5", null, 2)).containsExactly("2026-11-01", "2026-11-03");

    assertThat(days("0 0 * * */2", null, 4)).as("0, 2, 4, 6").isEqualTo(evenDays);
    assertThat(days("0 0 0 * * */2", CronDialect.SPRING, 4)).as("1, 3, 5, 7").isEqualTo(oddDays);
    assertThat(days("0 0 0 ? * */2", CronDialect.QUARTZ, 4)).as("1, 3, 5, 7; 1 is Sunday").isEqualTo(evenDays);
  }

  @Test
  void twoDayFieldsAreJoinedByOrInUnixAndByAndInSpring() {
    assertThat(days("0 0 13 * FRI", null, 3)).containsExactly("2026-11-06", "2026-11-13", "2026-11-20");
    assertThat(days("0 0 */2 * FRI", null, 2)).as("a star is no restriction").containsExactly("2026-11-13",
        "2026-11-27");
    assertThat(days("0 0 0 13 * FRI", null, 2)).containsExactly("2026-11-13", "2027-08-13");
  }

  @Test
  void lastNearestAndNthDaysAreFound() {
    assertThat(days("0 0 L * *", null, 2)).containsExactly("2026-11-30", "2026-12-31");
    assertThat(days("0 0 L-3 * *", null, 2)).containsExactly("2026-11-27", "2026-12-28");
    assertThat(days("0 0 LW 1 *", null, 1)).as("31 January 2027 is a Sunday").containsExactly("2027-01-29");
    assertThat(days("0 0 1W * *", null, 2)).as("1 November is a Sunday").containsExactly("2026-11-02", "2026-12-01");
    assertThat(days("0 0 15W * *", null, 2)).as("15 November is a Sunday").containsExactly("2026-11-16",
        "2026-12-15");
    assertThat(days("0 0 31W * *", null, 2)).as("months of 31 days").containsExactly("2026-12-31", "2027-01-29");
    assertThat(days("0 0 * * MON#1", null, 2)).containsExactly("2026-11-02", "2026-12-07");
    assertThat(days("0 0 * * 0#5", null, 2)).containsExactly("2026-11-29", "2027-01-31");
    assertThat(days("0 0 * * FRIL", null, 2)).containsExactly("2026-11-27", "2026-12-25");
    assertThat(days("0 0 0 ? * 6L", CronDialect.QUARTZ, 1)).containsExactly("2026-11-27");
    assertThat(days("0 0 0 ? * L", CronDialect.QUARTZ, 1)).containsExactly("2026-11-07");
  }

  @Test
  void macrosAreFiveFields() {
    assertThat(parse("@hourly").cron()).isEqualTo("0 * * * *");
    assertThat(parse("@daily")).isEqualTo(parse("@midnight")).isEqualTo(parse("0 0 * * *"));
    assertThat(parse("@weekly").cron()).isEqualTo("0 0 * * 0");
    assertThat(parse("@monthly").cron()).isEqualTo("0 0 1 * *");
    assertThat(parse("@Yearly")).isEqualTo(parse("@annually")).isEqualTo(parse("0 0 1 1 *"));
    assertThat(refused("@reboot", null).choices()).contains("@daily", "@hourly").hasSize(7);
  }

  @Test
  void theHashOfTheNameChoosesTheTime() {
    CronSchedule one = CronSchedule.parse("H H * * *", null, ZoneOffset.UTC, "report");
    assertThat(one).isEqualTo(CronSchedule.parse("H H * * *", null, ZoneOffset.UTC, "report"))
        .isNotEqualTo(CronSchedule.parse("H H * * *", null, ZoneOffset.UTC, "backup"));
    assertThat(one.next(SUNDAY)).as("the hash never changes, because stored jobs depend on it")
        .isEqualTo(Instant.parse("2026-11-01T19:50:00Z"));

    long[] perHalfHour = new long[2];
    for (int job = 0; job < 1_000; job++) {
      CronSchedule hashed = CronSchedule.parse("H(0-29) H(9-17) * * *", null, ZoneOffset.UTC, "job-" + job);
      var time = hashed.preview(SUNDAY, 1).getFirst();
      assertThat(time.getHour()).isBetween(9, 17);
      perHalfHour[time.getMinute() / 30]++;
    }
    assertThat(perHalfHour).containsExactly(1_000, 0);
  }

  @Test
  void hashedStepsKeepTheirDistance() {
    Set<Integer> firsts = new HashSet<>();
    for (int job = 0; job < 100; job++) {
      CronSchedule hashed = CronSchedule.parse("H/15 * * * *", null, ZoneOffset.UTC, "job-" + job);
      List<Integer> minutes = hashed.preview(SUNDAY.minusSeconds(1), 4).stream().map(time -> time.getMinute())
          .toList();
      int first = minutes.getFirst();
      firsts.add(first);
      assertThat(minutes).containsExactly(first, first + 15, first + 30, first + 45);
    }
    assertThat(firsts).as("the first minutes of 100 names").hasSize(15).allMatch(first -> first < 15);
  }

  @Test
  void hashesSpreadEvenly() {
    int[] perMinute = new int[60];
    for (int job = 0; job < 60_000; job++) {
      CronSchedule hashed = CronSchedule.parse("H * * * *", null, ZoneOffset.UTC, "job-" + job);
      perMinute[hashed.preview(SUNDAY, 1).getFirst().getMinute()]++;
    }
    for (int count : perMinute) {
      assertThat(count).as("1,000 expected, within six standard deviations of 31").isBetween(800, 1_200);
    }
  }

  @Test
  void theCanonicalTextReadsAsTheSameSchedule() {
    for (String cron : List.of("  0  2 * *   mon-fri ", "@weekly", "0 0 2 ? jan L 2030", "*/5 9-17 * * 1,3",
        "0 0 0 LW * ?",
        "H H(0-7) * * *")) {
      CronSchedule schedule = CronSchedule.parse(cron, null, ZoneId.of("Europe/Berlin"), "report");
      CronSchedule again = CronSchedule.parse(schedule.cron(), schedule.dialect(), schedule.zone(), "report");
      assertThat(again).isEqualTo(schedule).hasSameHashCodeAs(schedule).hasToString(schedule.text());
    }
    assertThat(parse("0 2 * *   mon-fri").cron()).isEqualTo("0 2 * * MON-FRI");
  }

  @Test
  void eachNumberOutsideItsFieldIsRefused() {
    ScheduleException minute = refused("61 * * * *", null);
    assertThat(minute).hasMessage("minute: expected 0-59, but got \"61\"; for example \"*/5\"");
    assertThat(minute.setting()).isEqualTo("cron");
    assertThat(minute.field()).isEqualTo("minute");
    assertThat(minute.found()).isEqualTo("61");
    assertThat(minute.expected()).isEqualTo("0-59");
    assertThat(minute.example()).isEqualTo("*/5");

    assertThat(refused("* 24 * * *", null).field()).isEqualTo("hour");
    assertThat(refused("* * 0 * *", null).field()).isEqualTo("day of month");
    assertThat(refused("* * * 13 *", null)).hasMessageContaining("1-12 or JAN-DEC");
    assertThat(refused("* * * * 8", null)).hasMessageContaining("0-7 or SUN-SAT");
    assertThat(refused("0 0 0 ? * 0", CronDialect.QUARTZ)).hasMessageContaining("1-7 or SUN-SAT");
    assertThat(refused("60 * * * * *", null).field()).isEqualTo("second");
    assertThat(refused("0 0 0 1 1 ? 1969", null).field()).isEqualTo("year");
  }

  @Test
  void malformedItemsAreRefused() {
    for (String item : List.of("x", "", "1,", ",1", "1-", "-1", "1--2", "5-1", "*/0", "*/x", "*/61", "1/2/3", "**",
        "*-5",
        "MON", "L", "1W", "?", "H()", "H(5)", "H(9-5)", "H", "99999999999", "+1", "1.5", "1#2", "\u0661")) {
      assertThat(refused(item + " 0 * * *", null)).as(item).isNotNull();
      assertThat(refused("0 0 " + item + ",99 * *", null)).as(item).isNotNull();
    }
    for (String day : List.of("L-31", "L--1", "LL", "W", "0W", "32W", "WL", "?,1", "1,?", "1-5W")) {
      assertThat(refused("0 0 " + day + " * *", null).field()).as(day).isEqualTo("day of month");
    }
    for (String weekday : List.of("MON#0", "MON#6", "MON#", "#1", "8L", "L", "XL", "MOO", "MON-XXX", "?", "1#2#3")) {
      assertThat(refused("0 0 * * " + weekday, null).field()).as(weekday).isEqualTo("day of week");
    }
  }

  @Test
  void linesOfACrontabAreRefusedWithWhatDoesNotBelongToThem() {
    for (String line : List.of("0 2 * * * /usr/bin/backup.sh", "0 2 * * * root /usr/bin/backup.sh",
        "0 2 * * *\tbackup", "0 2 * * * cd /srv && ./backup --all > /dev/null 2>&1", "0 2 * * * ./backup.sh -v")) {
      assertThat(refused(line, null)).as(line).hasMessageStartingWith("cron: expected an expression without a command;")
          .hasMessageEndingWith("; for example \"0 2 * * *\"");
    }
    assertThat(refused("@daily /usr/bin/backup.sh", null)).hasMessageContaining("without a command")
        .hasMessageEndingWith("\"@daily\"");
    assertThat(refused("CRON_TZ=Europe/Berlin 0 2 * * *", null)).hasMessageContaining("set the zone of the schedule");
    assertThat(refused("TZ=UTC @daily", null)).hasMessageContaining("set the zone of the schedule");
    assertThat(refused("0 0 12 * * 8", null).field()).as("no command").isEqualTo("day of week");
    assertThat(refused("0 0 12 * * MONDAY", CronDialect.SPRING).field()).isEqualTo("day of week");
  }

  @Test
  void aRangeOverMidnightIsRefusedWithTheTwoRanges() {
    assertThat(refused("0 22-6 * * *", null)).hasMessage("hour: expected a range that begins before it ends; a range"
        + " past the end of the field is two ranges, but got \"22-6\"; for example \"22-23,0-6\"");
    assertThat(refused("0 23-0 * * *", null).example()).isEqualTo("23,0");
    assertThat(refused("0 0 28-3 * *", null).example()).isEqualTo("28-31,1-3");
    assertThat(refused("0 0 * * FRI-MON", null).example()).isEqualTo("5-6,0-1");
    assertThat(refused("0 0 0 * * FRI-MON", CronDialect.SPRING).example()).isEqualTo("5-7,1");
    assertThat(refused("0 22-6/2 * * *", null).example()).as("no other step").isEqualTo("9-17");
  }

  @Test
  void dayFieldsThatExcludeEachOtherAreRefusedByTheWeekday() {
    ScheduleException fourth = refused("0 0 0 2 * TUE#4", CronDialect.SPRING);
    assertThat(fourth).hasMessage("day of week: expected a weekday that falls on one of the days of the month 2,"
        + " because the two fields exclude each other and the expression never fires, but got \"TUE#4\"");
    assertThat(refused("0 0 0 31 2 MON", CronDialect.SPRING).field()).isEqualTo("day of month");
  }

  @Test
  void longNamesAreThoseOfQuartz() {
    assertThat(days("0 11 7 ? * MONDAY,TUESDAY *", null, 2)).containsExactly("2026-11-02", "2026-11-03");
    assertThat(days("0 11 7 ? january-march thursday", null, 1)).containsExactly("2027-01-07");
    assertThat(days("0 0 0 ? * FRIDAYL", CronDialect.QUARTZ, 1)).containsExactly("2026-11-27");
    assertThat(refused("0 7 * * MONDAY", null)).hasMessageContaining("0-7 or SUN-SAT");
  }

  @Test
  void aWrongNumberOfFieldsIsRefused() {
    assertThat(refused("* * * *", null)).hasMessage("cron: expected 5 fields (unix), 6 fields (spring or quartz) or"
        + " 7 fields (quartz), but got \"* * * *\"; for example \"0 2 * * MON-FRI\"");
    assertThat(refused("", null).field()).isNull();
    assertThat(refused("* * * * * * * *", null)).isNotNull();
    assertThat(refused("* * * * *", CronDialect.SPRING)).hasMessageContaining("6 fields of dialect spring");
    assertThat(refused("0 0 0 * * *", CronDialect.UNIX)).hasMessageContaining("5 fields of dialect unix");
    assertThat(refused("* * * * *", CronDialect.QUARTZ)).hasMessageContaining("6 or 7 fields of dialect quartz");
    assertThat(refused("0 ".repeat(600), null)).hasMessageContaining("at most 1000 characters");
  }

  @Test
  void anAmbiguousWeekdayIsRefusedWithTheChoice() {
    ScheduleException ambiguous = refused("0 0 10 ? * 2", null);
    assertThat(ambiguous.field()).isEqualTo("day of week");
    assertThat(ambiguous.found()).isEqualTo("2");
    assertThat(ambiguous.choices()).containsExactly("dialect spring", "dialect quartz");
    assertThat(ambiguous)
        .hasMessage("day of week: expected names of weekdays or a dialect, because the number of a day depends"
            + " on the dialect: 1 is Monday in spring, Sunday in quartz, but got \"2\"; choose one of dialect spring, dialect quartz; for example"
            + " \"0 0 10 ? * TUE\"");
    for (String weekday : List.of("2", "1-5", "2#1", "6L", "*/2", "MON/2", "FRI,2")) {
      assertThat(refused("0 0 10 ? * " + weekday, null).choices()).as(weekday).hasSize(2);
    }
    for (String weekday : List.of("MON", "MON-FRI", "MON#1", "FRIL", "*")) {
      assertThat(parse("0 0 10 ? * " + weekday).dialect()).as(weekday).isEqualTo(CronDialect.SPRING);
    }
  }

  @Test
  void expressionsThatNeverFireAreRefused() {
    assertThat(refused("0 0 31 2 *", null)).hasMessage("day of month: expected a day that exists in one of the months"
        + " and years (1-29), because the expression never fires, but got \"31\"; for example \"0 0 L * *\"");
    assertThat(refused("0 0 31 4,6,9,11 *", null).expected()).contains("(1-30)");
    assertThat(refused("0 0 0 29 2 ? 2027", null)).isNotNull();
    assertThat(refused("0 0 0 30W 2 ?", CronDialect.QUARTZ)).isNotNull();
    assertThat(parse("0 0 29 2 *").next(SUNDAY)).isEqualTo(Instant.parse("2028-02-29T00:00:00Z"));
    assertThat(parse("0 0 31 2 MON").next(SUNDAY)).as("one matching day field is enough").isNotNull();
    assertThat(CronSchedule.parse("0 0 0 29 2 MON", CronDialect.SPRING, ZoneOffset.UTC, "")
        .next(Instant.parse("2072-03-01T00:00:00Z"))).as("leap days on Mondays skip 2100")
        .isEqualTo(Instant.parse("2112-02-29T00:00:00Z"));
  }

  @Test
  void aPastYearHasNoNextTime() {
    CronSchedule past = parse("0 0 0 1 1 ? 2020");
    assertThat(past.next(Instant.parse("2019-06-01T00:00:00Z"))).isEqualTo(Instant.parse("2020-01-01T00:00:00Z"));
    assertThat(past.next(SUNDAY)).isNull();
    assertThat(parse("* * * * *").next(Instant.MAX)).isNull();
    assertThat(parse("* * * * *").next(Instant.MIN)).isEqualTo(Instant.EPOCH);
    assertThat(parse("@yearly").next(Instant.parse("9999-01-01T00:00:00Z"))).isNull();
  }
}
