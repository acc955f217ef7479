package io.foliot.sim;

import io.foliot.api.QueueFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of recurring jobs in the worlds of {@link Simulation}: the same nodes, store, coordinator and receiver
 * have the same faults. Meanwhile callers put, pause, resume, trigger, backfill, stop and delete jobs, often close to a
 * scheduled time. Then, in some worlds, no node runs for up to {@value #LONGEST_OUTAGE_HOURS} hours. After that, all
 * faults end, or enough of them for due tasks to run. The jobs continue for {@value #HEALED_MILLIS} ms, and
 * {@link JobJudge} checks the result of each scheduled time.
 */
public final class JobSimulation {
  /** Time after the heal. It exceeds the lease of a dead node, and the delays that {@link JobJudge} tolerates. */
  private static final long HEALED_MILLIS = 110_000;
  /** The limit of unfinished shards in half of the worlds: one run of the largest size. */
  private static final int FEW_SHARDS = 3;
  private static final long HOUR_MILLIS = 3_600_000;
  private static final long LONGEST_OUTAGE_HOURS = 30;
  /** Bound of the times around a store's clock that is ahead: its lead, when it is set, and when it is right again. */
  private static final long LEAST_AHEAD_MILLIS = 15_000;

  /**
   * The result of a simulation.
   *
   * @param unmet the demands that were not met, each with the check that found it
   * @param traceHash a hash of all events, which is the same for the same seed
   * @param counts how often each kind of observation was made
   */
  public record Outcome(List<Unmet> unmet, long traceHash, SortedMap<String, Long> counts) {
    /** Returns whether every demand was met. */
    public boolean isGood() {
      return unmet.isEmpty();
    }
  }

  /** The checks. */
  public enum Check {
    /** Each scheduled time has exactly one run or one record. No run is early, and every further run was requested. */
    SCHEDULE,
    /** Runs do not overlap if the job forbids overlaps. */
    RUNS,
    /** Listeners run before the first shard and after the last one. A listener after the shards gets the result. */
    LISTENER,
    /** No shard begins after the answer to a pause, a stop or a deletion that forbids it. */
    CHANGE,
    /** No run of a job begins while the job alone has as many unfinished shards as its queue permits. */
    ROOM,
    /** The fence of a shard, (generation, attempt), grows over all runs of a job that forbids overlaps. */
    FENCE,
    /** Jobs continue soon after the heal, each call of a caller returns, and idle loops sleep. */
    LIVENESS
  }

  /** A demand that was not met. */
  public record Unmet(Check check, String what) {}

  private final SimCluster cluster;
  private final List<Unmet> unmet = new ArrayList<>();
  private final JobCallers callers;
  private final Faults faults;
  /**
   * Length of the period before the heal in which no node runs: 0 except in a tenth of the worlds that are not calm.
   */
  private final long outageMillis;
  private final SplittableRandom clocks;
  private final int maxShards;
  /** Whether the store's clock is ahead for some seconds. */
  private boolean setsClock;

  private JobSimulation(long seed, Bug bug, @Nullable Consumer<String> reader) {
    SplittableRandom random = new SplittableRandom(seed);
    clocks = new SplittableRandom(~seed);
    cluster = new SimCluster(random, bug, true, reader, what -> unmet(Check.LIVENESS, what));
    World world = cluster.world();
    outageMillis = world.isCalm() || random.nextInt(10) != 0
        ? 0
        : (1 + random.nextLong(LONGEST_OUTAGE_HOURS)) * HOUR_MILLIS;
    maxShards = clocks.nextBoolean() ? FEW_SHARDS : Objects.requireNonNull(QueueFields.MAX_SHARDS.standard());
    callers = new JobCallers(cluster.sim(), cluster.history(), random.split(), cluster.store(), cluster.nodes(), bug,
        maxShards);
    cluster.receiver().setListener(callers);
    faults = cluster.faults(() -> {});
  }

  /** Runs the simulation of a seed. */
  public static Outcome run(long seed) {
    return run(seed, Bug.NONE, null);
  }

  static Outcome run(long seed, Bug bug, @Nullable Consumer<String> reader) {
    return new JobSimulation(seed, bug, reader).run();
  }

  /**
   * Runs the simulation of a seed in which the store's clock is ahead for some seconds, by up to an hour in a calm
   * world. In other worlds the lead is short, because the leases of nodes that die meanwhile must end before the end.
   * Only the checks that do not compare times of the store with the virtual time are made. A store that forgets writes
   * keeps its clock.
   */
  static Outcome runWithClockSet(long seed) {
    JobSimulation simulation = new JobSimulation(seed, Bug.NONE, null);
    simulation.setsClock = true;
    return simulation.run();
  }

  private void planClock(Schedule schedule) {
    SimStore store = cluster.store();
    if (store.behaviour().windowMillis() > 0) {
      return;
    }
    long aheadMillis = LEAST_AHEAD_MILLIS
        + clocks.nextLong(cluster.world().isCalm() ? HOUR_MILLIS : LEAST_AHEAD_MILLIS);
    long fromMillis = LEAST_AHEAD_MILLIS + clocks.nextLong(LEAST_AHEAD_MILLIS);
    schedule.afterMillis(fromMillis, () -> store.setClock(aheadMillis));
    schedule.afterMillis(fromMillis + clocks.nextLong(LEAST_AHEAD_MILLIS), () -> store.setClock(0));
  }

  private Outcome run() {
    Schedule schedule = cluster.sim().schedule();
    if (setsClock) {
      planClock(schedule);
    }
    cluster.start();
    callers.start();
    cluster.plan(faults);
    long healMillis = SimCluster.HEAL_MILLIS + outageMillis;
    if (outageMillis > 0) {
      schedule.afterMillis(SimCluster.HEAL_MILLIS, () -> cluster.nodes().forEach(SimNode::killUntilHealed));
    }
    schedule.afterMillis(healMillis, () -> {
      if (outageMillis > 0 && cluster.nodes().stream().anyMatch(SimNode::isUp)) {
        throw new IllegalStateException("a node is up during the outage of all nodes");
      }
      callers.end();
      cluster.heal(faults);
    });
    schedule.runWhile(TimeUnit.MILLISECONDS.toNanos(healMillis + HEALED_MILLIS), () -> true);
    JobJudge judge = new JobJudge(cluster.world(), cluster.store(), schedule.nowMillis(), maxShards, this::unmet);
    long hash = cluster.sim().trace().hash();
    for (JobStory story : callers.stories()) {
      if (setsClock) {
        judge.judgeAfterClockSet(story);
      } else {
        judge.judge(story);
      }
      hash = 31 * hash + story.begun.hashCode();
    }
    if (!setsClock) {
      callers.shortLived().forEach(judge::judgeDeleted);
    }
    return new Outcome(List.copyOf(unmet), hash, judge.counts());
  }

  private void unmet(Check check, String what) {
    if (unmet.size() < 10) {
      unmet.add(new Unmet(check, what));
    }
  }
}
