package io.foliot.bench.store;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.backends.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures the time until the shards of a lost worker begin on other workers. There are three nodes, six workers, and a
 * run whose shards are divided evenly among the workers. One worker, the victim, has room for half of its shards, so
 * its other shards wait. Then the victim is killed, or it stops as a worker of the client library does.
 */
final class FleetGoneRow implements Row {
  /** The number of workers besides the victim. */
  private static final int WORKERS = 5;
  private static final int SHARDS_OF_EACH = 20;
  /** The number of shards that the victim can run at the same time. */
  private static final int ROOM = 10;
  private static final int CONCURRENCY = 100;
  private static final Duration BOUND = Duration.ofSeconds(60);
  /**
   * Goals in seconds: for shards that the victim runs, for shards that wait for it, and for all shards after a stop.
   */
  private static final double WANTED_RUNNING = (PollingWorker.LEASE_MILLIS + 2_000) / 1e3;
  private static final double WANTED_WAITING = 12;
  private static final double WANTED_STOPPED = 1;
  private static final String RUNNING = "running shards elsewhere after, s";
  private static final String WAITING = "others after, s";
  private static final String KILLED = "killed";
  private static final String STOPPED = "stopped";

  private int runs;

  @Override
  public String name() {
    return "fleet-gone";
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    SqlSite site = sites.postgres();
    FigureTable table = new FigureTable(name(), "PostgreSQL: the last shard of a worker that is gone, three nodes");
    try (WorkerCluster cluster = new WorkerCluster(site)) {
      ShardLedger[] ledger = {new ShardLedger()};
      PollingWorker.Handler endsAtOnce = (worker, shard) -> {
        ledger[0].begun(worker, shard, false);
        return true;
      };
      PollingWorker.Handler keeps = (worker, shard) -> {
        ledger[0].begun(worker, shard, false);
        return false;
      };
      cluster.start(WORKERS, CONCURRENCY, endsAtOnce);
      site.settle();
      for (int round = 1; round <= options.rounds(); round++) {
        for (String way : List.of(KILLED, STOPPED)) {
          progress.report(name() + ", round " + round + ", " + way);
          ledger[0] = new ShardLedger();
          PollingWorker victim = cluster.start(1, ROOM, keeps).getFirst();
          round(cluster, victim, way, ledger[0], table);
        }
      }
    }
    table.addGoal("killed: running shards within their lease and 2 s", table.median(KILLED, RUNNING) <= WANTED_RUNNING);
    table.addGoal("killed: the others within 12 s", table.median(KILLED, WAITING) <= WANTED_WAITING);
    table.addGoal("stopped: all within 1 s", table.median(STOPPED, RUNNING) <= WANTED_STOPPED
        && table.median(STOPPED, WAITING) <= WANTED_STOPPED);
    return table;
  }

  private void round(WorkerCluster cluster, PollingWorker victim, String way, ShardLedger ledger, FigureTable table)
      throws InterruptedException {
    int shards = (WORKERS + 1) * SHARDS_OF_EACH;
    Job job = Job.named("gone-" + runs++).queue(WorkerCluster.QUEUE).cron("0 2 1 1 *").shards(shards)
        .allocation(Allocation.AVERAGE).build();
    cluster.awaitWorkers(WORKERS + 1);
    FoliotNode.await(cluster.jobs(runs).put(job));
    FoliotNode.await(cluster.jobs(runs).trigger(job.name(), null));
    int begun = shards - SHARDS_OF_EACH + ROOM;
    ledger.await(begun, BOUND);
    Await.until("the victim has no more room", BOUND, () -> victim.held() == ROOM);
    if (ledger.size() != begun) {
      throw new IllegalStateException("the shards of a worker without room must wait: begun=" + ledger.size()
          + ", expected=" + begun);
    }
    long goneNanos = System.nanoTime();
    if (way.equals(KILLED)) {
      victim.die();
    } else {
      victim.stop();
    }
    ledger.await(shards, BOUND);
    Await.until("all shards have begun on other workers", BOUND, () -> elsewhere(ledger, victim).size() == shards);
    long running = 0;
    long waiting = 0;
    for (Map.Entry<ShardLedger.Shard, ShardLedger.Begun> each : ledger.begun().entrySet()) {
      ShardLedger.Begun last = each.getValue();
      long afterNanos = last.atNanos() - goneNanos;
      if (last.attempt() > 1) {
        running = Math.max(running, afterNanos);
      } else if (afterNanos > 0) {
        waiting = Math.max(waiting, afterNanos);
      }
    }
    ledger.ensureRepeated(ROOM);
    table.add(way, RUNNING, running / 1e9);
    table.add(way, WAITING, waiting / 1e9);
    cluster.ensureWorked();
    TimeUnit.SECONDS.sleep(1);
  }

  private static List<ShardLedger.Begun> elsewhere(ShardLedger ledger, PollingWorker victim) {
    return ledger.begun().values().stream().filter(begun -> !begun.worker().equals(victim.name())).toList();
  }
}
