package io.foliot.bench.store;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.JobStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures runs of many shards that do nothing, over three nodes and ten workers. The shards are either divided among
 * the workers in advance, or each worker takes shards as it has room. The rate is measured from the beginning of the
 * first shard to the beginning of the last.
 */
final class FleetRunRow implements Row {
  private static final int WORKERS = 10;
  private static final int CONCURRENCY = 200;
  private static final int SHARDS = 10_000;
  /** Ratio of the number of tasks of a drain to the number of shards of a run. */
  private static final int TASKS_A_SHARD = 20;
  private static final Duration BOUND = Duration.ofMinutes(2);
  /** Number of warm-up rounds. After fewer rounds, the JIT compiler still takes a fifth of the processors. */
  private static final int WARM_UP = 8;
  private static final double WANTED_RATE = 10_000;
  private static final double WANTED_SPREAD = 10;
  private static final String RATE = "shards a second";
  private static final String SPREAD = "shares differ by, %";

  private int runs;

  @Override
  public String name() {
    return "fleet-run";
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    SqlSite site = sites.postgres();
    int shards = Math.clamp(options.work().tasks() / TASKS_A_SHARD, WORKERS, SHARDS);
    FigureTable table = new FigureTable(name(),
        "PostgreSQL: runs of " + shards + " shards, three nodes, ten workers");
    try (WorkerCluster cluster = new WorkerCluster(site)) {
      ShardLedger[] ledger = {new ShardLedger()};
      cluster.start(WORKERS, CONCURRENCY, (PollingWorker worker, TaskRecord shard) -> {
        ledger[0].begun(worker, shard, true);
        return true;
      });
      site.settle();
      for (int round = options.isWarm() ? 1 - WARM_UP : 1; round <= options.rounds(); round++) {
        for (Allocation allocation : List.of(Allocation.AVERAGE, Allocation.FREE)) {
          progress.report(name() + ", round " + round + ", " + allocation);
          ledger[0] = new ShardLedger();
          round(cluster, allocation, shards, ledger[0], round > 0 ? table : new FigureTable(name(), ""));
        }
      }
    }
    String average = line(Allocation.AVERAGE);
    table.addGoal("10,000 shards a second", table.median(average, RATE) >= WANTED_RATE);
    table.addGoal("shares of the workers differ by 10 % at most", table.median(average, SPREAD) <= WANTED_SPREAD);
    return table;
  }

  private static String line(Allocation allocation) {
    return allocation == Allocation.FREE ? "each takes the next (free)" : "divided evenly (average)";
  }

  private void round(WorkerCluster cluster, Allocation allocation, int shards, ShardLedger ledger, FigureTable table)
      throws InterruptedException {
    Job job = Job.named("sharded-" + runs++).queue(WorkerCluster.QUEUE).cron("0 2 1 1 *").shards(shards)
        .allocation(allocation).build();
    FoliotNode.await(cluster.jobs(0).put(job));
    ProcessorUse use = new ProcessorUse();
    long triggeredNanos = System.nanoTime();
    FoliotNode.await(cluster.jobs(0).trigger(job.name(), null));
    ledger.await(shards, BOUND);
    awaitEnd(cluster, job.name());
    long endedNanos = System.nanoTime();
    cluster.ensureWorked();
    ledger.ensureEachOnceInItsPlace();
    Map<String, Integer> shares = new HashMap<>();
    ledger.begun().values().forEach(begun -> shares.merge(begun.worker(), 1, Integer::sum));
    IntSummaryStatistics share = shares.values().stream().mapToInt(Integer::intValue).summaryStatistics();
    LongSummaryStatistics at = ledger.begun().values().stream().mapToLong(ShardLedger.Begun::atNanos)
        .summaryStatistics();
    String line = line(allocation);
    table.add(line, RATE, (shards - 1) * 1e9 / (at.getMax() - at.getMin()));
    table.add(line, "first after, ms", (at.getMin() - triggeredNanos) / 1e6);
    table.add(line, "end seen after, ms", (endedNanos - at.getMax()) / 1e6);
    use.add(table, line, shards);
    int least = shares.size() < WORKERS ? 0 : share.getMin();
    table.add(line, SPREAD, 100.0 * (share.getMax() - least) / share.getMax());
  }

  private static void awaitEnd(WorkerCluster cluster, String name) throws InterruptedException {
    long bound = System.nanoTime() + BOUND.toNanos();
    JobStatus status;
    do {
      TimeUnit.MILLISECONDS.sleep(20);
      status = FoliotNode.await(cluster.jobs(0).find(name)).orElseThrow();
      if (System.nanoTime() - bound > 0) {
        throw new IllegalStateException("a run must end in time: job=" + status);
      }
    } while (status.totals().succeeded() == 0);
  }
}
