package io.foliot.bench.store;

import io.foliot.backends.Await;
import io.foliot.core.Submission;
import io.foliot.core.store.SubmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Measures a steady load on several nodes that share one PostgreSQL server. Tasks are submitted to each node in turn.
 * The figures are the claims for each task, the share of claims that won nothing, and the share of stolen tasks. A task
 * is stolen if a node that does not own the task's slot claims the task at least a second after its due time.
 *
 * @param name the name of the row in the options
 * @param title the title of the table
 * @param lines the configurations of nodes
 */
record NodesLoadRow(String name, String title, List<Line> lines) implements Row {
  static final int PER_SECOND = 500;

  private static final Duration BOUND = Duration.ofSeconds(30);

  /**
   * A configuration of nodes.
   *
   * @param name the name of the line in the table
   * @param delay the time from the submit of a task to its due time
   * @param kind the settings of the nodes
   */
  record Line(String name, Duration delay, Nodes.Kind kind) {}

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    List<Line> all = lines.stream().filter(line -> options.wants(line.name())).toList();
    FigureTable table = new FigureTable(name, title);
    Pace pace = new Pace(PER_SECOND);
    for (int round = 1; round <= options.rounds(); round++) {
      for (Line line : all) {
        progress.report(
            name + ", round " + round + ": " + line.name() + ", for " + options.lateness().toSeconds() + " s");
        ClaimTally tally = round(sites.postgres(), line, pace, pace.count(options.lateness()));
        table.add(line.name(), "claims per task", (double) tally.asked() / tally.finished());
        table.add(line.name(), "claims lost, %", tally.lostPercent());
        table.add(line.name(), "stolen, %", tally.stolenPercent());
      }
    }
    return table;
  }

  private static ClaimTally round(SqlSite site, Line line, Pace pace, int tasks) throws Exception {
    Ledger ledger = new Ledger(tasks);
    try (Nodes nodes = new Nodes(site, line.kind(), ledger::begun)) {
      site.settle();
      List<CompletableFuture<SubmitResult>> answers = new ArrayList<>();
      pace.keep(tasks, number -> answers.add(nodes.scheduler(number)
          .submit(Submission.after(FoliotNode.QUEUE, line.delay(), FoliotNode.body(number)))));
      answers.forEach(FoliotNode::await);
      ledger.await(BOUND);
      Await.until("all tasks that began have ended", BOUND, () -> nodes.tally().finished() >= tasks);
      nodes.ensureFinished(tasks);
      ledger.ensureEachOnce();
      return nodes.tally();
    }
  }
}
