package io.foliot.bench.store;

import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Submission;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures how waiting tasks, which are due on later days, slow down other work. A drain and single submits are
 * measured with few and with many waiting tasks.
 */
final class PendingRow implements Row {
  private static final int FEW = 10_000;
  private static final int SUBMITS = 1_000;
  private static final Duration LATER = Duration.ofDays(1);
  private static final long FIRST_DUE_MILLIS = TimeUnit.DAYS.toMillis(1);
  private static final long LAST_DUE_MILLIS = TimeUnit.DAYS.toMillis(30);
  private static final QueueConfig WAITING = QueueConfig.of("waiting", Target.pull());
  private static final String DRAINED = "drained, a second";
  private static final String SUBMIT = "submit p50, ms";
  /** Goal: the least rate of the drain with many waiting tasks, as a multiple of the rate with few. */
  private static final double WANTED_DRAIN = 0.5;
  /** Goal: the longest median time of a submit with many waiting tasks, as a multiple of the time with few. */
  private static final double WANTED_SUBMIT = 2;

  @Override
  public String name() {
    return "postgres-pending";
  }

  /** Returns false, because the row takes minutes and gigabytes of disk space. */
  @Override
  public boolean isUsual() {
    return false;
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    PostgresSite site = sites.postgres();
    FigureTable table = new FigureTable(name(), "PostgreSQL: few and many tasks waiting");
    String few = String.format(Locale.ROOT, "%,d waiting", FEW);
    String many = String.format(Locale.ROOT, "%,d waiting", options.pending());
    try (TaskStore store = site.openStore()) {
      fill(store, FEW);
      if (options.isWarm()) {
        drain(site, store, options.work().warmUp());
        submitP50Millis(store);
      }
      measure(few, site, store, options, table, progress);
      int more = Math.max(1, options.pending() - FEW);
      progress.report(name() + ", filling: " + many);
      long begun = System.nanoTime();
      fill(store, more);
      progress.report(name() + ", filled at " + Figures.shown(more * 1e9 / (System.nanoTime() - begun)) + " a second");
      measure(many, site, store, options, table, progress);
    }
    double drain = table.median(many, DRAINED) / table.median(few, DRAINED);
    double submit = table.median(many, SUBMIT) / table.median(few, SUBMIT);
    table.addGoal("drain with many at least " + WANTED_DRAIN + " times that with few, it is " + Figures.shown(drain),
        drain >= WANTED_DRAIN);
    table.addGoal("submit with many at most " + WANTED_SUBMIT + " times that with few, it is " + Figures.shown(submit),
        submit <= WANTED_SUBMIT);
    return table;
  }

  private static void fill(TaskStore store, int tasks) {
    SplittableRandom random = new SplittableRandom();
    long now = System.currentTimeMillis();
    FoliotNode.fill(store, WAITING, tasks,
        number -> Due.at(now + random.nextLong(FIRST_DUE_MILLIS, LAST_DUE_MILLIS)));
  }

  private void measure(String line, Site site, TaskStore store, StoreOptions options, FigureTable table,
      Progress progress) throws Exception {
    for (int round = 1; round <= options.rounds(); round++) {
      progress.report(name() + ", round " + round + ": " + line);
      table.add(line, DRAINED, drain(site, store, options.work()));
      table.add(line, SUBMIT, submitP50Millis(store));
    }
  }

  private static double drain(Site site, TaskStore store, Work work) throws Exception {
    FoliotBacklog backlog = new FoliotBacklog(store, Rows.KEPT);
    try {
      return Drain.drain(backlog, work.tasks(), site).perSecond();
    } finally {
      backlog.stop();
    }
  }

  /** Returns the median time of a submit, in ms, by one caller that waits for each answer. */
  private static double submitP50Millis(TaskStore store) {
    Histogram nanos = new Histogram(Figures.DIGITS);
    try (FoliotNode node = FoliotNode.withoutHandlers(store, WAITING)) {
      for (int number = 0; number < SUBMITS; number++) {
        long begun = System.nanoTime();
        FoliotNode
            .await(node.scheduler().submit(Submission.after(WAITING.name(), LATER, FoliotNode.body(number))));
        nanos.recordValue(System.nanoTime() - begun);
      }
    }
    return nanos.getValueAtPercentile(50) / 1e6;
  }
}
