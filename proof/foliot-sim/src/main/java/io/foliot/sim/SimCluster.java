package io.foliot.sim;

import io.foliot.core.coordination.Assignment;
import io.foliot.history.History;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The nodes of a simulation with their store, coordinator and receiver, in a world drawn from the seed. */
final class SimCluster {
  /** The end of the period of faults, from the start of the simulation. */
  static final long CHAOS_MILLIS = 45_000;
  /** The time at which faults are repaired, from the start of the simulation. */
  static final long HEAL_MILLIS = CHAOS_MILLIS + 5_000;
  private static final long LATEST_START_MILLIS = 1_500;

  private final World world;
  private final Sim sim;
  private final Schedule schedule = new Schedule();
  private final History history = History.inMemory();
  private final List<SimNode> nodes = new ArrayList<>();
  private final SimStore store;
  private final SimCoordination coordination;
  private final SimReceiver receiver;
  private final SplittableRandom random;
  private final Bug bug;

  /**
   * Creates a cluster in a world drawn from the seed.
   *
   * @param plansJobs whether the nodes plan recurring jobs
   * @param reader receives a line for each event; null for no lines
   * @param unmet receives each demand that a node did not meet
   */
  SimCluster(SplittableRandom random, Bug bug, boolean plansJobs, @Nullable Consumer<String> reader,
      Consumer<String> unmet) {
    this(World.draw(random), random, bug, plansJobs ? SimNode.Planning.OF_JOBS : SimNode.Planning.NONE, reader, unmet);
  }

  /** Creates a cluster in a given world. */
  SimCluster(World world, SplittableRandom random, Bug bug, SimNode.Planning planning,
      @Nullable Consumer<String> reader, Consumer<String> unmet) {
    this.random = random;
    this.bug = bug;
    this.world = world;
    sim = new Sim(world, schedule, new Coverage(), new Trace(schedule, reader));
    if (reader != null) {
      reader.accept(world.toString());
    }
    Map<String, SimNode> byName = new HashMap<>();
    store = new SimStore(world.store(), bug, schedule, random.split(), sim.coverage(), name -> {
      SimNode node = byName.get(name);
      return node == null ? 0 : node.clock().wallMicros() - schedule.nowMicros();
    });
    coordination = new SimCoordination(sim, random.split());
    receiver = new SimReceiver(sim, random.split(), history);
    SimNode.Surroundings surroundings = new SimNode.Surroundings(store, coordination, receiver, bug, planning,
        this::assignment, unmet);
    for (int i = 0; i < world.nodes(); i++) {
      SimNode node = new SimNode("n" + i, sim, surroundings, random.split());
      nodes.add(node);
      byName.put(node.name(), node);
    }
  }

  private @Nullable Assignment assignment() {
    return switch (world.coordination()) {
      case STORE -> store.assignment();
      case SERVICE -> coordination.assignment();
      case NONE -> null;
    };
  }

  World world() {
    return world;
  }

  Sim sim() {
    return sim;
  }

  History history() {
    return history;
  }

  List<SimNode> nodes() {
    return nodes;
  }

  SimStore store() {
    return store;
  }

  SimCoordination coordination() {
    return coordination;
  }

  SimReceiver receiver() {
    return receiver;
  }

  /** Creates the faults of this cluster. {@code changeQueue} changes the settings of a random queue. */
  Faults faults(Runnable changeQueue) {
    return new Faults(sim, history, random.split(), store, coordination, nodes, changeQueue, bug);
  }

  /** Plans the starts of the nodes: at once in a calm world, else within {@value #LATEST_START_MILLIS} ms. */
  void start() {
    for (SimNode node : nodes) {
      schedule.afterMillis(world.isCalm() ? 0 : random.nextLong(LATEST_START_MILLIS), node::start);
    }
  }

  /** Plans the faults of the world. */
  void plan(Faults faults) {
    if (world.mode() == World.Mode.UNCOORDINATED) {
      faults.planUncoordinated(CHAOS_MILLIS);
    } else if (!world.isCalm()) {
      faults.plan(CHAOS_MILLIS);
    }
  }

  /** Ends all faults, or in {@link World.Mode#LIVENESS} only enough faults for due tasks to run. */
  void heal(Faults faults) {
    receiver.heal();
    if (world.mode() == World.Mode.LIVENESS) {
      faults.healCore();
    } else {
      faults.healAll();
    }
  }
}
