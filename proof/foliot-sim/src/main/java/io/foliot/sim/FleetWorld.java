package io.foliot.sim;

import io.foliot.engine.EngineOptions;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The parameters of a simulation with workers, which its seed decides.
 *
 * @param mode the kind of faults
 * @param world the nodes and their store
 * @param zones the number of zones
 * @param workers the number of workers at the beginning
 * @param isPlanned whether a task on a node plans each run, as the planner of jobs does; if not, a caller submits the
 *     run
 * @param leaseMillis the lease of the workers' claims
 * @param restMillis the length of the period before the heal in which no node runs: 0, or longer than the ten minutes
 *     for which a free seat is kept
 */
record FleetWorld(Mode mode, World world, int zones, int workers, boolean isPlanned, long leaseMillis,
    long restMillis) {
  /** The faults. */
  enum Mode {
    /** Nothing breaks: each task begins where its address permits, once, and in time. */
    CALM,
    /** Only workers break; in some simulations, no node runs during a period. */
    WORKERS,
    /** Workers break, and the machines of nodes are suspended. A live worker of another node is not taken for gone. */
    SUSPENDED,
    /** Anything breaks, then everything heals. */
    ALL,
    /** Anything breaks; then the store, one node and the workers heal, and the other nodes stay broken. */
    CORE
  }

  private static final int TENTHS = 10;
  private static final int MAX_ZONES = 3;
  private static final int LEAST_NODES = 2;
  private static final int MOST_NODES = 4;
  private static final int LEAST_WORKERS = 3;
  private static final int MOST_WORKERS = 8;
  /** Period without nodes, which is longer than the ten minutes for which a free seat is kept. */
  private static final long REST_MILLIS = 640_000;
  /** On average, one in this many simulations with faults has such a period. */
  private static final int REST_RARITY = 8;

  /** Draws the parameters of a simulation. */
  static FleetWorld draw(SplittableRandom random) {
    Mode mode = switch (random.nextInt(TENTHS)) {
      case 0, 1 -> Mode.CALM;
      case 2, 3 -> Mode.WORKERS;
      case 4 -> Mode.SUSPENDED;
      case 5, 6, 7 -> Mode.ALL;
      default -> Mode.CORE;
    };
    int zones = 1 + random.nextInt(MAX_ZONES);
    int workers = Math.max(zones, LEAST_WORKERS + random.nextInt(MOST_WORKERS - LEAST_WORKERS + 1));
    boolean rests = mode != Mode.CALM && random.nextInt(REST_RARITY) == 0;
    return new FleetWorld(mode, world(mode, random), zones, workers, random.nextInt(3) != 0,
        oneOf(random, 3_000, 10_000), rests ? REST_MILLIS : 0);
  }

  private static World world(Mode mode, SplittableRandom random) {
    boolean isCalm = mode == Mode.CALM;
    boolean nodesBreak = mode == Mode.ALL || mode == Mode.CORE;
    // Without a coordinator, no slot has an owner. The overdue poll finds the tasks, but later than Check.LATE permits.
    List<World.Coordination> coordinations = isCalm
        ? List.of(World.Coordination.STORE, World.Coordination.SERVICE)
        : List.of(World.Coordination.values());
    SimStore.Behaviour store = new SimStore.Behaviour(
        random.nextBoolean() ? SimStore.Kind.SQL : SimStore.Kind.SYNCED_LOG, 1 << random.nextInt(7),
        isCalm ? oneOf(random, 100, 2_000) : oneOf(random, 100, 2_000, 20_000),
        nodesBreak ? (int) oneOf(random, 0, 5, 50) : 0, oneOf(random, 1_000, 5_000), 0,
        (int) (isCalm ? oneOf(random, 20, 250) : oneOf(random, 1, 20, 250)));
    EngineOptions.Builder options = EngineOptions.builder("node").loops(1 + random.nextInt(3));
    if (!isCalm) {
      options.windowMillis(oneOf(random, 1, 500, 30_000)).wheelEntries((int) oneOf(random, 4, 100, 100_000))
          .laneEntries((int) oneOf(random, 1, 10, 1_000)).readyEntries((int) oneOf(random, 1, 20, 10_000))
          .claimBatch((int) oneOf(random, 1, 10, 1_000));
    }
    World.Mode worldMode = switch (mode) {
      case CALM, WORKERS, SUSPENDED -> World.Mode.CALM;
      case ALL -> World.Mode.SAFETY;
      case CORE -> World.Mode.LIVENESS;
    };
    return new World(worldMode, LEAST_NODES + random.nextInt(MOST_NODES - LEAST_NODES + 1),
        coordinations.get(random.nextInt(coordinations.size())), store, options.build(), oneOf(random, 300, 2_000),
        oneOf(random, 500, 5_000), 0, false);
  }

  private static long oneOf(SplittableRandom random, long... values) {
    return values[random.nextInt(values.length)];
  }

  boolean isCalm() {
    return mode == Mode.CALM;
  }

  /** Returns whether nodes, the store and the coordinator may break. */
  boolean nodesBreak() {
    return mode == Mode.ALL || mode == Mode.CORE;
  }
}
