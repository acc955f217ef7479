package io.foliot.bench.store;

import java.util.List;
import java.util.Optional;

/**
 * Measures how fast nodes drain a backlog over one PostgreSQL. The lines take turns, after a warm-up round of each.
 *
 * @param name the name of the row in the options
 * @param title the title of the table
 * @param lines the configurations of nodes; the goal compares a line with the first line
 * @param wanted the goal of the row, if it has one
 */
record NodesRow(String name, String title, List<Line> lines, Optional<Wanted> wanted) implements Row {
  private static final String RATE = "a second";

  /**
   * Nodes that drain a backlog.
   *
   * @param name the name of the line in the table
   * @param share the factor for the number of tasks of a round
   */
  record Line(String name, double share, Nodes.Kind kind) {}

  /**
   * The goal of a line.
   *
   * @param line the name of the line
   * @param times the lowest permitted ratio of the rate of this line to the rate of the first line
   */
  record Wanted(String line, double times) {}

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    SqlSite site = sites.postgres();
    List<Line> all = lines.stream().filter(line -> options.wants(line.name())).toList();
    FigureTable table = new FigureTable(name, title);
    if (options.isWarm()) {
      for (Line line : all) {
        progress.report(name + ", warm-up: " + line.name());
        round(site, line, options.work().warmUp(), new FigureTable(name, title));
      }
    }
    for (int round = 1; round <= options.rounds(); round++) {
      for (Line line : all) {
        double rate = round(site, line, options.work(), table);
        progress.report(name + ", round " + round + ": " + line.name() + ", " + Figures.shown(rate) + " a second");
      }
    }
    if (all.equals(lines)) {
      wanted.ifPresent(goal -> addGoal(table, goal));
    }
    return table;
  }

  private static double round(SqlSite site, Line line, Work work, FigureTable table) throws Exception {
    try (NodesBacklog backlog = new NodesBacklog(site, line.kind())) {
      double rate = Drain.drain(backlog, work.times(line.share()).tasks(), site).perSecond();
      table.add(line.name(), RATE, rate);
      table.add(line.name(), "claims lost, %", backlog.tally().lostPercent());
      table.add(line.name(), "stolen, %", backlog.tally().stolenPercent());
      table.add(line.name(), "parked, %", backlog.tally().parkedPercent());
      table.add(line.name(), "processors, nodes", backlog.programProcessors());
      table.add(line.name(), "processors, all", backlog.allProcessors());
      return rate;
    }
  }

  private void addGoal(FigureTable table, Wanted goal) {
    String first = lines.getFirst().name();
    double times = table.median(goal.line(), RATE) / table.median(first, RATE);
    table.addGoal(goal.line() + " at least " + Figures.shown(goal.times()) + " times " + first + ", it is "
        + Figures.shown(times), times >= goal.times());
  }
}
