package io.foliot.bench.store;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures the lateness of shards that are addressed to workers. There are three nodes with two workers each, in two
 * zones. Each job has a scheduled time every three seconds, and planning passes and shards are spread over the slots of
 * all nodes. Lateness is the time from the scheduled time to the call of the handler.
 */
final class FleetBeginRow implements Row {
  private static final int WORKERS = 6;
  private static final int JOBS_OF_A_KIND = 30;
  private static final int CONCURRENCY = 100;
  private static final long PERIOD_MILLIS = 3_000;
  private static final long WARM_MILLIS = 5_000;
  private static final double WANTED_MILLIS = 300;

  /**
   * A kind of jobs.
   *
   * @param shards how many shards a run has: in total, for each zone, or for each worker, depending on the scope
   * @param shardsOfRun how many shards a run has in total
   */
  private record Kind(String name, int shards, Scope scope, int shardsOfRun) {}

  private static final List<Kind> KINDS = List.of(new Kind("one", WORKERS, Scope.ONE, WORKERS),
      new Kind("per-zone", 3, Scope.PER_ZONE, WORKERS), new Kind("all", 1, Scope.ALL, WORKERS));

  @Override
  public String name() {
    return "fleet-begin";
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    FigureTable table = new FigureTable(name(), "PostgreSQL: addressed shards in a cluster of three, six workers");
    for (int round = 1; round <= options.rounds(); round++) {
      progress.report(name() + ", round " + round + ", for " + options.lateness().toSeconds() + " s");
      round(sites.postgres(), options.lateness(), table);
    }
    for (Kind kind : KINDS) {
      table.addGoal(kind.name() + ": p99 at most " + Figures.shown(WANTED_MILLIS) + " ms",
          table.median(kind.name(), "p99") <= WANTED_MILLIS);
    }
    return table;
  }

  private static void round(SqlSite site, Duration time, FigureTable table) throws Exception {
    ShardLedger ledger = new ShardLedger();
    try (WorkerCluster cluster = new WorkerCluster(site)) {
      cluster.start(WORKERS, CONCURRENCY, (PollingWorker worker, TaskRecord shard) -> {
        ledger.begun(worker, shard, true);
        return true;
      });
      site.settle();
      put(cluster);
      long from = Math.ceilDiv(System.currentTimeMillis(), PERIOD_MILLIS) * PERIOD_MILLIS + WARM_MILLIS;
      // A whole number of periods, also in a short run.
      long to = from + Math.ceilDiv(time.toMillis(), PERIOD_MILLIS) * PERIOD_MILLIS;
      TimeUnit.MILLISECONDS.sleep(to + WARM_MILLIS - System.currentTimeMillis());
      cluster.ensureWorked();
      ledger.ensureEachOnceInItsPlace();
      for (Kind kind : KINDS) {
        add(kind, ledger, from, to, table);
      }
    }
  }

  private static void put(WorkerCluster cluster) {
    for (Kind kind : KINDS) {
      for (int i = 0; i < JOBS_OF_A_KIND; i++) {
        Job.Builder job = Job.named(kind.name() + "-" + i).queue(WorkerCluster.QUEUE)
            .every(Duration.ofMillis(PERIOD_MILLIS)).scope(kind.scope());
        Job built = kind.scope() == Scope.ALL
            ? job.build()
            : job.shards(kind.shards()).allocation(Allocation.AVERAGE).build();
        Jobs.Put unused = FoliotNode.await(cluster.jobs(i).put(built));
      }
    }
  }

  /** Adds the figures of a kind for scheduled times in [from, to), in ms. Fails if one of the shards has not begun. */
  private static void add(Kind kind, ShardLedger ledger, long from, long to, FigureTable table) {
    Histogram late = new Histogram(Figures.DIGITS);
    for (Map.Entry<ShardLedger.Shard, ShardLedger.Begun> each : ledger.begun().entrySet()) {
      long scheduled = each.getKey().scheduledMillis();
      if (each.getKey().job().startsWith(kind.name() + "-") && scheduled >= from && scheduled < to) {
        late.recordValue(Math.max(0, each.getValue().atMillis() - scheduled));
      }
    }
    long wanted = (long) JOBS_OF_A_KIND * kind.shardsOfRun() * ((to - from) / PERIOD_MILLIS);
    if (late.getTotalCount() != wanted) {
      throw new IllegalStateException("each shard of each scheduled time must begin: kind=" + kind.name()
          + ", wanted=" + wanted + ", begun=" + late.getTotalCount());
    }
    table.add(kind.name(), "shards a second", wanted * 1_000.0 / (to - from));
    table.add(kind.name(), "late p50, ms", (double) late.getValueAtPercentile(50));
    table.add(kind.name(), "p99", (double) late.getValueAtPercentile(99));
    table.add(kind.name(), "most", (double) late.getMaxValue());
  }
}
