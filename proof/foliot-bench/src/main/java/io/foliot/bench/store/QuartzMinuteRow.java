package io.foliot.bench.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Quartz with its JDBC store, clustered and tuned, and more and more triggers that each fire once a minute, spread over
 * it: how late each firing begins by this machine's clock, and how many have not begun when the measured minute is
 * over. To be read beside {@code postgres-jobs-minute}.
 */
final class QuartzMinuteRow implements Row {
  private static final List<Integer> TRIGGERS = List.of(5_000, 10_000, 20_000);
  private static final long PERIOD_MILLIS = Duration.ofMinutes(1).toMillis();
  /** Time from the start of the schedule to its first firing. Triggers inserted until then form no backlog. */
  private static final long LEAD_MILLIS = 5_000;
  /** A firing that begins within this time after the measured minute is late, and counted as begun. */
  private static final long GRACE_MILLIS = 10_000;

  @Override
  public String name() {
    return "postgres-quartz-minute";
  }

  /** It takes minutes. */
  @Override
  public boolean isUsual() {
    return false;
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    FigureTable table = new FigureTable(name(), "PostgreSQL: triggers of Quartz, each once a minute");
    for (int triggers : TRIGGERS) {
      progress.report(name() + ", " + triggers + " triggers");
      try (QuartzBacklog quartz = new QuartzBacklog(sites.postgres(), QuartzBacklog.Size.TUNED, true)) {
        measure(quartz, sites.postgres(), triggers, table);
      }
    }
    return table;
  }

  private static void measure(QuartzBacklog quartz, Site site, int triggers, FigureTable table) throws Exception {
    // The triggers are inserted before the first is due; from then on each minute has all. The first warms up.
    long begun = System.nanoTime();
    long guess = System.currentTimeMillis() + LEAD_MILLIS + Duration.ofMillis(2L * triggers).toMillis();
    quartz.fillMinute(triggers, guess);
    double perSecond = triggers * 1e9 / (System.nanoTime() - begun);
    site.settle();
    long from = guess + PERIOD_MILLIS;
    long to = from + PERIOD_MILLIS;
    Histogram late = new ConcurrentHistogram(Figures.DIGITS);
    LongAdder firings = new LongAdder();
    ConcurrentHashMap.KeySetView<Integer, Boolean> seen = ConcurrentHashMap.newKeySet();
    quartz.start((number, scheduled) -> {
      if (scheduled >= from && scheduled < to) {
        firings.increment();
        if (!seen.add(number)) {
          throw new IllegalStateException("a trigger fires once a minute: trigger=" + number);
        }
        late.recordValue(Math.max(0, System.currentTimeMillis() - scheduled));
      }
    });
    while (System.currentTimeMillis() < to + GRACE_MILLIS && firings.sum() < triggers) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    String line = "Quartz, " + triggers + " triggers";
    table.add(line, "scheduled, a second", perSecond);
    table.add(line, "late p50, ms", (double) late.getValueAtPercentile(50));
    table.add(line, "p99", (double) late.getValueAtPercentile(99));
    table.add(line, "most", (double) late.getMaxValue());
    table.add(line, "not begun", (double) (triggers - firings.sum()));
  }
}
