package io.foliot.sim;

import io.foliot.engine.Engine;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** The workers of a simulation, with their faults, their moves, and an operator who disables some of them. */
final class WorkerFaults {
  private static final long FIRST_MILLIS = 2_000;
  private static final int MOST_OF_A_KIND = 4;
  private static final long LONGEST_ABSENCE_MILLIS = 15_000;
  private static final long LONGEST_DISABLED_MILLIS = 20_000;
  private static final long RETRY_MILLIS = 500;
  /** Time after which an unanswered call is repeated. */
  private static final long UNANSWERED_MILLIS = 6_000;
  /** Longest time from the heal until all writes from before the heal, and their retries, have taken effect. */
  private static final long LATEST_DISABLE_MILLIS = 25_000;

  private final FleetWorld world;
  private final Schedule schedule;
  private final SplittableRandom random;
  private final FleetJudge judge;
  private final Callers callers;
  private final SimWorker.Surroundings surroundings;
  private final List<SimWorker> workers = new ArrayList<>();
  /** Workers that stay dead after the heal. */
  private final Set<SimWorker> gone = new HashSet<>();
  /** Workers that are dead until the heal. */
  private final Set<SimWorker> deadUntilHeal = new HashSet<>();
  /** Names of workers that were disabled at some time. */
  private final Set<String> disabled = new HashSet<>();
  private boolean healed;

  WorkerFaults(SimWorker.Surroundings surroundings, SplittableRandom random, Callers callers) {
    this.surroundings = surroundings;
    this.random = random;
    this.callers = callers;
    world = surroundings.world();
    schedule = surroundings.sim().schedule();
    judge = surroundings.judge();
    for (int i = 0; i < world.workers(); i++) {
      newWorker(i % world.zones());
    }
  }

  private SimWorker newWorker(int zone) {
    SimWorker worker = new SimWorker("w" + workers.size(), "zone-" + (char) ('a' + zone), surroundings, random.split());
    workers.add(worker);
    return worker;
  }

  /** Starts each worker at a random time within a period. */
  void start(long millis) {
    workers.forEach(worker -> schedule.afterMillis(random.nextLong(millis), () -> worker.start(false)));
  }

  /** Plans random faults within the next {@code millis}. */
  void plan(long millis) {
    List<Runnable> kinds = List.of(this::die, this::stall, this::cut, this::move, this::disable, this::vanish,
        this::join);
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

  private SimWorker someWorker() {
    return workers.get(random.nextInt(workers.size()));
  }

  private void unlessHealed(long millis, Runnable action) {
    schedule.afterMillis(millis, () -> {
      if (!healed) {
        action.run();
      }
    });
  }

  private void die() {
    SimWorker worker = someWorker();
    if (worker.isAlive()) {
      judge.count(FleetCase.WORKER_DIED);
      worker.die();
      comeBack(worker, random.nextLong(LONGEST_ABSENCE_MILLIS));
    }
  }

  private void comeBack(SimWorker worker, long afterMillis) {
    unlessHealed(afterMillis, () -> {
      if (deadUntilHeal.contains(worker)) {
        return;
      }
      boolean isNewName = random.nextBoolean();
      judge.count(isNewName ? FleetCase.WORKER_CAME_UNDER_A_NEW_NAME : FleetCase.WORKER_CAME_BACK);
      worker.start(isNewName);
    });
  }

  private void stall() {
    SimWorker worker = someWorker();
    if (worker.isAlive() && !worker.isPaused()) {
      judge.count(FleetCase.WORKER_STALLED);
      worker.pause();
      unlessHealed(world.leaseMillis() + random.nextLong(6_000), worker::resume);
    }
  }

  private void cut() {
    SimWorker worker = someWorker();
    judge.count(FleetCase.WORKER_CUT_OFF);
    worker.cut(true);
    unlessHealed(random.nextLong(LONGEST_ABSENCE_MILLIS), () -> worker.cut(false));
  }

  private void move() {
    SimWorker worker = someWorker();
    if (worker.isAlive()) {
      judge.count(worker.isPolling() ? FleetCase.POLL_ABANDONED : FleetCase.WORKER_MOVED);
      worker.moveAtOnce(surroundings.nodes().get(random.nextInt(surroundings.nodes().size())));
    }
  }

  /** Kills or cuts off all workers of a zone, until a random time. */
  private void vanish() {
    judge.count(FleetCase.ZONE_VANISHED);
    String zone = someWorker().zone();
    boolean isCut = random.nextBoolean();
    long millis = random.nextLong(LONGEST_ABSENCE_MILLIS);
    for (SimWorker worker : workers) {
      if (!worker.zone().equals(zone)) {
        continue;
      }
      if (isCut) {
        worker.cut(true);
        unlessHealed(millis, () -> worker.cut(false));
      } else if (worker.isAlive()) {
        worker.die();
        comeBack(worker, millis + random.nextLong(1_000));
      }
    }
  }

  private void join() {
    judge.count(FleetCase.WORKER_JOINED);
    newWorker(random.nextInt(world.zones())).start(false);
  }

  // The operator.

  private void disable() {
    SimWorker worker = someWorker();
    if (!worker.isAlive()) {
      return;
    }
    disabled.add(worker.name());
    String name = worker.name();
    set(worker, false, () -> healed, () -> {
      judge.count(FleetCase.WORKER_DISABLED);
      unlessHealed(random.nextLong(LONGEST_DISABLED_MILLIS), () -> enable(worker, name));
    });
  }

  private void enable(SimWorker worker, String name) {
    set(worker, true, () -> !worker.isAlive() || !worker.name().equals(name),
        () -> judge.count(FleetCase.WORKER_ENABLED));
  }

  /** The condition under which a change is no longer repeated. */
  private interface Moot {
    boolean isMoot();
  }

  /** Enables or disables a worker. Repeats the call until it succeeds or is moot, or the worker's process is dead. */
  private void set(SimWorker worker, boolean isEnabled, Moot moot, Runnable then) {
    String name = worker.name();
    if (moot.isMoot() || !worker.isAlive()) {
      return;
    }
    worker.changing();
    SimNode node = callers.someNode();
    Engine engine = node == null ? null : node.engine();
    boolean[] answered = new boolean[1];
    Predicate<SimWorker> isSame = each -> each.isAlive() && each.name().equals(name);
    if (node != null && engine != null) {
      node.process().run(() -> {
        CompletableFuture<?> unused = engine.enableWorker(name, isEnabled).whenComplete((known, failure) -> {
          if (!answered[0] && Boolean.TRUE.equals(known) && isSame.test(worker)) {
            answered[0] = true;
            worker.changed(isEnabled);
            then.run();
          }
        });
      });
    }
    schedule.afterMillis(node == null ? RETRY_MILLIS : UNANSWERED_MILLIS, () -> {
      if (!answered[0] && isSame.test(worker)) {
        answered[0] = true;
        if (node != null) {
          worker.changeUnanswered();
        }
        set(worker, isEnabled, moot, then);
      }
    });
  }

  /** Kills about half of the workers until the heal. A worker that starts again at the heal gets a new name. */
  void leave() {
    for (SimWorker worker : workers) {
      if (random.nextBoolean()) {
        deadUntilHeal.add(worker);
        worker.die();
      }
    }
  }

  /** Ends all faults, but kills some workers permanently. Each zone keeps at least one worker. */
  void heal(List<SimNode> well) {
    healed = true;
    for (int i = world.zones(); i < workers.size(); i++) {
      SimWorker worker = workers.get(i);
      if (!world.isCalm() && random.nextInt(4) == 0) {
        judge.count(FleetCase.WORKER_STAYED_GONE);
        gone.add(worker);
        worker.die();
      }
    }
    for (SimWorker worker : workers) {
      if (!gone.contains(worker) && !world.isCalm()) {
        worker.heal(well, deadUntilHeal.contains(worker) || random.nextBoolean());
        String name = worker.name();
        if (disabled.contains(name)) {
          enable(worker, name);
          // An unanswered disable from before the heal may take effect after this enable.
          schedule.afterMillis(LATEST_DISABLE_MILLIS, () -> enable(worker, name));
        }
      }
    }
  }
}
