package io.foliot.bench.store;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.EngineOptions;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.foliot.jobs.Jobs;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Three nodes that plan jobs over one database, and workers in two zones. Each worker polls one of the nodes. Nodes and
 * workers run in this process, and so share its processors. There is no HTTP between them.
 */
final class WorkerCluster implements AutoCloseable {
  /** The queue of all workers. */
  static final String QUEUE = "pulled";
  static final int NODES = 3;
  private static final List<String> ZONES = List.of("fra", "lon");
  private static final Duration BOUND = Duration.ofSeconds(60);

  private final List<TaskStore> stores = new ArrayList<>();
  private final List<FoliotNode> nodes = new ArrayList<>();
  private final List<Jobs> jobs = new ArrayList<>();
  private final List<PollingWorker> workers = new ArrayList<>();
  private int nextNumber;

  /** Starts the nodes over an empty store, and waits until each has its part of the slots. */
  WorkerCluster(SqlSite site) throws SQLException {
    QueueConfig queue = QueueConfig.builder(QUEUE, Target.pull()).retainFinished(Rows.KEPT).build();
    try {
      for (int i = 0; i < NODES; i++) {
        TaskStore store = i == 0 ? site.openStore() : site.openAnother();
        stores.add(store);
        JobPlanner planner = new JobPlanner(store, JobMeter.NONE);
        FoliotNode node = new FoliotNode(EngineOptions.defaults("bench-" + i), store, queue,
            executor -> List.of(planner), FoliotNode.coordinator(store), Meter.NONE);
        nodes.add(node);
        jobs.add(node.jobs(planner));
      }
      int least = stores.getFirst().slotCount() / NODES;
      Await.until("every node has its part of the slots", BOUND, () -> nodes.stream()
          .allMatch(node -> node.scheduler().cluster().ownedSlots() - least <= 1
              && node.scheduler().cluster().ownedSlots() >= least));
    } catch (SQLException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Starts workers at the nodes in turn, and waits until every node has read all of them. */
  List<PollingWorker> start(int count, int concurrency, PollingWorker.Handler handler) {
    List<PollingWorker> started = new ArrayList<>();
    for (int i = 0; i < count; i++, nextNumber++) {
      started.add(new PollingWorker("worker-" + nextNumber, ZONES.get(nextNumber % ZONES.size()), node(nextNumber),
          concurrency, handler));
    }
    workers.addAll(started);
    Await.until("every node has read every worker", BOUND, () -> nodes.stream().allMatch(
        node -> started.stream().allMatch(worker -> node.scheduler().fleet().seatOf(worker.name()) != null)));
    return started;
  }

  /** Waits until every node reads exactly this number of workers. */
  void awaitWorkers(int count) {
    Await.until("every node reads " + count + " workers", BOUND,
        () -> nodes.stream().allMatch(node -> node.scheduler().fleet().working(QUEUE).size() == count));
  }

  /** Returns the node with this number, modulo the number of nodes. */
  Scheduler node(int number) {
    return nodes.get(number % nodes.size()).scheduler();
  }

  /** Returns the API for jobs of the node with this number, modulo the number of nodes. */
  Jobs jobs(int number) {
    return jobs.get(number % jobs.size());
  }

  /** Fails if a call of a worker failed. */
  void ensureWorked() {
    workers.forEach(PollingWorker::ensureWorked);
  }

  @Override
  public void close() {
    workers.forEach(PollingWorker::die);
    nodes.forEach(FoliotNode::close);
    stores.forEach(TaskStore::close);
  }
}
