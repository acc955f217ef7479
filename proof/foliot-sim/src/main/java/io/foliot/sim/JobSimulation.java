package io.foliot.sim;

import io.foliot.core.coordination.Assignment;
import io.foliot.history.History;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Recurring jobs in the worlds of {@link Simulation}: the same nodes, store, coordinator and receiver, which break in
 * the same ways, and callers who put, pause, resume, trigger, backfill and stop jobs meanwhile, often at the instant of
 * a scheduled time. In some worlds no node runs for up to thirty hours then. It heals, the jobs run on for a while, and
 * {@link JobJudge} judges what became of each scheduled time.
 */
public final class JobSimulation {
  private static final long CHAOS_MILLIS = 45_000;
  private static final long HEAL_MILLIS = CHAOS_MILLIS + 5_000;
  /** Longer than a wake that was lost, the lease of a node that was lost, and the grace of {@link JobJudge}. */
  private static final long HEALED_MILLIS = 110_000;
  private static final long HOUR_MILLIS = 3_600_000;
  private static final long LONGEST_OUTAGE_HOURS = 30;

  /**
   * The result of a run.
   *
   * @param unmet the demands that were not met, each with the check that found it
   * @param traceHash the same for the same seed
   * @param counts how often what came about
   */
  public record Outcome(List<Unmet> unmet, long traceHash, SortedMap<String, Long> counts) {
    /** Returns whether everything was as it should be. */
    public boolean isGood() {
      return unmet.isEmpty();
    }
  }

  /** The checks. */
  public enum Check {
    /** Each scheduled time has exactly one run or one record, at its time or later, and there is no other run. */
    SCHEDULE,
    /** Runs that must not overlap do not. */
    RUNS,
    /** Nothing begins after a pause or a stop that was answered. */
    CHANGE,
    /** The attempts at a shard, over all runs, have growing fences. */
    FENCE,
    /** What is due begins soon after things healed, and a loop sleeps when it has nothing to do. */
    LIVENESS
  }

  /** A demand that was not met. */
  public record Unmet(Check check, String what) {}

  private final World world;
  private final Sim sim;
  private final Schedule schedule = new Schedule();
  private final List<SimNode> nodes = new ArrayList<>();
  private final List<Unmet> unmet = new ArrayList<>();
  private final SimStore store;
  private final SimCoordination coordination;
  private final SimReceiver receiver;
  private final JobCallers callers;
  private final Faults faults;
  private final SplittableRandom luck;
  /** How long no node runs before everything heals, in every tenth world: up to more than a day. */
  private final long outageMillis;

  private JobSimulation(long seed, Bug bug, @Nullable Consumer<String> reader) {
    luck = new SplittableRandom(seed);
    world = World.draw(luck);
    sim = new Sim(world, schedule, new Coverage(), new Trace(schedule, reader));
    if (reader != null) {
      reader.accept(world.toString());
    }
    Map<String, SimNode> byName = new HashMap<>();
    store = new SimStore(world.store(), bug, schedule, luck.split(), sim.coverage(), name -> {
      SimNode node = byName.get(name);
      return node == null ? 0 : node.clock().wallMicros() - schedule.nowMicros();
    });
    coordination = new SimCoordination(sim, luck.split());
    History history = History.inMemory();
    receiver = new SimReceiver(sim, luck.split(), history);
    SimNode.Surroundings surroundings = new SimNode.Surroundings(store, coordination, receiver, bug, true,
        this::assignment, what -> unmet(Check.LIVENESS, what));
    for (int i = 0; i < world.nodes(); i++) {
      SimNode node = new SimNode("n" + i, sim, surroundings, luck.split());
      nodes.add(node);
      byName.put(node.name(), node);
    }
    outageMillis = world.isCalm() || luck.nextInt(10) != 0
        ? 0
        : (1 + luck.nextLong(LONGEST_OUTAGE_HOURS)) * HOUR_MILLIS;
    callers = new JobCallers(sim, history, luck.split(), store, nodes);
    receiver.tell(callers);
    faults = new Faults(sim, history, luck.split(), store, coordination, nodes, () -> {}, bug);
  }

  /** Runs a seed. */
  public static Outcome run(long seed) {
    return run(seed, Bug.NONE, null);
  }

  static Outcome run(long seed, Bug bug, @Nullable Consumer<String> reader) {
    return new JobSimulation(seed, bug, reader).run();
  }

  private @Nullable Assignment assignment() {
    return switch (world.coordination()) {
      case STORE -> store.assignment();
      case SERVICE -> coordination.assignment();
      case NONE -> null;
    };
  }

  private Outcome run() {
    for (SimNode node : nodes) {
      schedule.afterMillis(world.isCalm() ? 0 : luck.nextLong(1_500), node::start);
    }
    callers.start();
    if (world.mode() == World.Mode.UNCOORDINATED) {
      faults.planUncoordinated(CHAOS_MILLIS);
    } else if (!world.isCalm()) {
      faults.plan(CHAOS_MILLIS);
    }
    long healMillis = HEAL_MILLIS + outageMillis;
    if (outageMillis > 0) {
      schedule.afterMillis(HEAL_MILLIS, () -> nodes.forEach(SimNode::kill));
    }
    schedule.afterMillis(healMillis, this::heal);
    schedule.runWhile(TimeUnit.MILLISECONDS.toNanos(healMillis + HEALED_MILLIS), () -> true);
    JobJudge judge = new JobJudge(world, store, schedule.nowMillis(), this::unmet);
    long hash = sim.trace().hash();
    for (JobStory story : callers.stories()) {
      judge.judge(story);
      hash = 31 * hash + story.begun.hashCode();
    }
    return new Outcome(List.copyOf(unmet), hash, judge.counts());
  }

  private void heal() {
    callers.end();
    receiver.heal();
    if (world.mode() == World.Mode.LIVENESS) {
      faults.healCore();
    } else {
      faults.healAll();
    }
  }

  private void unmet(Check check, String what) {
    if (unmet.size() < 10) {
      unmet.add(new Unmet(check, what));
    }
  }
}
