package io.foliot.kill;

import io.foliot.backends.Await;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Random faults of the workers and servers of a {@link WorkerRig}. Several faults may last at the same time, but at
 * most one per process. At most one server is down at a time, and at least one worker has no fault.
 */
final class WorkerFaults {
  private static final int MIN_PAUSE_MILLIS = 100;
  private static final int MAX_PAUSE_MILLIS = 900;
  private static final int MAX_MISSING_MILLIS = 3_000;
  /**
   * Least difference between a worker's pause and its lease. The pause is longer, so another worker takes over the
   * shards.
   */
  private static final int MIN_BEYOND_MILLIS = 1_500;
  private static final int MAX_BEYOND_MILLIS = 5_000;
  /**
   * Least time for which a worker is disabled. It exceeds the time for which {@link ShardJudge} still permits claims of
   * a disabled worker.
   */
  private static final int MIN_DISABLED_MILLIS = 7_000;
  private static final int MAX_DISABLED_MILLIS = 10_000;
  /** Longest wait for a worker that has begun an attempt. */
  private static final int IDLE_MILLIS = 2_000;
  private static final int CHECK_MILLIS = 20;

  /** The faults, each with the number of times that it occurs in twenty draws on average. */
  enum Fault {
    WORKER_KILLED(9), SERVER_KILLED(4), WORKER_PAUSED(3), WORKER_STOPPED(2), WORKER_DISABLED(2);

    private final int weight;

    Fault(int weight) {
      this.weight = weight;
    }

    /** Returns whether this fault ends a process with SIGKILL. */
    boolean isKill() {
      return this == WORKER_KILLED || this == SERVER_KILLED;
    }
  }

  private final WorkerRig rig;
  private final SplittableRandom random;
  private final ExecutorService healers = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<Object, Future<?>> healings = new HashMap<>();
  private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);

  WorkerFaults(WorkerRig rig, SplittableRandom random) {
    this.rig = rig;
    this.random = random;
  }

  /**
   * Kills {@code kills} processes, and injects other faults in between. Waits until all faults are healed. Returns the
   * count of each fault.
   */
  Map<Fault, Integer> kill(int kills) {
    try (healers) {
      for (int killed = 0; killed < kills;) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        Fault fault = draw();
        if (fault == Fault.SERVER_KILLED ? breakServer() : breakWorker(fault)) {
          counts.merge(fault, 1, Integer::sum);
          killed += fault.isKill() ? 1 : 0;
        }
      }
      healings.values().forEach(WorkerFaults::await);
    }
    return counts;
  }

  private Fault draw() {
    int drawn = random.nextInt(List.of(Fault.values()).stream().mapToInt(fault -> fault.weight).sum());
    for (Fault fault : Fault.values()) {
      drawn -= fault.weight;
      if (drawn < 0) {
        return fault;
      }
    }
    throw new IllegalStateException("a draw exceeds the sum of all weights");
  }

  private void heal(Object process, Runnable healing) {
    healings.put(process, healers.submit(healing));
  }

  private static void await(Future<?> healing) {
    try {
      healing.get();
    } catch (ExecutionException e) {
      throw new AssertionError("a fault could not be healed", e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private boolean isWell(Object process) {
    Future<?> healing = healings.get(process);
    if (healing != null && healing.isDone()) {
      await(healing);
      healings.remove(process);
    }
    return !healings.containsKey(process);
  }

  private boolean breakServer() {
    if (!rig.servers.stream().allMatch(this::isWell)) {
      return false;
    }
    ServerProcess server = rig.servers.get(random.nextInt(rig.servers.size()));
    rig.kill(server);
    heal(server, () -> {
      server.start();
      awaitReady(server);
    });
    return true;
  }

  /**
   * Waits until a server is ready. If the server ends, starts it again, as a supervisor does. A server may end because
   * the store is slow on a busy machine.
   */
  static void awaitReady(ServerProcess server) {
    while (!server.becomesReady()) {
      server.start();
    }
    server.awaitReady();
  }

  private boolean breakWorker(Fault fault) {
    WorkerProcess worker = victim();
    if (worker == null) {
      return false;
    }
    long missingMillis = random.nextInt(MAX_MISSING_MILLIS);
    long pausedMillis = WorkerProcess.LEASE.toMillis() + random.nextInt(MIN_BEYOND_MILLIS, MAX_BEYOND_MILLIS);
    long disabledMillis = random.nextInt(MIN_DISABLED_MILLIS, MAX_DISABLED_MILLIS);
    switch (fault) {
      case WORKER_KILLED -> {
        worker.kill();
        heal(worker, () -> {
          Await.pause(missingMillis);
          worker.start();
        });
      }
      case WORKER_PAUSED -> {
        worker.freeze();
        heal(worker, () -> {
          Await.pause(pausedMillis);
          worker.thaw();
        });
      }
      case WORKER_STOPPED -> heal(worker, () -> {
        worker.stop();
        worker.start();
      });
      case WORKER_DISABLED -> heal(worker, () -> rig.disable(worker, disabledMillis));
      case SERVER_KILLED -> throw new IllegalArgumentException("a server is no worker");
    }
    return true;
  }

  /** Returns a worker without a fault, if possible a busy one; null if fewer than two workers have no fault. */
  private @Nullable WorkerProcess victim() {
    List<WorkerProcess> well = rig.workers.stream().filter(this::isWell).filter(WorkerProcess::isStarted).toList();
    if (well.size() < 2) {
      return null;
    }
    for (int waited = 0; waited < IDLE_MILLIS; waited += CHECK_MILLIS) {
      List<WorkerProcess> busy = well.stream().filter(worker -> worker.content().isBusy()).toList();
      if (!busy.isEmpty()) {
        return busy.get(random.nextInt(busy.size()));
      }
      Await.pause(CHECK_MILLIS);
    }
    return well.get(random.nextInt(well.size()));
  }
}
