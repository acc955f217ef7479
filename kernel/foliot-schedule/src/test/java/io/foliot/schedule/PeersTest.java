package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.cronutils.model.CronType;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Compares the schedules with Spring, Quartz and cron-utils. The comparisons leave out the known differences. For some
 * of these differences, a test shows an example.
 */
final class PeersTest {
  private static final Instant NOVEMBER = Instant.parse("2026-11-01T00:00:00Z");

  /**
   * Compares up to four successive times of each of 2,000 random expressions, except the expressions that match
   * {@code knownDifference}.
   */
  private static void agree(CronDialect dialect, Function<String, Peers> peer, String knownDifference) {
    Random random = new Random(11);
    int compared = 0;
    for (int i = 0; i < 2_000; i++) {
      String cron = new RandomCron(random, dialect, i % 2 == 0).next();
      Instant after = Instant.parse("2024-01-01T00:00:00Z").plusSeconds(random.nextLong(86_400L * 365 * 3));
      if (cron.matches(knownDifference)) {
        continue;
      }
      Peers other = peer.apply(cron);
      CronSchedule ours;
      try {
        ours = CronSchedule.parse(cron, dialect, ZoneOffset.UTC, "");
      } catch (ScheduleException e) {
        assertThat(e).hasMessageContaining("never fires");
        assertThat(other.next(after)).as(cron).isNull();
        continue;
      }
      for (int times = 0; times < 4; times++) {
        Instant next = ours.next(after);
        assertThat(next).as("%s after %s", cron, after).isEqualTo(other.next(after));
        compared++;
        if (next == null) {
          break;
        }
        after = next;
      }
    }
    assertThat(compared).isGreaterThan(2_000);
  }

  private static void differ(String cron, CronDialect dialect, Peers peer, Instant after, String ours, String theirs) {
    assertThat(CronSchedule.parse(cron, dialect, ZoneOffset.UTC, "").next(after)).as(cron)
        .isEqualTo(Instant.parse(ours));
    assertThat(peer.next(after)).as(cron).isEqualTo(Instant.parse(theirs));
  }

  @Test
  void springAgreesExceptForL0AndStepsFromSundayAnd31W() {
    agree(CronDialect.SPRING, cron -> Peers.spring(cron, ZoneOffset.UTC), ".* L-0 .*|.* (29|30|31)W .*|.* (0|SUN)/\\d");
  }

  @Test
  void quartzAgreesExceptForNearestWeekdaysAndStepsFromAName() {
    agree(CronDialect.QUARTZ, cron -> Peers.quartz(cron, ZoneOffset.UTC), ".*\\dW .*|.*LW .*|.*[A-Z]{3}/\\d.*");
  }

  @Test
  void cronUtilsAgreesExceptForSomeLastDays() {
    agree(CronDialect.QUARTZ, cron -> Peers.cronUtils(cron, CronType.QUARTZ, ZoneOffset.UTC),
        ".* L-0 .*|.* L,.*|.* (29|30|31)W .*|.*[A-Z]{3}/\\d.*");
  }

  @Test
  void cronUtilsAgreesOnMostExpressionsOfFiveFields() {
    agree(CronDialect.UNIX, cron -> Peers.cronUtils(cron, CronType.UNIX, ZoneOffset.UTC),
        ".*[LW#].*|.* \\*/\\d+ \\S+ [^*]\\S*|.* \\d+ \\S+ \\*/2|.*FRI-SUN|.*[0-6]-7.*|.* 7/\\d");
  }

  @Test
  void quartzKeepsTheHourWhenItAdvancesToANearestWeekday() {
    differ("0 0 */3 LW * ?", CronDialect.QUARTZ, Peers.quartz("0 0 */3 LW * ?", ZoneOffset.UTC),
        Instant.parse("2026-11-01T15:00:00Z"), "2026-11-30T00:00:00Z", "2026-11-30T18:00:00Z");
  }

  @Test
  void cronUtilsLeavesOutALastDayInAList() {
    differ("0 0 3 L,10 * ?", CronDialect.QUARTZ, Peers.cronUtils("0 0 3 L,10 * ?", CronType.QUARTZ, ZoneOffset.UTC),
        Instant.parse("2026-11-10T12:00:00Z"), "2026-11-30T03:00:00Z", "2026-12-10T03:00:00Z");
  }

  @Test
  void springReadsAStepFromSundayAsSundayAlone() {
    differ("0 0 0 * * SUN/2", CronDialect.SPRING, Peers.spring("0 0 0 * * SUN/2", ZoneOffset.UTC), NOVEMBER,
        "2026-11-03T00:00:00Z", "2026-11-08T00:00:00Z");
  }

  @Test
  void springLeavesOut31WAfterAShortMonth() {
    differ("0 0 0 31W * *", CronDialect.SPRING, Peers.spring("0 0 0 31W * *", ZoneOffset.UTC),
        Instant.parse("2024-02-12T00:00:00Z"), "2024-03-29T00:00:00Z", "2024-05-31T00:00:00Z");
  }

  @Test
  void quartzIgnoresAStepAfterANameOfAWeekday() {
    differ("0 0 0 ? * TUE/4", CronDialect.QUARTZ, Peers.quartz("0 0 0 ? * TUE/4", ZoneOffset.UTC),
        Instant.parse("2026-11-04T00:00:00Z"), "2026-11-07T00:00:00Z", "2026-11-10T00:00:00Z");
  }

  @Test
  void quartzAcceptsLongNames() {
    String cron = "0 11 7 ? JANUARY,MARCH MONDAY,TUESDAY";
    Instant next = Instant.parse("2027-01-04T07:11:00Z");
    differ(cron, CronDialect.QUARTZ, Peers.quartz(cron, ZoneOffset.UTC), NOVEMBER, next.toString(), next.toString());
  }

  @Test
  void cronUtilsTreatsAStepOfDaysAsARestriction() {
    differ("0 0 */4 * FRI", CronDialect.UNIX, Peers.cronUtils("0 0 */4 * FRI", CronType.UNIX, ZoneOffset.UTC), NOVEMBER,
        "2026-11-13T00:00:00Z", "2026-11-05T00:00:00Z");
  }

  /**
   * Foliot refuses an expression if a peer gives it an unlikely meaning, or if two peers give it different meanings.
   */
  @Test
  void peersAcceptExpressionsThatFoliotRefuses() {
    assertThat(Peers.spring("0 */90 * * * *", ZoneOffset.UTC).next(NOVEMBER)).as("each hour, not each 90 minutes")
        .isEqualTo(Instant.parse("2026-11-01T01:00:00Z"));
    assertThatThrownBy(() -> CronSchedule.parse("0 */90 * * * *", ZoneOffset.UTC))
        .isInstanceOf(ScheduleException.class).hasMessageContaining("a step from 1 to 60");

    assertThat(Peers.spring("0 0 10 ? * 2", ZoneOffset.UTC).next(NOVEMBER)).as("Tuesday")
        .isEqualTo(Instant.parse("2026-11-03T10:00:00Z"));
    assertThat(Peers.quartz("0 0 10 ? * 2", ZoneOffset.UTC).next(NOVEMBER)).as("Monday")
        .isEqualTo(Instant.parse("2026-11-02T10:00:00Z"));
    assertThatThrownBy(() -> CronSchedule.parse("0 0 10 ? * 2", ZoneOffset.UTC))
        .isInstanceOf(ScheduleException.class);
  }
}
