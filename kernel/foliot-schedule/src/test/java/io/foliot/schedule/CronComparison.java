package io.foliot.schedule;

import com.cronutils.model.CronType;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Measures how many scheduled times per second one thread computes, with Foliot's schedules and with {@link Peers}.
 * Each call starts from the result of the previous call. A figure is the median of five rounds, after two rounds to
 * warm up. Each round runs all evaluators of an expression in turn, for 0.4 s each.
 *
 * <pre>
 * mvn -q -pl :foliot-schedule -am -Pcompare-cron process-test-classes
 * </pre>
 */
final class CronComparison {
  private static final ZoneId ZONE = ZoneId.of("America/New_York");
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("2030-01-01T00:00:00Z");
  private static final long ROUND_NANOS = 400_000_000;
  private static final int WARM_UPS = 2;
  private static final int ROUNDS = 5;
  private static final int BATCH = 200;
  private static final List<String> CRONS = List.of("* * * * *", "*/15 9-17 * * MON-FRI", "0 2 * * *", "30 4 1,15 * *",
      "0 0 1 1 *");

  private CronComparison() {}

  /**
   * Computes the next {@link #BATCH} scheduled times after an instant, and returns the last of them. Continues from
   * {@link #START} if a time is null or after {@link #END}.
   */
  private static Instant steps(Peers evaluator, Instant from) {
    Instant time = from;
    for (int i = 0; i < BATCH; i++) {
      Instant next = evaluator.next(time);
      time = next == null || next.isAfter(END) ? START : next;
    }
    return time;
  }

  private static double perSecond(LongUnaryOperator batch) {
    long begin = System.nanoTime();
    long nanos = 0;
    long count = 0;
    while (nanos < ROUND_NANOS) {
      count += batch.applyAsLong(count);
      nanos = System.nanoTime() - begin;
    }
    return count * 1e9 / nanos;
  }

  private static double[] medians(List<Peers> evaluators) {
    double[][] figures = new double[evaluators.size()][ROUNDS];
    @Nullable
    Instant[] times = new Instant[evaluators.size()];
    Arrays.fill(times, START);
    for (int round = -WARM_UPS; round < ROUNDS; round++) {
      for (int i = 0; i < figures.length; i++) {
        int each = i;
        double figure = perSecond(count -> {
          times[each] = steps(evaluators.get(each), times[each] == null ? START : times[each]);
          return BATCH;
        });
        if (round >= 0) {
          figures[i][round] = figure;
        }
      }
    }
    return Arrays.stream(figures).mapToDouble(row -> Arrays.stream(row).sorted().toArray()[ROUNDS / 2]).toArray();
  }

  public static void main(String[] args) {
    System.out
        .println("| expression | Foliot | Foliot, parsed each time | Spring | Quartz | cron-utils | Foliot / Spring |");
    System.out.println("|---|---|---|---|---|---|---|");
    for (String cron : CRONS) {
      CronSchedule schedule = CronSchedule.parse(cron, ZONE);
      String sixFields = "0 " + cron;
      String quartz = cron.endsWith("*")
          ? sixFields.substring(0, sixFields.length() - 1) + "?"
          : sixFields.replace("* * MON", "? * MON");
      double[] medians = medians(List.of(schedule::next, after -> CronSchedule.parse(cron, ZONE).next(after),
          Peers.spring(sixFields, ZONE), Peers.quartz(quartz, ZONE), Peers.cronUtils(cron, CronType.UNIX, ZONE)));
      StringBuilder row = new StringBuilder("| `" + cron + "` |");
      for (double median : medians) {
        row.append(String.format(Locale.ROOT, " %,.0f |", median));
      }
      System.out.println(row.append(String.format(Locale.ROOT, " %.1f |", medians[0] / medians[2])));
    }
  }
}
