package io.foliot.bench.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Measures Quartz with its JDBC store, clustered and tuned, with increasing numbers of triggers. Each trigger fires
 * once a minute, and the triggers are evenly spread over the minute. The figures are the lateness of each firing by
 * this machine's clock, and the number of firings that have not begun 10 s after the measured minute. Compare them with
 * the row {@code postgres-jobs-minute}.
 */
final class QuartzMinuteRow implements Row {
  private static final List<Integer> TRIGGERS = List.of(5_000, 10_000, 20_000);
  private static final long PERIOD_MILLIS = Duration.ofMinutes(1).toMillis();
  /** Constant part of the time from the first insert to the first firing. All inserts must end before that firing. */
  private static final long LEAD_MILLIS = 5_000;
  /** Longest wait, after the measured minute, for firings that have not begun. */
  private static final long GRACE_MILLIS = 10_000;

  @Override
  public String name() {
    return "postgres-quartz-minute";
  }

  /** Returns false, because the row takes minutes. */
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
    // All triggers are inserted before the first one fires. The first minute warms up, and the second is measured.
    long begun = System.nanoTime();
    long firstMillis = System.currentTimeMillis() + LEAD_MILLIS + Duration.ofMillis(2L * triggers).toMillis();
    quartz.fillMinute(triggers, firstMillis);
    double perSecond = triggers * 1e9 / (System.nanoTime() - begun);
    site.settle();
    long from = firstMillis + PERIOD_MILLIS;
    long to = from + PERIOD_MILLIS;
    Histogram late = new ConcurrentHistogram(Figures.DIGITS);
    LongAdder firings = new LongAdder();
    ConcurrentHashMap.KeySetView<Integer, Boolean> seen = ConcurrentHashMap.newKeySet();
    quartz.start((number, scheduled) -> {
      if (scheduled >= from && scheduled < to) {
        firings.increment();
        if (!seen.add(number)) {
          throw new IllegalStateException("a trigger must fire once a minute: trigger=" + number);
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
