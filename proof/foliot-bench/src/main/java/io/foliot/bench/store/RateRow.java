package io.foliot.bench.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures contenders that take turns, A B C A B C, after a shorter warm-up round of each.
 *
 * @param name the name of the row in the options
 * @param title the title of the table
 * @param entries the contenders; the first is compared with each of the others
 */
record RateRow(String name, String title, Opening entries) implements Row {
  /** Creates the contenders, and starts the servers that they need. */
  @FunctionalInterface
  interface Opening {
    List<Entry> open(Sites sites, StoreOptions options);
  }

  /**
   * A contender.
   *
   * @param wanted the goal for the first contender's rate, as a multiple of this contender's rate; 0 for no goal
   * @param isVariant whether another entry is the same contender with other settings; a quick run leaves variants out
   */
  record Entry(Contender contender, double wanted, boolean isVariant) {
    Entry(Contender contender, double wanted) {
      this(contender, wanted, false);
    }

    Entry asVariant() {
      return new Entry(contender, wanted, true);
    }
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    List<Entry> all = entries.open(sites, options).stream().filter(options::wants).toList();
    RateTable table = new RateTable();
    for (Entry entry : all) {
      table.rates.put(entry, new ArrayList<>());
      if (options.isWarm()) {
        progress.report(name + ", warm-up: " + entry.contender().name());
        entry.contender().round(options.work().warmUp());
      }
    }
    for (int round = 1; round <= options.rounds(); round++) {
      for (Entry entry : all) {
        double rate = entry.contender().round(options.work()).perSecond();
        table.add(entry, rate);
        progress.report(
            name + ", round " + round + ": " + entry.contender().name() + ", " + Figures.shown(rate) + " a second");
      }
    }
    return table;
  }

  private final class RateTable implements Table {
    private final Map<Entry, List<Double>> rates = new LinkedHashMap<>();

    void add(Entry entry, double rate) {
      rates.computeIfAbsent(entry, absent -> new ArrayList<>()).add(rate);
    }

    @Override
    public String markdown() {
      StringBuilder text = new StringBuilder("\n### " + title + " (" + name + ")\n\n"
          + "| | a second | least to most | the first is | wanted |\n|---|---:|---:|---:|---|\n");
      double first = rates.isEmpty() ? 0 : Figures.median(rates.values().iterator().next());
      boolean isFirst = true;
      for (Map.Entry<Entry, List<Double>> one : rates.entrySet()) {
        List<Double> values = one.getValue();
        double median = Figures.median(values);
        double wanted = one.getKey().wanted();
        text.append("| ").append(one.getKey().contender().name()).append(" | ").append(Figures.shown(median))
            .append(" | ").append(Figures.spread(values)).append(" | ")
            .append(isFirst ? "" : Figures.shown(first / median) + " times").append(" | ");
        if (wanted > 0) {
          text.append(Figures.shown(wanted)).append(first / median >= wanted ? ", reached" : ", **not reached**");
        }
        text.append(" |\n");
        isFirst = false;
      }
      return text.toString();
    }

    @Override
    public List<String> json() {
      return rates.entrySet().stream()
          .map(one -> Figures.json(name, one.getKey().contender().name(), "per second", one.getValue())).toList();
    }
  }
}
