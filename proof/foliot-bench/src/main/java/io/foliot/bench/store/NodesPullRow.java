package io.foliot.bench.store;

import static java.util.Objects.requireNonNull;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Measures how late a worker gets the tasks of all slots when it polls only one node. Three nodes share one PostgreSQL,
 * and the worker polls the first of them. Tasks are submitted at a steady rate, to each node in turn.
 */
final class NodesPullRow implements Row {
  private static final String PULLED = "pulled";
  private static final int NODES = 3;
  private static final int PER_SECOND = 200;
  private static final int AT_ONCE = 100;
  private static final long WAIT_MILLIS = 1_000;
  private static final long LEASE_MILLIS = 30_000;
  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final double WANTED_MILLIS = 300;
  private static final String LINE = "Foliot";

  @Override
  public String name() {
    return "cluster-pull";
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    FigureTable table = new FigureTable(name(), "PostgreSQL: three nodes, and a worker that polls one of them");
    for (int round = 1; round <= options.rounds(); round++) {
      progress.report(name() + ", round " + round + ", for " + options.lateness().toSeconds() + " s");
      Histogram late = round(sites.postgres(), options.lateness());
      table.add(LINE, "late p50, ms", (double) late.getValueAtPercentile(50));
      table.add(LINE, "p99", (double) late.getValueAtPercentile(99));
      table.add(LINE, "most", (double) late.getMaxValue());
    }
    table.addGoal("p99 at most " + Figures.shown(WANTED_MILLIS) + " ms", table.median(LINE, "p99") <= WANTED_MILLIS);
    return table;
  }

  private static Histogram round(SqlSite site, Duration time) throws Exception {
    Pace pace = new Pace(PER_SECOND);
    int tasks = pace.count(time);
    Ledger ledger = new Ledger(tasks);
    Histogram late = new ConcurrentHistogram(Figures.DIGITS);
    AtomicBoolean over = new AtomicBoolean();
    try (Nodes nodes = new Nodes(site, Nodes.Kind.of(NODES, Nodes.Share.EVEN), number -> {})) {
      FoliotNode.await(nodes.scheduler(0).putQueue(QueueConfig.of(PULLED, Target.pull())));
      site.settle();
      Thread worker = Thread.ofPlatform().name("bench-worker")
          .start(() -> work(nodes.scheduler(0), ledger, late, over));
      List<CompletableFuture<SubmitResult>> answers = new ArrayList<>();
      pace.keep(tasks, number -> answers.add(nodes.scheduler(number)
          .submit(Submission.after(PULLED, DELAY, FoliotNode.body(number)))));
      answers.forEach(FoliotNode::await);
      ledger.await(BOUND);
      over.set(true);
      worker.join();
      ledger.ensureEachOnce();
    }
    return late;
  }

  /** Pulls tasks until {@code over} is set. Ends all tasks of a pull before the next pull. */
  private static void work(Scheduler node, Ledger ledger, Histogram late, AtomicBoolean over) {
    Scheduler.Pull pull = new Scheduler.Pull(PULLED, AT_ONCE, WAIT_MILLIS, LEASE_MILLIS, "worker");
    while (!over.get()) {
      List<TaskRecord> tasks = FoliotNode.await(node.pull(pull));
      long now = System.currentTimeMillis();
      List<CompletableFuture<SettleResult>> acks = new ArrayList<>();
      for (TaskRecord task : tasks) {
        late.recordValue(Math.max(0, now - task.dueAt()));
        ledger.begun(FoliotNode.number(task.body()));
        acks.add(node.ack(task.id(), requireNonNull(task.token()), null));
      }
      for (CompletableFuture<SettleResult> ack : acks) {
        if (FoliotNode.await(ack).kind() != SettleResult.Kind.SETTLED) {
          throw new IllegalStateException("each task must end by its first ack: answer=" + ack.join());
        }
      }
    }
  }
}
