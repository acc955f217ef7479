package io.foliot.sim;

import io.foliot.engine.EngineOptions;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The parameters that a seed decides before a simulation begins.
 *
 * @param mode the faults, and the demands
 * @param nodes the number of nodes
 * @param coordination the way in which nodes find each other
 * @param store the behaviour of the store
 * @param options the options of the engines, with bounds from tiny to large; the name of the node is set later
 * @param timeoutMillis the timeout of a delivery
 * @param maxBackoffMillis the longest backoff between attempts
 * @param operations the number of random calls of clients
 * @param isPartial whether all nodes but the first lack handlers of some queues
 */
record World(Mode mode, int nodes, Coordination coordination, SimStore.Behaviour store, EngineOptions options,
    long timeoutMillis, long maxBackoffMillis, int operations, boolean isPartial) {
  /** The faults, and the demands. */
  enum Mode {
    /** Nothing is broken: no task may run twice or begin late. */
    CALM,
    /**
     * The coordinator becomes unreachable. In about half of the simulations, one node is killed. Nothing else is
     * broken. No task may be late by more than the time that the other nodes need to detect a dead node.
     */
    UNCOORDINATED,
    /** Anything breaks at any time, then everything heals. */
    SAFETY,
    /** Anything breaks, then the store and one node heal. Every other node stays broken, but due tasks must fire. */
    LIVENESS
  }

  /** The way in which nodes find each other. */
  enum Coordination {
    /** The {@link io.foliot.engine.coordination.StoreCoordinator}, over the simulated store. */
    STORE,
    /** A simulated service, with sessions and notifications. */
    SERVICE,
    /** No coordinator, so no slot has an owner. */
    NONE
  }

  private static final int MAX_NODES = 5;
  private static final int TENTHS = 10;
  private static final List<Coordination> COORDINATIONS = List.copyOf(EnumSet.allOf(Coordination.class));
  private static final List<SimStore.Kind> KINDS = List.copyOf(EnumSet.allOf(SimStore.Kind.class));

  /** Draws the parameters of a simulation. */
  static World draw(SplittableRandom random) {
    int tenth = random.nextInt(TENTHS);
    Mode mode = switch (tenth) {
      case 0 -> Mode.CALM;
      case 1 -> Mode.UNCOORDINATED;
      case 2, 3, 4, 5, 6 -> Mode.SAFETY;
      default -> Mode.LIVENESS;
    };
    Coordination drawn = oneOf(random, COORDINATIONS);
    Coordination coordination = mode == Mode.UNCOORDINATED ? Coordination.SERVICE : drawn;
    SimStore.Kind kind = oneOf(random, KINDS);
    boolean calm = isCalm(mode);
    SimStore.Behaviour store = new SimStore.Behaviour(kind, 1 << random.nextInt(7), oneOf(random, 100, 2_000, 20_000),
        calm ? 0 : (int) oneOf(random, 0, 5, 50), oneOf(random, 1_000, 5_000),
        kind == SimStore.Kind.REDIS ? oneOf(random, 100, 1_500) : 0, (int) oneOf(random, 1, 20, 250));
    EngineOptions tight = EngineOptions.builder("node").loops(1 + random.nextInt(3))
        .windowMillis(oneOf(random, 1, 500, 30_000))
        .wheelEntries((int) oneOf(random, 4, 100, 100_000)).laneEntries((int) oneOf(random, 1, 10, 1_000))
        .readyEntries((int) oneOf(random, 1, 20, 10_000))
        .claimBatch((int) oneOf(random, 1, 10, 1_000)).leaseMarginMillis(oneOf(random, 500, 3_000, 500, 15_000))
        .renewedLeaseMillis(oneOf(random, 10_000, 300, 1_500))
        .callItems((int) oneOf(random, 4, 200_000)).callBytes(oneOf(random, 1_000, 64L << 20))
        .destinationLimit((int) oneOf(random, 1, 16, 512)).build();
    EngineOptions.Builder calmOptions = EngineOptions.builder("node").loops(tight.loops());
    if (mode == Mode.UNCOORDINATED) {
      // With a short window, the owner of a slot fires a due task, not the node that wrote the task.
      calmOptions.windowMillis(tight.windowMillis());
    }
    int least = mode == Mode.UNCOORDINATED ? 2 : 1;
    return new World(mode, least + random.nextInt(MAX_NODES + 1 - least), coordination, store,
        calm ? calmOptions.build() : tight, oneOf(random, 300, 2_000),
        oneOf(random, 500, 5_000), calm ? 150 : (int) oneOf(random, 50, 200, 400),
        mode == Mode.SAFETY && random.nextInt(3) == 0);
  }

  /**
   * Returns whether a node has no handler for a queue. The first node has all handlers. In worlds that are not partial,
   * every node has all handlers. The queue with a limit has a handler on every node.
   *
   * @param node the index of the node, from 0 on
   * @param queue the index of the queue, from 0 on
   */
  boolean lacksHandler(int node, int queue) {
    return isPartial && node > 0 && queue != Clients.QUEUES.indexOf(Clients.LIMITED) && (node + queue / 2) % 2 == 0;
  }

  /** Returns whether the store, clocks, clients and the receiver have no faults. */
  boolean isCalm() {
    return isCalm(mode);
  }

  private static boolean isCalm(Mode mode) {
    return mode == Mode.CALM || mode == Mode.UNCOORDINATED;
  }

  private static <T> T oneOf(SplittableRandom random, List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  private static long oneOf(SplittableRandom random, long... values) {
    return values[random.nextInt(values.length)];
  }

  EngineOptions optionsOf(String node) {
    return options.toBuilder().node(node).zone("zone" + node.hashCode() % 2).build();
  }

  /**
   * Returns the least number of tasks per second that one healthy node completes. The result is the rate of the slowest
   * queue. With one concurrent attempt or one task per claim, each task takes three calls of a slow store, so the
   * result is half of the rate of the slowest queue.
   */
  int leastPerSecond() {
    return options.destinationLimit() == 1 || options.claimBatch() == 1 ? 10 : 20;
  }

  long leaseMillis() {
    return timeoutMillis + options.leaseMarginMillis();
  }
}
