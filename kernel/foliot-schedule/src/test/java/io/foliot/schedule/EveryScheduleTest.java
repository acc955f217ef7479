package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Fixed rates, fixed delays, single times, and their bounds. */
final class EveryScheduleTest {
  private static final Instant START = Instant.parse("2026-03-07T00:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void aFixedRateFollowsTheEpoch() {
    EverySchedule every = new EverySchedule(Duration.ofHours(6), Duration.ofMinutes(10));
    assertThat(every.next(START)).isEqualTo(Instant.parse("2026-03-07T00:10:00Z"));
    assertThat(every.next(Instant.parse("2026-03-07T00:10:00Z"))).isEqualTo(Instant.parse("2026-03-07T06:10:00Z"));
    assertThat(every.next(Instant.parse("2026-03-07T00:09:59.999999999Z")))
        .isEqualTo(Instant.parse("2026-03-07T00:10:00Z"));
    assertThat(every.last(START)).isEqualTo(Instant.parse("2026-03-06T18:10:00Z"));
    assertThat(every.next(Instant.MIN)).isEqualTo(Instant.EPOCH.plus(every.offset()));
    assertThat(every.next(Instant.MAX)).isNull();
  }

  @Test
  void aFixedRateIsCountedWithoutEnumeration() {
    Random random = new Random(3);
    for (int i = 0; i < 1_000; i++) {
      long period = 100L + random.nextInt(100_000);
      EverySchedule every = new EverySchedule(Duration.ofMillis(period), Duration.ofMillis(random.nextLong(period)));
      Instant until = START.plusMillis(random.nextInt(1_000_000));
      long counted = 0;
      Instant next = every.next(START);
      Instant last = every.last(START);
      while (next != null && !next.isAfter(until)) {
        counted++;
        last = next;
        next = every.next(next);
      }
      assertThat(every.count(START, until, Long.MAX_VALUE)).isEqualTo(counted);
      assertThat(every.count(START, until, 3)).isEqualTo(Math.min(3, counted));
      assertThat(every.last(until)).isEqualTo(last);
    }
    assertThat(new EverySchedule(EverySchedule.MIN_PERIOD, Duration.ZERO).count(Instant.EPOCH,
        Instant.parse("9999-01-01T00:00:00Z"), Long.MAX_VALUE)).isGreaterThan(2_000_000_000_000L);
  }

  @Test
  void jobsOfOnePeriodAreSpreadOverThePeriod() {
    int[] perMinute = new int[60];
    for (int job = 0; job < 60_000; job++) {
      EverySchedule every = EverySchedule.spread(HOUR, "job-" + job);
      perMinute[(int) every.offset().toMinutes()]++;
    }
    for (int count : perMinute) {
      assertThat(count).isBetween(800, 1_200);
    }
    assertThat(EverySchedule.spread(HOUR, "report")).isEqualTo(EverySchedule.spread(HOUR, "report"));
  }

  @Test
  void aFixedDelayFollowsTheEndOfARun() {
    AfterSchedule after = new AfterSchedule(Duration.ofSeconds(30));
    assertThat(after.next(START)).isEqualTo(START.plusSeconds(30));
    assertThat(after.next(Instant.MAX)).isNull();
  }

  @Test
  void aSingleTimeFiresOnce() {
    AtSchedule at = new AtSchedule(START);
    assertThat(at.next(START.minusNanos(1))).isEqualTo(START);
    assertThat(at.next(START)).isNull();
    assertThat(at.count(Instant.EPOCH, START, 10)).isEqualTo(1);
  }

  @Test
  void boundsIncludeTheBeginAndNotTheEnd() {
    EverySchedule every = new EverySchedule(HOUR, Duration.ZERO);
    BoundedSchedule bounded = new BoundedSchedule(every, START, START.plus(HOUR.multipliedBy(3)), Calendar.NONE,
        ZoneOffset.UTC);
    assertThat(bounded.preview(Instant.EPOCH, 10)).map(time -> time.getHour()).containsExactly(0, 1, 2);
    assertThat(bounded.count(Instant.EPOCH, Instant.MAX, 10)).isEqualTo(3);
    assertThat(bounded.count(START, START.plus(HOUR), 10)).isEqualTo(1);
    assertThat(bounded.count(Instant.EPOCH, Instant.EPOCH.plusSeconds(1), 10)).isZero();
    assertThatThrownBy(() -> new BoundedSchedule(bounded, null, null, Calendar.NONE, ZoneOffset.UTC))
        .isInstanceOf(IllegalArgumentException.class);

    BoundedSchedule delay = new BoundedSchedule(new AfterSchedule(HOUR), START, null, Calendar.NONE, ZoneOffset.UTC);
    assertThat(delay.next(START.minusSeconds(86_400))).as("begins at once").isEqualTo(START);
    assertThat(delay.next(START)).isEqualTo(START.plus(HOUR));
  }

  @Test
  void excludedDaysAreDaysOfTheZone() {
    ZoneId zone = ZoneId.of("America/New_York");
    Calendar weekend = Calendar.businessDays(List.of());
    BoundedSchedule every = new BoundedSchedule(new EverySchedule(Duration.ofHours(12), Duration.ZERO), null, null,
        weekend, zone);
    assertThat(every.preview(START, 2)).as("the clock change is on the excluded Sunday").map(Object::toString)
        .containsExactly("2026-03-09T08:00-04:00[America/New_York]", "2026-03-09T20:00-04:00[America/New_York]");
    assertThat(every.count(START, START.plus(Duration.ofDays(3)), 100)).isEqualTo(2);

    BoundedSchedule delay = new BoundedSchedule(new AfterSchedule(Duration.ofDays(1)), null, null, weekend, zone);
    Instant monday = Instant.parse("2026-03-09T04:00:00Z");
    assertThat(delay.next(Instant.parse("2026-03-06T17:00:00Z"))).as("the start of Monday").isEqualTo(monday);
    assertThat(delay.first(Instant.parse("2026-03-07T17:00:00Z"))).isEqualTo(monday);
    assertThat(delay.first(monday)).isEqualTo(monday);
    assertThat(every.first(Instant.parse("2026-03-09T12:00:00Z"))).as("the instant itself")
        .isEqualTo(Instant.parse("2026-03-09T12:00:00Z"));
  }

  @Test
  void jitterIsAFunctionOfNameAndTime() {
    Jitter jitter = new Jitter(Duration.ofSeconds(30), "report");
    long sum = 0;
    for (int i = 0; i < 1_000; i++) {
      Instant time = START.plusSeconds(60L * i);
      assertThat(jitter.of(time)).isBetween(Duration.ZERO, Duration.ofSeconds(30))
          .isEqualTo(new Jitter(Duration.ofSeconds(30), "report").of(time));
      assertThat(jitter.begin(time)).isEqualTo(time.plus(jitter.of(time)));
      sum += jitter.of(time).toMillis();
    }
    assertThat(sum / 1_000).isBetween(14_000L, 16_000L);
    assertThat(jitter.of(START)).isNotEqualTo(new Jitter(Duration.ofSeconds(30), "backup").of(START));
    assertThat(new Jitter(Duration.ZERO, "report").of(START)).isZero();
  }

  @Test
  void aTimeAfterThousandsOfExcludedDaysIsFound() {
    EverySchedule weekly = new EverySchedule(Duration.ofDays(7), Duration.ZERO);
    Instant first = Objects.requireNonNull(weekly.next(START));
    List<String> days = new ArrayList<>();
    for (int week = 0; week < Calendar.MAX_ENTRIES; week++) {
      days.add(first.plus(Duration.ofDays(7L * week)).atZone(ZoneOffset.UTC).toLocalDate().toString());
    }
    assertThat(new BoundedSchedule(weekly, null, null, Calendar.parse(days), ZoneOffset.UTC).next(START))
        .isEqualTo(first.plus(Duration.ofDays(7L * Calendar.MAX_ENTRIES)));
    assertThat(new BoundedSchedule(weekly, null, null, Calendar.parse(List.of("THU")), ZoneOffset.UTC).next(START))
        .isNull();
  }
}
