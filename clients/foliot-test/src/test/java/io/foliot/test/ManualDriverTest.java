package io.foliot.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.Foliot;
import io.foliot.Tasks;
import io.foliot.api.Job;
import io.foliot.core.Meter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Tests that the driver skips the time in which nothing can happen, and that a test cannot see it. Turns are counted,
 * because the time that they take depends on the machine.
 */
final class ManualDriverTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private static final Duration PERIOD = Duration.ofMinutes(20);

  /** A test's instance whose turns are counted, with a log of what has run and when. */
  private static final class Counted implements AutoCloseable {
    final ManualDriver driver = new ManualDriver(START);
    final List<String> ran = new ArrayList<>();
    final Foliot foliot;
    long turns;

    Counted() {
      foliot = Foliot.builder().node("test").driver(driver).meter(new Meter() {
        @Override
        public void loopTurn(long durationMicros) {
          turns++;
        }
      }).on(driver.store());
    }

    void log(String what) {
      ran.add(driver.now() + " " + what);
    }

    long turnsOf(Duration time) {
      long before = turns;
      driver.advance(time);
      return turns - before;
    }

    @Override
    public void close() {
      foliot.close();
    }
  }

  @Test
  void aDayWithoutWorkTakesAHandfulOfTurns() {
    try (Counted counted = new Counted()) {
      counted.foliot.tasks("tasks", String.class).handle((text, attempt) -> counted.log(text)).in(Duration.ofDays(400))
          .submit("far");
      for (int day = 0; day < 365; day++) {
        assertThat(counted.turnsOf(Duration.ofDays(1))).isLessThan(50);
      }
      assertThat(counted.ran).isEmpty();
      counted.driver.advance(Duration.ofDays(35));
      assertThat(counted.ran).containsExactly(START.plus(Duration.ofDays(400)) + " far");
    }
  }

  @Test
  void aDayOfAMinutelyJobTakesTurnsByItsRunsAlone() {
    try (Counted counted = new Counted()) {
      counted.foliot.tasks("tasks", String.class).handle((text, attempt) -> counted.log("run"));
      counted.foliot.jobs().put(Job.named("minutely").queue("tasks").cron("* * * * *"));
      long turns = counted.turnsOf(Duration.ofDays(1));
      assertThat(counted.ran).hasSize(1_440).doesNotHaveDuplicates()
          .allMatch(line -> line.endsWith(":00Z run"));
      assertThat(turns).isLessThan(1_440 * 60);
    }
  }

  @Test
  void skippedTimeIsInvisibleToTheTest() {
    for (int seed = 0; seed < 4; seed++) {
      List<String> skipping = history(seed, PERIOD);
      List<String> everyTurn = history(seed, Duration.ofMillis(900));
      assertThat(skipping).as("seed=%s", seed).isEqualTo(everyTurn);
    }
  }

  /** Runs random work, and returns its log; each advance is at most as long as a step. */
  private static List<String> history(int seed, Duration step) {
    Random random = new Random(seed);
    try (Counted counted = new Counted()) {
      Tasks<String> tasks = counted.foliot.tasks("tasks", String.class).handle((text, attempt) -> {
        counted.log(text + " attempt=" + attempt.number());
        if (text.startsWith("again") && text.length() < 9) {
          attempt.again(Duration.ofMinutes(text.length()));
        } else if (text.startsWith("chain")) {
          counted.foliot.tasks("tasks", String.class).in(Duration.ofSeconds(text.length())).submit(text.substring(1));
        }
      });
      counted.foliot.tasks("limited", String.class).rate(0.5).handle((text, attempt) -> counted.log(text));
      for (int i = 0; i < 20; i++) {
        Duration delay = Duration.ofMillis(random.nextLong(PERIOD.toMillis()));
        tasks.in(delay).key("key-" + i).submit(List.of("again", "chain", "plain").get(random.nextInt(3)) + i);
        if (random.nextInt(4) == 0) {
          tasks.key("key-" + i).touch(delay.plusMillis(random.nextInt(100_000)));
        } else if (random.nextInt(8) == 0) {
          tasks.key("key-" + i).cancel();
        }
      }
      Tasks<String> limited = counted.foliot.tasks("limited", String.class);
      for (int i = 0; i < 5; i++) {
        limited.in(Duration.ofMinutes(5)).submit("limited");
      }
      counted.foliot.jobs().put(Job.named("hourly").queue("tasks").cron("17 * * * *"));
      counted.foliot.jobs().put(Job.named("often").queue("tasks").every(Duration.ofMinutes(2 + seed)));
      Duration left = PERIOD;
      while (left.isPositive()) {
        Duration next = left.compareTo(step) < 0 ? left : step;
        counted.driver.advance(next);
        left = left.minus(next);
      }
      return counted.ran;
    }
  }
}
