package io.foliot.sim;

import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.Draft;
import io.foliot.engine.Engine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of workers. Several engines share one store, with the faults of {@link Simulation}. Workers in one or
 * more zones poll the engines, run tasks, extend leases and report the ends. Workers die, stall, are cut off, move to
 * other nodes, and are disabled. Runs are planned from the fleet of a node, as the planner of jobs plans them. Their
 * tasks are for seats, for zones, for one worker only, and for any worker. Then all faults end, or at least those of
 * the store, the workers and one node. {@link FleetJudge} checks where each task began, how often, and when.
 */
public final class FleetSimulation {
  /** Time in which the first workers start. The first run is planned at least two seconds later. */
  private static final long SEATED_MILLIS = 10_000;
  /** Length of a period after the heal. A third of the runs is planned in this period. */
  private static final long PLANNED_MILLIS = 25_000;
  /**
   * Longest time from the heal to the end of the simulation. It exceeds the sum of a lease, the time for which a dead
   * node's workers count as live, a backoff, a session timeout, and the intervals of the polls.
   */
  private static final long HEALED_MILLIS = 110_000;
  /**
   * Least time from the heal to the end of the simulation. After this time, the simulation ends as soon as all tasks
   * that can run are final.
   */
  private static final long SETTLED_MILLIS = 35_000;
  private static final long CHECK_MILLIS = 1_000;
  /**
   * Time from the death of some workers to the death of all nodes. Meanwhile, nodes free the seats of these workers.
   */
  private static final long LEFT_MILLIS = 25_000;
  private static final int RUNS = 24;
  /** Maximum number of unmet demands of one check that are kept, because one wrong write may cause many. */
  private static final int MOST_KEPT = 5;
  private static final Duration RETENTION = Duration.ofDays(3);

  /**
   * The result of a simulation.
   *
   * @param unmet the demands that were not met, each with the check that found it
   * @param traceHash a hash of all events, which is the same for the same seed
   * @param counts the number of times that each case occurred
   */
  public record Outcome(List<Unmet> unmet, long traceHash, SortedMap<String, Long> counts) {
    /** Returns whether every demand was met. */
    public boolean isGood() {
      return unmet.isEmpty();
    }
  }

  /** The checks. */
  public enum Check {
    /** A task begins only where its address permits. */
    TARGET,
    /**
     * No task is claimed while another claim of the task is valid, or after the task is final. Late reports are
     * refused.
     */
    ONCE,
    /** The fence of a task, (generation, attempt), grows with each claim. */
    FENCE,
    /** A disabled worker gets no tasks. */
    DISABLED,
    /** A seat has one worker, in one zone. Another worker gets the seat only after it has been free for ten minutes. */
    SEATS,
    /** All tasks that can run are final at the end, and idle loops sleep. */
    LIVENESS,
    /** Without faults a task begins soon after it is due. */
    LATE
  }

  /** A demand that was not met. */
  public record Unmet(Check check, String what) {}

  private final FleetWorld fleetWorld;
  private final SimCluster cluster;
  private final Schedule schedule;
  private final SplittableRandom random;
  private final List<Unmet> unmet = new ArrayList<>();
  private final FleetJudge judge;
  private final FleetRuns runs;
  private final Callers callers;
  private final WorkerFaults workers;
  private final Faults faults;
  /** Whether all tasks of workers are short and succeed. */
  private boolean isQuick;

  private FleetSimulation(long seed, Bug bug, @Nullable Consumer<String> reader) {
    random = new SplittableRandom(seed);
    fleetWorld = FleetWorld.draw(random);
    if (reader != null) {
      reader.accept(fleetWorld.toString());
    }
    // Planners are created when nodes start: after the field of the runs has been set.
    cluster = new SimCluster(fleetWorld.world(), random, bug, new SimNode.Planning(false, process -> planners()),
        reader, what -> unmet(Check.LIVENESS, what));
    schedule = cluster.sim().schedule();
    judge = new FleetJudge(fleetWorld, cluster.sim(), this::unmet);
    runs = new FleetRuns(random.split(), schedule, judge);
    callers = new Callers(schedule, random.split(), cluster.store(), cluster.nodes());
    isQuick = fleetWorld.isCalm();
    workers = new WorkerFaults(new SimWorker.Surroundings(fleetWorld, cluster.sim(), judge, cluster.nodes(), bug,
        () -> isQuick, what -> unmet(Check.LIVENESS, what)), random.split(), callers);
    faults = cluster.faults(() -> {});
    faults.watch(judge::disturbed);
    cluster.store().watchCalls((store, scene) -> judge.watch(store));
  }

  private List<Delivery> planners() {
    return fleetWorld.isPlanned() ? List.of(runs.planner()) : List.of();
  }

  /** Runs the simulation of a seed. */
  public static Outcome run(long seed) {
    return run(seed, Bug.NONE, null);
  }

  static Outcome run(long seed, Bug bug, @Nullable Consumer<String> reader) {
    return new FleetSimulation(seed, bug, reader).run();
  }

  private Outcome run() {
    cluster.start();
    putQueue();
    workers.start(fleetWorld.isCalm() ? 1_000 : SEATED_MILLIS);
    long healMillis = SimCluster.HEAL_MILLIS + fleetWorld.restMillis();
    planRuns(healMillis);
    if (!fleetWorld.isCalm()) {
      workers.plan(SimCluster.CHAOS_MILLIS);
    }
    if (fleetWorld.nodesBreak()) {
      faults.plan(SimCluster.CHAOS_MILLIS);
    }
    if (fleetWorld.mode() == FleetWorld.Mode.SUSPENDED) {
      faults.planSuspensions(SimCluster.CHAOS_MILLIS);
    }
    if (fleetWorld.restMillis() > 0) {
      schedule.afterMillis(SimCluster.HEAL_MILLIS - LEFT_MILLIS, workers::leave);
      schedule.afterMillis(SimCluster.HEAL_MILLIS, this::rest);
    }
    schedule.afterMillis(healMillis, this::heal);
    watchNodes();
    long until = TimeUnit.MILLISECONDS.toNanos(healMillis + HEALED_MILLIS);
    boolean[] isOver = new boolean[1];
    for (long at = healMillis + SETTLED_MILLIS; at < healMillis + HEALED_MILLIS; at += CHECK_MILLIS) {
      schedule.afterMillis(at, () -> isOver[0] = judge.isOver(cluster.store().truth()));
    }
    schedule.runWhile(until, () -> !isOver[0]);
    judge.end(cluster.store().truth());
    return new Outcome(List.copyOf(unmet), cluster.sim().trace().hash(), judge.counts());
  }

  private void putQueue() {
    Retry retry = new Retry(Retry.MAX_ATTEMPTS, Duration.ofMillis(100), 2,
        Duration.ofMillis(fleetWorld.world().maxBackoffMillis()), 0.5);
    QueueConfig queue = QueueConfig.builder(FleetRuns.QUEUE, Target.pull()).retry(retry).retainFinished(RETENTION)
        .retainFailed(RETENTION).build();
    callers.untilDone(engine -> engine.putQueue(queue));
  }

  private void planRuns(long healMillis) {
    for (int i = 0; i < RUNS; i++) {
      boolean isLate = i % 3 == 0;
      long firstMillis = isLate ? healMillis : SEATED_MILLIS + 2_000;
      long lastMillis = isLate ? healMillis + PLANNED_MILLIS : SimCluster.HEAL_MILLIS;
      schedule.afterMillis(random.nextLong(firstMillis, lastMillis), this::write);
    }
  }

  /** Writes the tasks of a run, or a task that plans a run when it is due. */
  private void write() {
    SimNode node = callers.someNode();
    Engine engine = node == null ? null : node.engine();
    if (node == null || engine == null) {
      return;
    }
    node.process().run(() -> {
      List<Draft> drafts = fleetWorld.isPlanned() ? List.of(runs.runDraft()) : runs.drafts(engine.fleet());
      CompletableFuture<Void> unused = engine.write(drafts)
          .thenAccept(written -> drafts.forEach(draft -> judge.acked(draft.id())));
    });
  }

  /** Kills all nodes. No node runs until the heal. */
  private void rest() {
    judge.count(FleetCase.SEATS_RESTED);
    judge.disturbed(null);
    cluster.nodes().forEach(SimNode::kill);
  }

  private void heal() {
    isQuick = true;
    judge.disturbed(null);
    if (fleetWorld.nodesBreak()) {
      cluster.heal(faults);
    } else {
      cluster.nodes().forEach(SimNode::start);
    }
    workers.heal(cluster.nodes().stream().filter(faults::isWell).toList());
  }

  /** Counts the seconds in which nodes have different live workers in their fleets. */
  private void watchNodes() {
    schedule.afterMillis(CHECK_MILLIS, () -> {
      Set<Set<String>> seen = new HashSet<>();
      for (SimNode node : cluster.nodes()) {
        Engine engine = node.engine();
        if (engine != null && node.isUp()) {
          Set<String> live = new HashSet<>();
          engine.fleet().seats().stream().filter(Fleet.Seat::isLive).forEach(seat -> live.add(seat.worker()));
          seen.add(live);
        }
      }
      if (seen.size() > 1) {
        judge.count(FleetCase.NODES_DISAGREED);
      }
      watchNodes();
    });
  }

  private void unmet(Check check, String what) {
    if (unmet.stream().filter(each -> each.check() == check).count() < MOST_KEPT) {
      unmet.add(new Unmet(check, what));
    }
  }
}
