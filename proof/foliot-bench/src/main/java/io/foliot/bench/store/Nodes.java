package io.foliot.bench.store;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.core.Scheduler;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.EngineOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Nodes that share a database. Each node is an engine over its own store, with its own connections. All nodes run in
 * this process, and so share its processors and memory.
 */
final class Nodes implements AutoCloseable {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final List<TaskStore> stores = new ArrayList<>();
  private final List<FoliotNode> nodes = new ArrayList<>();
  private final ClaimTally tally = new ClaimTally();

  /** The assignment of slots to nodes. */
  enum Share {
    /** Each node owns a part of the slots, as agreed through the store. */
    EVEN,
    /** Each node acts as the owner of all slots. */
    ALL
  }

  /**
   * The settings of the nodes.
   *
   * @param count the number of nodes
   * @param share the assignment of slots to nodes
   * @param attempts the maximum number of attempts that a node has under way at the same time
   * @param time the duration of an attempt; zero for handlers that do nothing
   * @param window how far ahead a node reads its slots
   */
  record Kind(int count, Share share, int attempts, Duration time, Duration window) {
    /** Returns the settings of nodes that have the default limits of the engine, and handlers that do nothing. */
    static Kind of(int count, Share share) {
      EngineOptions defaults = EngineOptions.defaults("bench");
      return new Kind(count, share, defaults.destinationLimit(), Duration.ZERO,
          Duration.ofMillis(defaults.windowMillis()));
    }

    /** Returns the same kind with another number of concurrent attempts and another duration of each. */
    Kind withAttempts(int newAttempts, Duration newTime) {
      return new Kind(count, share, newAttempts, newTime, window);
    }

    /** Returns the same kind with another window. */
    Kind withWindow(Duration newWindow) {
      return new Kind(count, share, attempts, time, newWindow);
    }
  }

  /**
   * Starts nodes over an empty store, and waits until each node owns its share of the slots.
   *
   * @param begun called with the number of each task that begins
   */
  Nodes(SqlSite site, Kind kind, IntConsumer begun) throws SQLException {
    QueueConfig queue = QueueConfig.of(FoliotNode.QUEUE, Target.local());
    try {
      for (int i = 0; i < kind.count(); i++) {
        TaskStore store = i == 0 ? site.openStore() : site.openAnother();
        stores.add(store);
        Coordinator coordinator = switch (kind.share()) {
          case EVEN -> FoliotNode.coordinator(store);
          case ALL -> new OwnerOfAll(store.slotCount());
        };
        EngineOptions options = EngineOptions.builder("bench-" + i).destinationLimit(kind.attempts())
            .windowMillis(kind.window().toMillis()).build();
        nodes.add(new FoliotNode(options, store, queue, executor -> List.of(kind.time().isZero()
            ? new LocalDelivery(executor).handle(queue.name(), attempt -> {
              begun.accept(FoliotNode.number(attempt.task().body()));
              return new Answer.Done("");
            })
            : new LaterDelivery(kind.time(), begun)), coordinator, tally));
      }
      awaitSlots(kind.share());
    } catch (SQLException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private void awaitSlots(Share share) {
    int all = store().slotCount();
    int least = share == Share.ALL ? all : all / nodes.size();
    int most = share == Share.ALL ? all : least + 1;
    Await.until("every node has from " + least + " to " + most + " slots", BOUND,
        () -> owned().stream().allMatch(slots -> slots >= least && slots <= most));
  }

  private List<Integer> owned() {
    return nodes.stream().map(node -> node.scheduler().cluster().ownedSlots()).toList();
  }

  /** Returns the first node's store. */
  TaskStore store() {
    return stores.getFirst();
  }

  /** Returns the scheduler of the node with this number, modulo the number of nodes. */
  Scheduler scheduler(int number) {
    return nodes.get(number % nodes.size()).scheduler();
  }

  ClaimTally tally() {
    return tally;
  }

  /**
   * Checks that the store holds this many finished tasks and no live task.
   *
   * @throws IllegalStateException if it does not
   */
  void ensureFinished(int tasks) {
    FoliotNode.ensureCounts(store(), "every task must be finished, and none left: tasks=" + tasks,
        counts -> counts.live() == 0 && counts.finished() == tasks);
  }

  @Override
  public void close() {
    nodes.forEach(FoliotNode::close);
    stores.forEach(TaskStore::close);
  }
}
