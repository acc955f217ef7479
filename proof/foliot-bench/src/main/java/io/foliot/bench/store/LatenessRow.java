package io.foliot.bench.store;

import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.function.Function;

/**
 * Measures lateness at a steady rate, in one round.
 *
 * @param name the name of the row in the options
 * @param title the title of the table, which names the store
 * @param site the store's server
 */
record LatenessRow(String name, String title, Function<Sites, Site> site) implements Row {
  private static final int PER_SECOND = 500;
  private static final double WANTED_P99_MILLIS = 20;
  /** Ratio of the measured time to the warm-up before it. */
  private static final int UNMEASURED_PART = 5;

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    Duration unmeasured = options.lateness().dividedBy(UNMEASURED_PART);
    progress.report(name + ", for " + options.lateness().plus(unmeasured).toSeconds() + " s");
    FigureTable table = new FigureTable(name, title + ": lateness at " + PER_SECOND + " tasks a second, ms");
    try (TaskStore store = site.apply(sites).openStore()) {
      site.apply(sites).settle();
      Lateness.Distribution late = new Lateness(PER_SECOND, options.lateness(), unmeasured).measure(store);
      table.add("Foliot", "p50", late.p50());
      table.add("Foliot", "p99", late.p99());
      table.add("Foliot", "most", late.worst());
      table.add("Foliot", "least", late.earliest());
      table.addGoal("p99 at most " + Figures.shown(WANTED_P99_MILLIS) + " ms, never early",
          late.p99() <= WANTED_P99_MILLIS);
    }
    return table;
  }
}
