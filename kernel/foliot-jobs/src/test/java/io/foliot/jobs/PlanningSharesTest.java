package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests the division of planning among queues, with a process that makes a limited number of passes a second. */
final class PlanningSharesTest {
  private static final long PASSES_PER_SECOND = 1_000;
  private static final long SECOND = 1_000;

  private final PlanningShares shares = new PlanningShares();

  private record Pass(String queue, int job, long due) {}

  /** Makes passes in the order of their due times. Each job is due again after its period, as its share permits. */
  private final class Planner {
    final PriorityQueue<Pass> passes = new PriorityQueue<>(
        Comparator.comparingLong(Pass::due).thenComparingInt(Pass::job));
    long micros;
    long worstLate;
    long victimPasses;
    long others;

    void run(long untilMillis) {
      worstLate = 0;
      victimPasses = 0;
      others = 0;
      while (micros < untilMillis * 1_000) {
        Pass pass = passes.remove();
        micros = Math.max(micros + 1_000_000 / PASSES_PER_SECOND, pass.due() * 1_000);
        long now = micros / 1_000;
        boolean isVictim = pass.queue().equals("victim");
        long next = (now / (isVictim ? SECOND : 100) + 1) * (isVictim ? SECOND : 100);
        passes.add(new Pass(pass.queue(), pass.job(), shares.nextPass(pass.queue(), pass.due(), now, next)));
        if (isVictim) {
          worstLate = Math.max(worstLate, now - pass.due());
          victimPasses++;
        } else {
          others++;
        }
      }
    }
  }

  @Test
  void fewPassesThatAreFoundLateAreNotDelayed() {
    long due = 0;
    for (int run = 0; run < 100; run++) {
      long now = due + 4 * SECOND;
      for (int pass = 0; pass < (run % 2 == 0 ? 2 : 10); pass++) {
        assertThat(shares.nextPass("orders", due, now, now + 300)).as("run %s, pass %s", run, pass)
            .isEqualTo(now + 300);
        now += 300;
        due = now;
      }
      due = now + 5 * SECOND;
    }
  }

  @Test
  void aQueueWithFarTooManyPassesDelaysItsOwnOnly() {
    Planner process = new Planner();
    process.passes.add(new Pass("victim", -1, SECOND));
    for (int job = 0; job < 20_000; job++) {
      process.passes.add(new Pass("attacker", job, 100));
    }
    process.run(60 * SECOND);
    process.run(300 * SECOND);
    assertThat(process.victimPasses).as("one for each second, of 240").isGreaterThan(225);
    assertThat(process.worstLate).isLessThan(3 * SECOND);
    assertThat(process.others).as("the other queue goes on, with its share at least")
        .isGreaterThan(240 * PASSES_PER_SECOND / 2);
  }

  @Test
  void severalQueuesWithFarTooManyPassesDelayTheirOwnOnly() {
    Planner process = new Planner();
    process.passes.add(new Pass("victim", -1, SECOND));
    for (int job = 0; job < 20_000; job++) {
      process.passes.add(new Pass("attacker " + job % 3, job, 100));
    }
    process.run(60 * SECOND);
    process.run(300 * SECOND);
    assertThat(process.victimPasses).as("one for each second, of 240").isGreaterThan(225);
    assertThat(process.worstLate).isLessThan(3 * SECOND);
    assertThat(process.others).as("the other queues go on, with half of the passes at least")
        .isGreaterThan(240 * PASSES_PER_SECOND / 2);
  }

  /** Passes are recorded when their shards have been read, and so not in the order of their claims. */
  @Test
  void aPassThatIsRecordedLaterThanOthersLeavesTheShares() {
    for (long now = 0; now < 11 * SECOND; now += 10) {
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
    }
    for (int pass = 0; pass < 2_000; pass++) {
      shares.nextPass("busy", 9 * SECOND, 11 * SECOND, 11 * SECOND + 1);
    }
    assertThat(shares.nextPass("busy", 9 * SECOND, 12 * SECOND, 12 * SECOND + 1)).isGreaterThan(20 * SECOND);
    assertThat(shares.nextPass("busy", 9 * SECOND, 12 * SECOND - 1, 12 * SECOND)).isGreaterThan(20 * SECOND);
  }

  /** After each burst the process has nothing to do, although other queues have a pass now and then. */
  @Test
  void aBurstInEachMinuteIsNotDelayed() {
    Map<Integer, Long> late = new TreeMap<>();
    for (int others : new int[]{0, 1, 20}) {
      PlanningShares process = new PlanningShares();
      for (int minute = 1; minute <= 10; minute++) {
        long due = 60 * SECOND * minute;
        for (int job = 0; job < 50_000; job++) {
          long now = due + job / 10;
          long next = process.nextPass("burst", due, now, due + 60 * SECOND);
          if (next != due + 60 * SECOND) {
            late.merge(others, 1L, Long::sum);
          }
        }
        for (long now = due + 5 * SECOND; now < due + 60 * SECOND; now += SECOND) {
          for (int other = 0; other < others; other++) {
            process.nextPass("other " + other, now, now, now + SECOND);
          }
        }
      }
    }
    assertThat(late).as("delayed passes, by the number of other queues").isEmpty();
  }

  @Test
  void aSuspendedProcessIsNoMeasure() {
    long now = 0;
    for (; now < 10 * SECOND; now += 10) {
      shares.nextPass("orders", now, now, now + SECOND);
    }
    // The machine becomes slow, is suspended, and then makes the passes of the meantime.
    shares.nextPass("orders", now - 2 * SECOND, now, now + SECOND);
    for (int pass = 0; pass < 6_000; pass++) {
      long at = now + 60 * SECOND + pass / 10;
      assertThat(shares.nextPass("orders", now + pass * 10L, at, at + SECOND)).as("pass %s", pass)
          .isEqualTo(at + SECOND);
    }
  }

  @Test
  void nothingIsDelayedWhilePassesAreOnTime() {
    for (long now = 0; now < 60 * SECOND; now++) {
      assertThat(shares.nextPass("busy", now - 900, now, now + 1)).isEqualTo(now + 1);
    }
  }

  @Test
  void aQueueWithinItsShareIsNotDelayed() {
    for (long now = 0; now < 60 * SECOND; now += 2) {
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
      if (now % 100 == 0) {
        assertThat(shares.nextPass("calm", now, now, now + 1)).isEqualTo(now + 1);
      }
    }
    assertThat(shares.nextPass("busy", 0, 60 * SECOND, 60 * SECOND + 1)).isGreaterThan(61 * SECOND);
  }

  @Test
  void newJobsOfAQueueBeyondItsShareArePlannedLater() {
    for (long now = 0; now <= 10 * SECOND; now += 10) {
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
    }
    long last = 0;
    for (int job = 0; job < 1_000; job++) {
      last = shares.firstPass("busy", 10 * SECOND, 10 * SECOND + 100);
    }
    assertThat(last).as("a thousand passes at a hundred a second").isBetween(18 * SECOND, 22 * SECOND);
    assertThat(shares.firstPass("calm", 10 * SECOND, 10 * SECOND + 100)).isEqualTo(10 * SECOND + 100);
  }

  @Test
  void aClockThatIsSetBackLeavesNoDelay() {
    for (long now = 3_600 * SECOND; now < 3_610 * SECOND; now += 10) {
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
    }
    shares.nextPass("busy", 0, 0, 1);
    assertThat(shares.nextPass("busy", 10, 10, 11)).isEqualTo(11);
  }

  @Test
  void theDelayIsBounded() {
    for (long now = 0; now <= 10 * SECOND; now += 10) {
      shares.nextPass("busy", now - 2 * SECOND, now, now + 1);
    }
    long latest = 0;
    for (int i = 0; i < 1_000_000; i++) {
      latest = shares.nextPass("busy", 0, 10 * SECOND, 10 * SECOND + 1);
    }
    assertThat(latest).isEqualTo(10 * SECOND + PlanningShares.MAX_DELAY_MILLIS);
  }
}
