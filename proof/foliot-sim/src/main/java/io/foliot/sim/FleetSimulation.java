package io.foliot.sim;

import io.foliot.core.QueueConfig;
import io.foliot.core.Retry;
import io.foliot.core.Target;
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
 * Workers over a fleet: two to four engines over one store, which break in the ways of {@link Simulation}, and workers
 * in up to three zones that poll them, work, extend leases and report, and that die, stall, are cut off, move, and are
 * disabled. Runs are planned from the fleet of some node, as jobs plan theirs: tasks for seats, for zones, for one
 * worker only, and for any. It heals, and {@link FleetJudge} judges where each task began, how often, and when.
 */
public final class FleetSimulation {
  /** Until workers have their seats, and nodes their slots. */
  private static final long SEATED_MILLIS = 10_000;
  /** Time after the heal for which runs are planned. */
  private static final long PLANNED_MILLIS = 25_000;
  /** Longer than a lease, the words of a dead node, a backoff, a session, and the polls that find what was left. */
  private static final long HEALED_MILLIS = 110_000;
  private static final long SETTLED_MILLIS = 35_000;
  private static final long LOOK_MILLIS = 1_000;
  /** Some workers go this long before all nodes are down, so that nodes have noted the seats that were left. */
  private static final long LEFT_MILLIS = 25_000;
  private static final int RUNS = 24;
  /** Most broken demands of one check that are kept: one wrong write may break all that follow. */
  private static final int MOST_TOLD = 5;
  private static final Duration RETENTION = Duration.ofDays(3);

  /**
   * The result of a run.
   *
   * @param unmet the demands that were not met, each with the check that found it
   * @param traceHash the same for the same seed
   * @param counts how often each case came about
   */
  public record Outcome(List<Unmet> unmet, long traceHash, SortedMap<String, Long> counts) {
    /** Returns whether everything was as it should be. */
    public boolean isGood() {
      return unmet.isEmpty();
    }
  }

  /** The checks. */
  public enum Check {
    /** A task begins only where its address permits. */
    TARGET,
    /** No task runs twice, but around a lost lease; late reports are refused; a final task stays final. */
    ONCE,
    /** The fences of a task grow. */
    FENCE,
    /** A disabled worker is given nothing. */
    DISABLED,
    /** A seat has one worker, in one zone, and rests before another worker gets it. */
    SEATS,
    /** All that can run has run some time after the heal, and loops sleep when there is nothing to do. */
    LIVENESS,
    /** Without faults a task begins soon after it is due. */
    LATE
  }

  /** A demand that was not met. */
  public record Unmet(Check check, String what) {}

  private final FleetWorld fleetWorld;
  private final SimCluster cluster;
  private final Schedule schedule;
  private final SplittableRandom luck;
  private final List<Unmet> unmet = new ArrayList<>();
  private final FleetJudge judge;
  private final FleetRuns runs;
  private final Callers callers;
  private final WorkerFaults workers;
  private final Faults faults;
  private boolean isQuick;

  private FleetSimulation(long seed, Bug bug, @Nullable Consumer<String> reader) {
    luck = new SplittableRandom(seed);
    fleetWorld = FleetWorld.draw(luck);
    if (reader != null) {
      reader.accept(fleetWorld.toString());
    }
    // The planners are made when nodes start, after the runs.
    cluster = new SimCluster(fleetWorld.world(), luck, bug, new SimNode.Planning(false, process -> planners()), reader,
        what -> unmet(Check.LIVENESS, what));
    schedule = cluster.sim().schedule();
    judge = new FleetJudge(fleetWorld, cluster.sim(), this::unmet);
    runs = new FleetRuns(luck.split(), schedule, judge);
    callers = new Callers(schedule, luck.split(), cluster.store(), cluster.nodes());
    isQuick = fleetWorld.isCalm();
    workers = new WorkerFaults(new SimWorker.Surroundings(fleetWorld, cluster.sim(), judge, cluster.nodes(), bug,
        () -> isQuick, what -> unmet(Check.LIVENESS, what)), luck.split(), callers);
    faults = cluster.faults(() -> {});
    faults.watch(judge::disturbed);
    cluster.store().watchCalls((store, scene) -> judge.watch(store));
  }

  private List<Delivery> planners() {
    return fleetWorld.isPlanned() ? List.of(runs.planner()) : List.of();
  }

  /** Runs a seed. */
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
    if (fleetWorld.restMillis() > 0) {
      schedule.afterMillis(SimCluster.HEAL_MILLIS - LEFT_MILLIS, workers::leave);
      schedule.afterMillis(SimCluster.HEAL_MILLIS, this::rest);
    }
    schedule.afterMillis(healMillis, this::heal);
    watchNodes();
    long until = TimeUnit.MILLISECONDS.toNanos(healMillis + HEALED_MILLIS);
    boolean[] isOver = new boolean[1];
    for (long at = healMillis + SETTLED_MILLIS; at < healMillis + HEALED_MILLIS; at += LOOK_MILLIS) {
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
      schedule.afterMillis(luck.nextLong(firstMillis, lastMillis), this::write);
    }
  }

  /** Writes a run, or the task whose planner plans it. */
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

  /** Until the heal no node runs. */
  private void rest() {
    judge.count(FleetCase.SEATS_RESTED);
    judge.disturbed();
    cluster.nodes().forEach(SimNode::kill);
  }

  private void heal() {
    isQuick = true;
    judge.disturbed();
    if (fleetWorld.nodesBreak()) {
      cluster.heal(faults);
    } else {
      cluster.nodes().forEach(SimNode::start);
    }
    workers.heal(cluster.nodes().stream().filter(faults::isWell).toList());
  }

  private void watchNodes() {
    schedule.afterMillis(LOOK_MILLIS, () -> {
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
    if (unmet.stream().filter(each -> each.check() == check).count() < MOST_TOLD) {
      unmet.add(new Unmet(check, what));
    }
  }
}
