package io.foliot.sim;

import io.foliot.core.Meter;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.Engine;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.foliot.jobs.JobSurroundings;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A machine of the cluster, with its clocks and its network. One process of the node runs at a time. */
final class SimNode {
  private static final long MAX_SKEW_MILLIS = 3_600_000;
  /** Largest error of a clock that a time service sets. */
  private static final long RIGHT_MILLIS = 1_000;
  private static final int MAX_DRIFT_PPM = 100;
  private static final long RESTART_MILLIS = 200;
  /** Longest time by which a stop may exceed its patience. */
  private static final long STOP_MARGIN_MILLIS = 1_500;

  /**
   * The deliveries of a node, apart from the delivery to its receiver.
   *
   * @param isOfJobs whether one of them is the planner of recurring jobs
   * @param others returns the further deliveries of a process
   */
  record Planning(boolean isOfJobs, Function<NodeProcess, List<Delivery>> others) {
    static final Planning NONE = new Planning(false, process -> List.of());
    static final Planning OF_JOBS = new Planning(true, process -> List.of());
  }

  /**
   * The surroundings of a node.
   *
   * @param assignment the stored assignment of slots
   * @param unmet receives each demand that a node did not meet
   */
  record Surroundings(SimStore store, SimCoordination coordination, SimReceiver receiver, Bug bug, Planning planning,
      Supplier<@Nullable Assignment> assignment, Consumer<String> unmet) {}

  private final String name;
  private final Sim sim;
  private final Surroundings surroundings;
  private final SplittableRandom random;
  private final NodeClock clock;

  private NodeProcess process;
  private @Nullable Engine engine; // null while the node does not serve
  private @Nullable Jobs jobs; // null if the node plans no jobs
  private boolean cutFromStore;
  private boolean cutFromCoordination;
  private boolean well;
  /** Whether the node must not start before it is healed. */
  private boolean isHeldDown;

  SimNode(String name, Sim sim, Surroundings surroundings, SplittableRandom random) {
    this.name = name;
    this.sim = sim;
    this.surroundings = surroundings;
    this.random = random;
    boolean exact = sim.world().isCalm();
    clock = new NodeClock(sim.schedule(), exact ? 0 : skewMillis(random),
        exact ? 0 : random.nextInt(-MAX_DRIFT_PPM, MAX_DRIFT_PPM), random.nextLong(1L << 50));
    process = newProcess();
    process.die();
  }

  /** Returns a random skew, which is small for half of the clocks. */
  private static long skewMillis(SplittableRandom random) {
    long most = random.nextBoolean() ? RIGHT_MILLIS : MAX_SKEW_MILLIS;
    return random.nextLong(-most, most);
  }

  private NodeProcess newProcess() {
    TimeSource seen = surroundings.bug().clock(clock);
    return new NodeProcess(sim.schedule(), seen, surroundings.unmet());
  }

  String name() {
    return name;
  }

  NodeClock clock() {
    return clock;
  }

  NodeProcess process() {
    return process;
  }

  /** Returns the engine, or null while the node does not serve. */
  @Nullable
  Engine engine() {
    return engine;
  }

  /** Returns the jobs, or null while the node does not serve, or if it plans no jobs. */
  @Nullable
  Jobs jobs() {
    return engine == null ? null : jobs;
  }

  boolean isUp() {
    return process.isAlive();
  }

  boolean isCutFromStore() {
    return cutFromStore;
  }

  void cutFromStore(boolean cut) {
    cutFromStore = cut;
  }

  boolean isCutFromCoordination() {
    return cutFromCoordination;
  }

  void cutFromCoordination(boolean cut) {
    cutFromCoordination = cut;
  }

  /** Returns whether the node is healed, so its calls of the store no longer fail at random. */
  boolean isWell() {
    return well;
  }

  /** Ends all faults of the node, and starts it if it is dead. */
  void heal() {
    well = true;
    isHeldDown = false;
    clock.set(random.nextLong(-RIGHT_MILLIS, RIGHT_MILLIS));
    cutFromStore = false;
    cutFromCoordination = false;
    if (process.isAlive()) {
      clock.resume();
      process.resume();
    } else {
      start();
    }
  }

  /** Returns whether this node owns a slot according to the stored assignment. */
  boolean owns(int slot) {
    Assignment assignment = surroundings.assignment().get();
    return assignment != null && name.equals(assignment.owner(slot % assignment.slotCount()));
  }

  /** Starts a new process, unless one is alive or the node is killed until it is healed. */
  void start() {
    if (isHeldDown || process.isAlive()) {
      return;
    }
    NodeProcess mine = newProcess();
    process = mine;
    clock.resume();
    sim.trace().add(name, "starts", 0);
    StoreLink link = new StoreLink(surroundings.store(), this, mine, random.split(), sim);
    TaskStore store = surroundings.bug().link(link);
    JobPlanner planner = surroundings.planning().isOfJobs()
        ? new JobPlanner(store, JobMeter.NONE, aroundJobs(mine))
        : null;
    List<Delivery> deliveries = new ArrayList<>(surroundings.planning().others().apply(mine));
    deliveries.add(delivery(mine));
    if (planner != null) {
      deliveries.add(planner);
    }
    Engine starting = new Engine(sim.world().optionsOf(name), new Environment(mine.clock(), mine::newLoop,
        random.split(), store, surroundings.bug().wrap(coordinator(mine, link)), deliveries, new Meter() {
          @Override
          public void unserved(String queue, int count) {
            sim.coverage().count(Coverage.Case.PARKED_WITHOUT_HANDLER);
          }
        }));
    if (planner != null && surroundings.bug() == Bug.SHARDS_WITHOUT_BOUND) {
      planner.queuesKnown(queue -> Optional.empty());
    }
    CompletionStage<Void> started = starting.start();
    started.whenComplete((nothing, failure) -> {
      if (mine != process) {
        return;
      }
      if (failure == null) {
        engine = starting;
        jobs = planner == null ? null : planner.jobs(starting::write);
        sim.trace().add(name, "serves", 0);
      } else {
        kill();
        sim.schedule().afterMillis(RESTART_MILLIS, this::start);
      }
    });
  }

  private JobSurroundings aroundJobs(NodeProcess mine) {
    return new JobSurroundings() {
      @Override
      public long nanoTime() {
        return mine.clock().monotonicNanos();
      }

      @Override
      public long wallMillis() {
        return mine.clock().wallMillis();
      }

      @Override
      public void after(long millis, Runnable action) {
        sim.schedule().afterMillis(millis, () -> mine.run(action));
      }

      @Override
      public long randomBits() {
        return random.nextLong();
      }
    };
  }

  private Delivery delivery(NodeProcess mine) {
    return surroundings.receiver().of(mine,
        queue -> !sim.world().lacksHandler(Integer.parseInt(name.substring(1)), Clients.QUEUES.indexOf(queue)),
        surroundings.bug() == Bug.CLAIMS_WITHOUT_HANDLER, surroundings.unmet());
  }

  private Coordinator coordinator(NodeProcess mine, StoreLink link) {
    return switch (sim.world().coordination()) {
      case STORE -> new StoreCoordinator(link, mine.clock(), mine.newLoop());
      case SERVICE -> surroundings.coordination().client(this, mine);
      case NONE -> SimCoordination.ALONE;
    };
  }

  /** Kills the process, which loses all its memory. */
  void kill() {
    process.die();
    engine = null;
    sim.trace().add(name, "dies", 0);
  }

  /** Kills the node, and prevents all starts before it is healed. */
  void killUntilHealed() {
    isHeldDown = true;
    kill();
  }

  /**
   * Stops the engine in an orderly way, and runs {@code gone} when the process has ended. If the node is
   * healed, starts it again first. If no engine serves or the process is paused, only runs {@code gone}.
   */
  void stop(Duration patience, Runnable gone) {
    NodeProcess mine = process;
    Engine serving = engine;
    if (serving == null || mine.isPaused()) {
      gone.run();
      return;
    }
    long begunMillis = sim.schedule().nowMillis();
    sim.trace().add(name, "stops", 0);
    CompletionStage<Void> stopped = serving.stop(patience);
    engine = null;
    stopped.whenComplete((nothing, failure) -> {
      long tookMillis = sim.schedule().nowMillis() - begunMillis;
      sim.trace().add(name, "stopped", tookMillis);
      if (tookMillis > patience.toMillis() + STOP_MARGIN_MILLIS && mine.hasRunSince(begunMillis)) {
        surroundings.unmet().accept(name + " must stop within " + patience + ", but took " + tookMillis + " ms");
      }
      if (mine == process) {
        kill();
      }
      if (well) {
        start();
      }
      gone.run();
    });
  }
}
