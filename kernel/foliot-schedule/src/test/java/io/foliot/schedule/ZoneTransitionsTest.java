package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the schedules with brute force around each clock change of each zone from 2020 to 2040. {@link CronOracle}
 * decides for each minute or second around a change whether it is a scheduled time. The schedule must return exactly
 * these times. The quick test checks zones with the same changes only once, and only some hours around a change. The
 * long test checks each zone, from one day before a change to one day after it.
 */
final class ZoneTransitionsTest {
  private static final Instant BEGIN = Instant.parse("2020-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("2041-01-01T00:00:00Z");

  /** Expressions with all kinds of fields: lists, ranges and steps, and days by number, weekday and rank in a month. */
  private static final List<String> MINUTES = List.of("* * * * *", "*/10 * * * *", "15 * * * *", "30 2 * * *",
      "0,30 0-3 * * *", "0 */2 * * *", "59 23 * * *", "0 0 * * *", "5/20 1-2 * * *", "45 0,2,4 * * *",
      "*/30 0-23 L * *", "30 1 * * SUN#1", "30 2 8-14 3 SUN", "10 */3 1W * *", "*/7 1 * 3,4,9,10,11 SUN");
  private static final List<String> SECONDS = List.of("*/20 * * * * *", "30 59 * * * *", "0/15 0,30 0-3 ? * *",
      "59 59 23,0-2 * * *", "7 */10 2 LW * ?");

  /**
   * Number of parts of {@link #MINUTES}. It has no common divisor above 1 with the number of policies, so all pairs of
   * a part and a policy occur.
   */
  private static final int SHARES = 4;

  private record Policy(DstGap gap, DstOverlap overlap) {}

  private static final List<Policy> POLICIES = List.of(new Policy(DstGap.SHIFT, DstOverlap.AUTO),
      new Policy(DstGap.SKIP, DstOverlap.FIRST), new Policy(DstGap.SHIFT, DstOverlap.BOTH));

  private static List<ZoneOffsetTransition> changes(ZoneRules rules) {
    List<ZoneOffsetTransition> changes = new ArrayList<>();
    ZoneOffsetTransition change = rules.nextTransition(BEGIN);
    while (change != null && change.getInstant().isBefore(END)) {
      changes.add(change);
      change = rules.nextTransition(change.getInstant());
    }
    return changes;
  }

  /** Compares the scheduled times in the spans {@code before} and {@code after} a change. Returns their number. */
  private static int check(ZoneId zone, Instant change, Duration before, Duration after, Duration step, String cron,
      CronDialect dialect, Policy policy) {
    CronOracle oracle = new CronOracle(cron, dialect);
    CronSchedule schedule = CronSchedule.parse(cron, dialect, zone, "").with(policy.gap(), policy.overlap());
    List<Instant> expected = new ArrayList<>();
    Instant end = change.plus(after);
    for (Instant time = change.minus(before); !time.isAfter(end); time = time.plus(step)) {
      if (oracle.fires(time, zone, policy.gap(), policy.overlap())) {
        expected.add(time);
      }
    }
    List<Instant> found = new ArrayList<>();
    Instant next = schedule.next(change.minus(before).minusNanos(1));
    while (next != null && !next.isAfter(end)) {
      found.add(next);
      next = schedule.next(next);
    }
    if (!found.equals(expected)) {
      assertThat(found).as("%s in %s at %s with %s", cron, zone, change, policy).isEqualTo(expected);
    }
    return found.size();
  }

  @Test
  void eachRuleOfClockChangesAgreesWithBruteForce() {
    Set<List<ZoneOffsetTransition>> seen = new HashSet<>();
    int changes = 0;
    int times = 0;
    for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
      ZoneId zone = ZoneId.of(id);
      List<ZoneOffsetTransition> all = changes(zone.getRules());
      if (all.isEmpty() || !seen.add(all)) {
        continue;
      }
      for (ZoneOffsetTransition change : all) {
        // Each change is tested with one policy and a quarter of the expressions. Twelve changes in a row cover all
        // pairs of a policy and a quarter.
        Policy policy = POLICIES.get(changes % POLICIES.size());
        for (int i = changes % SHARES; i < MINUTES.size(); i += SHARES) {
          times += check(zone, change.getInstant(), Duration.ofHours(2), Duration.ofHours(3), Duration.ofMinutes(1),
              MINUTES.get(i), CronDialect.UNIX, policy);
        }
        changes++;
      }
    }
    assertThat(seen).as("sets of rules with changes").hasSizeGreaterThan(40);
    assertThat(changes).isGreaterThan(1_500);
    assertThat(times).isGreaterThan(100_000);
  }

  @Tag("long")
  @Test
  void eachChangeOfEachZoneAgreesWithBruteForce() {
    int changes = 0;
    for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
      ZoneId zone = ZoneId.of(id);
      for (ZoneOffsetTransition change : changes(zone.getRules())) {
        Policy policy = POLICIES.get(changes++ % POLICIES.size());
        for (String cron : MINUTES) {
          check(zone, change.getInstant(), Duration.ofDays(1), Duration.ofDays(1), Duration.ofMinutes(1), cron,
              CronDialect.UNIX, policy);
        }
        for (String cron : SECONDS) {
          check(zone, change.getInstant(), Duration.ofHours(2), Duration.ofHours(2), Duration.ofSeconds(1), cron,
              CronDialect.SPRING, policy);
        }
      }
    }
    assertThat(changes).isGreaterThan(5_000);
  }

  /** Compares 364 days of some zones, which include the times between clock changes. */
  @Test
  void timesBetweenChangesAgreeWithBruteForce() {
    Instant middle = Instant.parse("2026-07-01T00:00:00Z");
    for (Policy policy : POLICIES) {
      for (String zone : List.of("America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tokyo")) {
        check(ZoneId.of(zone), middle, Duration.ofDays(182), Duration.ofDays(182), Duration.ofMinutes(30),
            "0,30 0-4 * * *", CronDialect.UNIX, policy);
      }
    }
  }
}
