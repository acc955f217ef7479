package io.foliot.sim;

import io.foliot.api.TaskState;
import io.foliot.history.Event;
import io.foliot.history.History;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Injects faults, records them in the history, and repairs them. */
final class Faults {
  /** Time before the first fault. */
  private static final long FIRST_MILLIS = 2_000;
  /** Length of the period, after the random faults, in which one more change of a queue may be lost. */
  private static final long LAST_MILLIS = 3_000;
  /** Exclusive bound of the number of faults of each kind. */
  private static final int MOST_OF_A_KIND = 4;
  /** Longest time until all nodes have joined and each node owns its slots. */
  private static final long MAX_COORDINATED_MILLIS = 12_000;
  private static final long HOUR_MILLIS = 3_600_000;
  /** Shortest long suspension. It exceeds the time for which a node declares its workers alive. */
  private static final long LEAST_SUSPENSION_MILLIS = 13_000;
  private static final long SUSPENSION_RANGE_MILLIS = 6_000;

  private final Sim sim;
  private final Schedule schedule;
  private final History history;
  private final SplittableRandom random;
  private final SimStore store;
  private final SimCoordination coordination;
  private final List<SimNode> nodes;
  private final Runnable changeQueue;
  private final Bug bug;
  /** Nodes that stay broken after the heal. */
  private final Set<SimNode> broken = new HashSet<>();
  private boolean healed;
  private boolean killed;
  /**
   * Action at the beginning and at the end of each fault. It takes the node whose machine is suspended, or null for a
   * fault that may disturb any node.
   */
  private Consumer<@Nullable SimNode> watch = disturbed -> {};
  /** Lease ends of the tasks that ran when a node was killed without a restart, by task id. */
  private final Map<String, Long> leaseEndsAtKill = new HashMap<>();
  /** Number, in the history, of the kill without a restart. */
  private long killWindow;

  /** @param changeQueue changes the settings of a random queue */
  Faults(Sim sim, History history, SplittableRandom random, SimStore store, SimCoordination coordination,
      List<SimNode> nodes, Runnable changeQueue, Bug bug) {
    this.changeQueue = changeQueue;
    this.sim = sim;
    schedule = sim.schedule();
    this.history = history;
    this.random = random;
    this.store = store;
    this.coordination = coordination;
    this.nodes = nodes;
    this.bug = bug;
  }

  /** Sets the action that runs at the beginning and at the end of each fault from now on. */
  void watch(Consumer<@Nullable SimNode> newWatch) {
    watch = newWatch;
  }

  /**
   * Plans random faults within the next {@code millis}, and a change of a queue directly after this period. The change
   * may be lost.
   */
  void plan(long millis) {
    // One change may be lost shortly before the heal. After the heal, all nodes must have the same settings.
    schedule.afterMillis(millis + random.nextLong(LAST_MILLIS), this::forgetChange);
    List<Runnable> kinds = List.of(this::forgetChange, this::kill, this::pauseBeyondALease, this::pauseShortly,
        this::suspendLong, this::stop, this::setClock, this::storeAway,
        this::failOver, this::cutFromStore, this::cutFromCoordination, this::coordinationAway, this::misreport);
    for (Runnable kind : kinds) {
      for (int left = random.nextInt(MOST_OF_A_KIND); left > 0; left--) {
        schedule.afterMillis(FIRST_MILLIS + random.nextLong(millis - FIRST_MILLIS), () -> {
          if (!healed) {
            kind.run();
          }
        });
      }
    }
  }

  /**
   * Plans an outage of the coordinator alone, which ends at a random time or with the heal. In half of the runs, also
   * plans the kill of a node at a random time, usually during the outage.
   */
  void planUncoordinated(long millis) {
    schedule.afterMillis(FIRST_MILLIS + random.nextLong(MAX_COORDINATED_MILLIS), () -> {
      sim.coverage().count(Coverage.Case.COORDINATION_AWAY);
      sim.trace().add("fault", "the coordinator is unavailable", 0);
      coordination.setAway(true);
    });
    if (random.nextBoolean()) {
      schedule.afterMillis(MAX_COORDINATED_MILLIS + random.nextLong(millis - MAX_COORDINATED_MILLIS),
          this::killWithoutRestart);
    }
    if (random.nextBoolean()) {
      schedule.afterMillis(MAX_COORDINATED_MILLIS + random.nextLong(millis), () -> coordination.setAway(false));
    }
  }

  /** Kills a node, which stays dead until the heal. */
  private void killWithoutRestart() {
    SimNode node = someNode();
    if (healed || !node.isUp()) {
      return;
    }
    if (coordination.isAway()) {
      sim.coverage().count(Coverage.Case.KILL_WITHOUT_COORDINATOR);
    }
    killed = true;
    store.live().stream().filter(task -> task.state() == TaskState.RUNNING)
        .forEach(task -> leaseEndsAtKill.put(task.id().toString(), task.leaseEnd()));
    long window = began(Event.Fault.KILL, node.name() + " is killed");
    node.kill();
    killWindow = window;
  }

  /** Returns whether a node was killed without a restart. */
  boolean hasKilled() {
    return killed;
  }

  /** Returns the end of the lease that a task had at the kill without a restart; 0 if it was not running. */
  long leaseEndMillis(String taskId) {
    return leaseEndsAtKill.getOrDefault(taskId, 0L);
  }

  /** Plans suspensions of machines within the next {@code millis}. There is no other fault of nodes. */
  void planSuspensions(long millis) {
    long mostMillis = LEAST_SUSPENSION_MILLIS + SUSPENSION_RANGE_MILLIS;
    for (int left = 2 + random.nextInt(MOST_OF_A_KIND); left > 0; left--) {
      schedule.afterMillis(FIRST_MILLIS + random.nextLong(millis - mostMillis), this::suspendLong);
    }
  }

  private SimNode someNode() {
    return nodes.get(random.nextInt(nodes.size()));
  }

  /** Records the beginning of a fault. Returns the number of the fault in the history. */
  private long began(Event.Fault fault, String what) {
    return began(fault, what, null);
  }

  private long began(Event.Fault fault, String what, @Nullable SimNode suspended) {
    watch.accept(suspended);
    sim.trace().add("fault", what, 0);
    return history.faultBegan(schedule.nowMillis(), fault, what);
  }

  /** Ends a fault after the given time. If the heal has come first, only records the end in the history. */
  private void mendAfter(long millis, long window, Runnable mend) {
    mendAfter(millis, window, null, mend);
  }

  private void mendAfter(long millis, long window, @Nullable SimNode suspended, Runnable mend) {
    schedule.afterMillis(millis, () -> {
      if (!healed) {
        mend.run();
      }
      watch.accept(suspended);
      history.faultEnded(window, schedule.nowMillis());
    });
  }

  private void kill() {
    SimNode node = someNode();
    if (!node.isUp()) {
      return;
    }
    sim.coverage().count(Coverage.Case.KILL);
    long window = began(Event.Fault.KILL, node.name() + " is killed");
    node.kill();
    mendAfter(random.nextLong(5_000), window, () -> {
      sim.coverage().count(Coverage.Case.RESTART);
      node.start();
    });
  }

  private void pauseBeyondALease() {
    sim.coverage().count(Coverage.Case.PAUSE_BEYOND_A_LEASE);
    pauseFor(sim.world().leaseMillis() + random.nextLong(6_000));
  }

  private void pauseShortly() {
    sim.coverage().count(Coverage.Case.SHORT_PAUSE);
    pauseFor(random.nextLong(800));
  }

  /** Suspends a machine for so long that a node which judges others by its own clock takes all of them for gone. */
  private void suspendLong() {
    sim.coverage().count(Coverage.Case.MACHINE_ASLEEP_LONG);
    pauseFor(LEAST_SUSPENSION_MILLIS + random.nextLong(SUSPENSION_RANGE_MILLIS), true);
  }

  private void pauseFor(long millis) {
    pauseFor(millis, random.nextBoolean());
  }

  private void pauseFor(long millis, boolean isSuspended) {
    SimNode node = someNode();
    if (!node.isUp() || node.process().isPaused()) {
      return;
    }
    SimNode suspended = isSuspended ? node : null;
    long window = began(Event.Fault.PAUSE, node.name() + " is paused for " + millis + " ms", suspended);
    NodeProcess process = node.process();
    process.pause();
    if (isSuspended) {
      sim.coverage().count(Coverage.Case.MACHINE_ASLEEP);
      node.clock().suspend();
    }
    mendAfter(millis, window, suspended, () -> {
      if (process == node.process()) {
        node.clock().resume();
      }
      process.resume();
    });
  }

  private void stop() {
    SimNode node = someNode();
    if (node.engine() == null) {
      return;
    }
    sim.coverage().count(Coverage.Case.GRACEFUL_STOP);
    long window = began(Event.Fault.OTHER, node.name() + " is stopped");
    long pauseMillis = random.nextLong(3_000);
    boolean[] wasPaused = {node.process().isPaused()};
    node.stop(Duration.ofMillis(random.nextLong(4_000)), () -> mendAfter(pauseMillis, window, () -> {
      if (!wasPaused[0]) {
        node.start();
      }
    }));
  }

  private void setClock() {
    SimNode node = someNode();
    long[] steps = {-HOUR_MILLIS, -700, 300, HOUR_MILLIS, random.nextLong(-HOUR_MILLIS, HOUR_MILLIS)};
    long step = steps[random.nextInt(steps.length)];
    sim.coverage().count(step > 0 ? Coverage.Case.CLOCK_SET_FORWARD : Coverage.Case.CLOCK_SET_BACK);
    sim.trace().add("fault", "the clock is set: " + node.name(), step);
    node.clock().stepMillis(step);
    watch.accept(null);
  }

  private void storeAway() {
    sim.coverage().count(Coverage.Case.STORE_AWAY);
    long window = began(Event.Fault.OTHER, "the store is unavailable");
    store.setAway(true);
    if (bug == Bug.ACK_BEFORE_SYNC) {
      store.forget(bug.lostMillis(store.behaviour(), 0));
    }
    mendAfter(random.nextLong(5_000), window, () -> store.setAway(false));
  }

  private void failOver() {
    sim.coverage().count(Coverage.Case.STORE_FAILOVER);
    long window = began(Event.Fault.OTHER, "another server takes over from the store");
    store.setAway(true);
    long windowMillis = store.behaviour().windowMillis();
    if (windowMillis > 0) {
      history.forgot(schedule.nowMillis(), schedule.nowMillis() - windowMillis);
      store.forget(bug.lostMillis(store.behaviour(), random.nextLong(windowMillis + 1)));
    }
    mendAfter(random.nextLong(3_000), window, () -> store.setAway(false));
  }

  /** Changes a queue, and fails over so soon that the change may be lost. Does nothing if the store loses no writes. */
  private void forgetChange() {
    if (store.behaviour().windowMillis() > 0) {
      changeQueue.run();
      schedule.afterMillis(random.nextLong(store.behaviour().windowMillis()), () -> {
        if (!healed) {
          failOver();
        }
      });
    }
  }

  private void cutFromStore() {
    SimNode node = someNode();
    sim.coverage().count(Coverage.Case.CUT_FROM_STORE);
    long window = began(Event.Fault.OTHER, node.name() + " is cut from the store");
    node.cutFromStore(true);
    mendAfter(random.nextLong(12_000), window, () -> node.cutFromStore(false));
  }

  private void cutFromCoordination() {
    SimNode node = someNode();
    sim.coverage().count(Coverage.Case.CUT_FROM_COORDINATION);
    long window = began(Event.Fault.OTHER, node.name() + " is cut from the coordinator");
    node.cutFromCoordination(true);
    mendAfter(random.nextLong(25_000), window, () -> node.cutFromCoordination(false));
  }

  private void coordinationAway() {
    if (sim.world().coordination() != World.Coordination.SERVICE) {
      return;
    }
    sim.coverage().count(Coverage.Case.COORDINATION_AWAY);
    long window = began(Event.Fault.OTHER, "the coordinator is unavailable");
    coordination.setAway(true);
    mendAfter(random.nextLong(15_000), window, () -> coordination.setAway(false));
  }

  private void misreport() {
    if (sim.world().coordination() != World.Coordination.SERVICE) {
      return;
    }
    sim.trace().add("fault", "the coordinator sends false notifications", 0);
    watch.accept(null);
    if (random.nextBoolean()) {
      coordination.reportAllAsLeaders();
    } else {
      coordination.reportNoMembers();
    }
  }

  /** Ends all faults. */
  void healAll() {
    healed = true;
    watch.accept(null);
    sim.trace().add("fault", "all heals", 0);
    store.setAway(false);
    for (SimNode node : nodes) {
      node.heal();
    }
    coordination.heal();
    if (killed) {
      history.faultEnded(killWindow, schedule.nowMillis());
    }
  }

  /**
   * Heals the store and one node. Breaks all other nodes until the end of the run. Heals the coordinator in half of the
   * runs, and breaks it in the other half.
   */
  void healCore() {
    healed = true;
    watch.accept(null);
    store.setAway(false);
    SimNode core = someNode();
    sim.trace().add("fault", "heals with the store: " + core.name(), 0);
    for (SimNode node : nodes) {
      if (node.equals(core)) {
        node.heal();
      } else {
        leave(node);
      }
    }
    if (random.nextBoolean()) {
      coordination.heal();
    } else {
      coordination.setAway(true);
    }
  }

  /** Breaks a node in one way until the end of the run. */
  private void leave(SimNode node) {
    broken.add(node);
    node.cutFromStore(false);
    node.clock().resume();
    node.process().resume();
    switch (random.nextInt(4)) {
      case 0 -> node.kill();
      case 1 -> node.process().pause();
      case 2 -> node.cutFromStore(true);
      default -> node.cutFromCoordination(true);
    }
    sim.trace().add("fault", "stays broken: " + node.name(), 0);
  }

  /** Returns false if a node stays broken after the heal. */
  boolean isWell(SimNode node) {
    return !broken.contains(node);
  }
}
