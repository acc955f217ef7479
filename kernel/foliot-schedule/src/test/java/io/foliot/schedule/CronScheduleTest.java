package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** The times of cron expressions, compared with brute force over java.time, and examples of clock changes. */
final class CronScheduleTest {
  private static final ZoneId NEW_YORK = ZoneId.of("America/New_York");
  private static final String GAP = "2026-03-08T00:00:00";
  private static final String OVERLAP = "2026-11-01T00:00:00";
  private static final List<CronDialect> DIALECTS = List.of(CronDialect.values());
  /** Maximum number of days that the oracle searches. An expression may match only one day in several years. */
  private static final int SEARCHED_DAYS = 366 * 9;

  private static CronSchedule inNewYork(String cron) {
    return CronSchedule.parse(cron, NEW_YORK);
  }

  /** Returns the hour, minute and offset of the first {@code count} times at or after a local time, in order. */
  private static List<String> times(CronSchedule schedule, String from, int count) {
    Instant start = LocalDateTime.parse(from).atZone(schedule.zone()).toInstant();
    return schedule.preview(start.minusNanos(1), count).stream()
        .map(time -> time.format(DateTimeFormatter.ofPattern("HH:mmxxx"))).toList();
  }

  @RepeatedTest(3)
  void nextIsTheFirstMatchByBruteForce() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 400; i++) {
      CronDialect dialect = DIALECTS.get(i % DIALECTS.size());
      String cron = new RandomCron(random, dialect, false).next();
      LocalDateTime after = LocalDateTime.of(between(random, 2020, 2040), between(random, 1, 12),
          between(random, 1, 28), random.nextInt(24), random.nextInt(60), random.nextInt(60));
      CronSchedule schedule;
      try {
        schedule = CronSchedule.parse(cron, dialect, ZoneOffset.UTC, "");
      } catch (ScheduleException e) {
        assertThat(e).as(cron).hasMessageContaining("never fires");
        assertThat(new CronOracle(cron, dialect).next(after, SEARCHED_DAYS)).as(cron).isNull();
        continue;
      }
      CronOracle oracle = new CronOracle(cron, dialect);
      for (int times = 0; times < 5; times++) {
        LocalDateTime expected = oracle.next(after.plusSeconds(1), SEARCHED_DAYS);
        Instant next = schedule.next(after.toInstant(ZoneOffset.UTC));
        if (expected == null) {
          // The oracle does not search further.
          assertThat(next == null || next.isAfter(after.plusDays(SEARCHED_DAYS - 1).toInstant(ZoneOffset.UTC)))
              .as("seed %d: %s after %s is %s", seed, cron, after, next).isTrue();
          break;
        }
        assertThat(next).as("seed %d: %s after %s", seed, cron, after).isEqualTo(expected.toInstant(ZoneOffset.UTC));
        after = expected;
      }
    }
  }

  private static int between(Random random, int from, int to) {
    return from + random.nextInt(to - from + 1);
  }

  @Test
  void timesIncreaseAndNoneIsLeftOutForAnyArgument() {
    Random random = new Random(7);
    List<ZoneId> zones = List.of(NEW_YORK, ZoneId.of("Australia/Lord_Howe"), ZoneId.of("America/Santiago"));
    for (int i = 0; i < 300; i++) {
      String cron = new RandomCron(random, CronDialect.UNIX, false).next();
      CronSchedule schedule;
      try {
        schedule = CronSchedule.parse(cron, zones.get(i % 3));
      } catch (ScheduleException e) {
        continue;
      }
      Instant after = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(random.nextInt(86_400 * 365));
      for (int times = 0; times < 20; times++) {
        Instant next = schedule.next(after);
        if (next == null) {
          break;
        }
        assertThat(next).as(cron).isAfter(after);
        long between = Duration.between(after, next).toMillis();
        Instant earlier = after.plusMillis((long) (between * random.nextDouble()));
        assertThat(schedule.next(earlier)).as("%s after %s", cron, earlier).isEqualTo(next);
        assertThat(schedule.next(next.minusNanos(1))).as(cron).isEqualTo(next);
        after = next;
      }
    }
  }

  @Test
  void timesInAGapFireAtItsEnd() {
    assertThat(times(inNewYork("30 2 * * *"), GAP, 2)).containsExactly("03:00-04:00", "02:30-04:00");
    assertThat(times(inNewYork("0,30 2 * * *"), GAP, 2)).as("once").containsExactly("03:00-04:00", "02:00-04:00");
    assertThat(times(inNewYork("0,30 2-3 * * *"), GAP, 2)).as("together with a time after the gap")
        .containsExactly("03:00-04:00", "03:30-04:00");
    assertThat(times(inNewYork("*/30 * * * *"), "2026-03-08T01:30:00", 3)).containsExactly("01:30-05:00",
        "03:00-04:00", "03:30-04:00");
    assertThat(times(inNewYork("0 */2 * * *"), GAP, 3)).containsExactly("00:00-05:00", "03:00-04:00", "04:00-04:00");
    CronSchedule santiago = CronSchedule.parse("0 0 * * *", ZoneId.of("America/Santiago"));
    assertThat(times(santiago, "2026-09-05T12:00:00", 2)).containsExactly("01:00-03:00", "00:00-03:00");
  }

  @Test
  void timesInAGapAreSkippedOnRequest() {
    CronSchedule skipping = inNewYork("0 */2 * * *").with(DstGap.SKIP, DstOverlap.AUTO);
    assertThat(times(skipping, GAP, 2)).containsExactly("00:00-05:00", "04:00-04:00");
  }

  @Test
  void timesInAnOverlapFireTwiceOnlyIfEveryHourFires() {
    assertThat(times(inNewYork("30 1 * * *"), OVERLAP, 2)).containsExactly("01:30-04:00", "01:30-05:00");
    assertThat(inNewYork("30 1 * * *").preview(Instant.parse("2026-11-01T05:30:00Z"), 1).getFirst().getDayOfMonth())
        .as("the next day").isEqualTo(2);
    assertThat(times(inNewYork("*/30 * * * *"), "2026-11-01T01:00:00", 5)).containsExactly("01:00-04:00",
        "01:30-04:00", "01:00-05:00", "01:30-05:00", "02:00-05:00");
    assertThat(times(inNewYork("0 1-3 * * *"), OVERLAP, 3)).containsExactly("01:00-04:00", "02:00-05:00",
        "03:00-05:00");
    CronSchedule lordHowe = CronSchedule.parse("*/10 * * * *", ZoneId.of("Australia/Lord_Howe"));
    assertThat(times(lordHowe, "2026-04-05T01:30:00", 7)).containsExactly("01:30+11:00", "01:40+11:00", "01:50+11:00",
        "01:30+10:30", "01:40+10:30", "01:50+10:30", "02:00+10:30");
  }

  @Test
  void timesInAnOverlapFollowTheSetting() {
    CronSchedule both = inNewYork("30 1 * * *").with(DstGap.SHIFT, DstOverlap.BOTH);
    assertThat(times(both, OVERLAP, 2)).containsExactly("01:30-04:00", "01:30-05:00");
    assertThat(both.next(Instant.parse("2026-11-01T05:30:00Z"))).isEqualTo(Instant.parse("2026-11-01T06:30:00Z"));
    CronSchedule first = inNewYork("*/30 * * * *").with(DstGap.SHIFT, DstOverlap.FIRST);
    assertThat(times(first, "2026-11-01T01:30:00", 2)).containsExactly("01:30-04:00", "02:00-05:00");
  }

  @Test
  void anExpressionOfOneDateFiresTwiceInAnOverlapOnRequest() {
    CronSchedule once = inNewYork("0 30 1 1 11 ? 2026").with(DstGap.SHIFT, DstOverlap.BOTH);
    Instant first = Instant.parse("2026-11-01T05:30:00Z");
    assertThat(once.next(Instant.EPOCH)).isEqualTo(first);
    assertThat(once.next(first)).as("the second occurrence").isEqualTo(Instant.parse("2026-11-01T06:30:00Z"));
    assertThat(once.next(Instant.parse("2026-11-01T06:30:00Z"))).isNull();
  }

  @Test
  void timesOfADayThatAZoneSkippedFireAtItsEnd() {
    CronSchedule apia = CronSchedule.parse("0 */6 * * *", ZoneId.of("Pacific/Apia"));
    assertThat(apia.preview(Instant.parse("2011-12-30T04:00:00Z"), 3).toString())
        .isEqualTo("[2011-12-31T00:00+14:00[Pacific/Apia], 2011-12-31T06:00+14:00[Pacific/Apia],"
            + " 2011-12-31T12:00+14:00[Pacific/Apia]]");
  }

  @Test
  void excludedDaysDoNotFireAndMoveBusinessDays() {
    Calendar holidays = Calendar.parse(List.of("2026-12-25", "01-01"));
    assertThat(CronSchedule.parse("0 9 25 12 *", ZoneOffset.UTC).excluding(holidays)
        .next(Instant.parse("2026-12-01T00:00:00Z"))).isEqualTo(Instant.parse("2027-12-25T09:00:00Z"));
    CronSchedule firstBusinessDay = CronSchedule.parse("0 9 1W * *", ZoneOffset.UTC).excluding(holidays);
    assertThat(firstBusinessDay.next(Instant.parse("2026-12-02T00:00:00Z")))
        .as("1 January is a holiday, 2 and 3 a weekend").isEqualTo(Instant.parse("2027-01-04T09:00:00Z"));
    assertThat(CronSchedule.parse("* * * * *", ZoneOffset.UTC).excluding(holidays)
        .next(Instant.parse("2026-12-24T23:59:00Z"))).isEqualTo(Instant.parse("2026-12-26T00:00:00Z"));
  }

  @Test
  void farTimesAreFoundAcrossManyClockChanges() {
    CronSchedule leap = CronSchedule.parse("30 2 29 2 *", NEW_YORK);
    assertThat(leap.next(Instant.parse("2096-03-01T00:00:00Z"))).as("2100 is no leap year")
        .isEqualTo(Instant.parse("2104-02-29T07:30:00Z"));
    // The gap of 2026 is on 8 March. In a year whose gap is on another day, the time is not shifted.
    CronSchedule march = CronSchedule.parse("30 2 8 3 *", NEW_YORK);
    assertThat(march.preview(Instant.parse("2025-04-01T00:00:00Z"), 2).toString())
        .isEqualTo("[2026-03-08T03:00-04:00[America/New_York], 2027-03-08T02:30-05:00[America/New_York]]");
  }
}
