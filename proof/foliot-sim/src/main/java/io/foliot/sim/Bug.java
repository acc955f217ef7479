package io.foliot.sim;

import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.store.TaskStore;
import io.foliot.history.Violation.Kind;
import io.foliot.sim.JobSimulation.Check;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A planted bug, usually in a wrapper around a store, a coordinator or a clock. The simulation must detect each bug in
 * the way stated here: by an unmet demand, a kind of violation, or a check. A simulation that misses a planted bug
 * could miss a real one.
 */
enum Bug {
  /** No bug. */
  NONE(false),
  /** Calls are answered before they are synced, so the store loses the last writes in an outage. */
  ACK_BEFORE_SYNC(false, Kind.LOST),
  /** A failover loses the writes of a period that is ten times as long as the store states. */
  LOSES_MORE_THAN_STATED(false, Kind.LOST),
  /** The store checks claims by a clock that is half a second fast. */
  CLAIM_EARLY(false, Kind.EARLY),
  /** The store checks claims by the clock of the calling node. */
  LEASE_BY_NODE_CLOCK(false, Kind.EARLY),
  /** A claim wins even if the task cannot be claimed, and returns the latest won claim of that task. */
  CLAIM_WITHOUT_COMPARE(false, Kind.FENCE),
  /** A claim does not check whether another attempt's lease has expired. */
  STEALS_LIVE_CLAIMS(false, Kind.CANCEL, Kind.STALE, Kind.DUP, Kind.ZOMBIE),
  /** A claim of a due task is not written before its settle. */
  CLAIM_WITHOUT_WRITE(false, Kind.FENCE, Kind.CANCEL, Kind.STALE),
  /** Every attempt of a firing has the number 1. */
  RETRY_FORGETS_ATTEMPTS(false, Kind.FENCE),
  /** A settle is applied to the latest claim of its task, even with another token. */
  SETTLE_WITHOUT_TOKEN(false, Kind.LOST, Kind.CANCEL, Kind.STALE, Kind.FENCE, Kind.ZOMBIE),
  /** Some settles are answered but not written. */
  SETTLE_FORGOTTEN(false, Kind.ZOMBIE, Kind.DUP),
  /** A cancel is answered but changes nothing. */
  CANCEL_IGNORES_THE_TASK(false, Kind.CANCEL),
  /** A cancel of a running task is answered like that of a delayed task, but changes nothing. */
  CANCEL_IGNORES_THE_CLAIM(false, Kind.CANCEL),
  /** A touch is answered but changes nothing. */
  TOUCH_IGNORES_THE_TASK(false, Kind.STALE, Kind.LOST, Kind.FIRING, Kind.EARLY),
  /** After a reset, the replaced generation can still be claimed. */
  RESET_KEEPS_OLD_CLAIMABLE(false, Kind.STALE, Kind.EARLY),
  /** A submit that resets a running task writes no successor. */
  SUCCESSOR_FORGOTTEN(false, Kind.LOST),
  /** Each submit that resets a task returns the generation of the first submit. */
  GENERATION_REPEATED(false, Kind.FIRING),
  /** Idempotency keys are ignored. */
  IDEMPOTENCY_IGNORED(false, Kind.FIRING),
  /** A redrive is answered but changes nothing. */
  REDRIVE_FORGOTTEN(false, Kind.LOST),
  /** Every failed submit, touch or cancel is reported as a call without effect. */
  FAILURES_COUNT_AS_UNDONE(false, Kind.GHOST, Kind.CANCEL, Kind.STALE, Kind.FIRING, Kind.LOST),
  /** Scans return no entry whose time has passed, as if there were no head poll. */
  CURSOR_WITHOUT_HEAD_POLL(true, Kind.LOST),
  /** Scans return no entry that is overdue by more than two seconds. */
  HEAD_POLL_MISSES_OLD_ENTRIES(true, Kind.LOST),
  /** Scans return no running task, so an expired lease is never found. */
  EXPIRED_LEASES_ARE_MISSED(true, Kind.LOST),
  /** Other nodes do not find the entries that a node has parked. */
  PARKED_HIDDEN_FROM_OTHER_NODES(true, Kind.LOST),
  /** No node finds overdue tasks in the slots of other nodes. */
  OVERDUE_POLL_OFF(true, Kind.LOST),
  /** Nodes measure waits by the wall clock. */
  WALL_CLOCK_WAIT(true, Kind.LOST),
  /** A member whose session has ended ignores all later notifications. */
  IGNORES_VIEWS_ONCE_LOST(true),
  /** A node gives up its slots when it loses its session. */
  OWNS_NOTHING_WHEN_LOST(true),
  /** The leader never renews the assignment. */
  ASSIGNED_ONCE(true),
  /** A node claims tasks for which it has no handler. */
  CLAIMS_WITHOUT_HANDLER(true),
  /** The store's answer whether a queue has live tasks may be ten seconds old. */
  HAS_LIVE_IS_CACHED(true),
  /** A claim is not refused after the permits of its node have expired. */
  PERMITS_NEVER_EXPIRE(true),
  /** The permits of a dead node are free at once, even while attempts of that node hold leases. */
  PERMITS_OF_THE_DEAD_ARE_FREE(true),
  /** Some planning passes are written without the shards of the runs that they start. */
  PLAN_WITHOUT_SHARDS(Check.SCHEDULE),
  /** Some planning passes insert shards, but do not change the record of the job. */
  SHARDS_WITHOUT_PLAN(Check.SCHEDULE),
  /** Some planning passes insert each shard twice, the second time with a random id. */
  SHARDS_TWICE(Check.SCHEDULE),
  /** No planning pass polls for ended shards, so the end of a shard is missed if its wake is lost. */
  ENDS_ARE_NOT_POLLED(Check.LIVENESS),
  /** If a wake arrives during a planning pass, the shards of that pass are not inserted. */
  WAKE_DROPS_SHARDS(Check.SCHEDULE),
  /** A planning pass whose lease has expired overwrites later changes. */
  PLAN_OF_A_LOST_LEASE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A planning pass reads the clock of its node instead of the store's clock. */
  PLANNED_BY_NODE_CLOCK(Check.SCHEDULE),
  /** A change of a job overwrites changes that were made since the caller read the job. */
  CHANGE_WITHOUT_COMPARE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A running shard is treated as ended. */
  RUNNING_IS_ENDED(Check.RUNS),
  /** A listener is treated as ended while it runs. */
  LISTENER_COUNTS_AS_ENDED(Check.LISTENER),
  /** The listener that runs after the last shard is not inserted. */
  LISTENER_IS_FORGOTTEN(Check.LISTENER),
  /** The shards of a stopped or replaced run are not cancelled. */
  STOP_CANCELS_NOTHING(Check.CHANGE),
  /** A deletion of a job is answered but does not cancel the job. */
  DELETE_CANCELS_NOTHING(Check.CHANGE),
  /** Planning passes do not know how many shards the jobs of a queue may have. */
  SHARDS_WITHOUT_BOUND(Check.ROOM),
  /** The fence of a shard, (generation, attempt), starts again with each run. */
  FENCE_STARTS_AGAIN(Check.FENCE),
  /** A task for a seat gets substitutes of all zones, although they must be of the seat's zone. */
  SUBSTITUTE_OF_ANOTHER_ZONE(FleetSimulation.Check.TARGET),
  /** A task that only one worker may run gets substitutes of that worker. */
  ONLY_HAS_SUBSTITUTES(FleetSimulation.Check.TARGET),
  /** Tasks for a zone run at any worker. */
  ZONE_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** Tasks for a seat run at any worker. */
  SEAT_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** A node gets no zone from a worker. */
  ZONE_OF_WORKER_IS_LOST(FleetSimulation.Check.TARGET),
  /** A seat has the same number for all its workers, one after another. */
  TENANCY_IS_FORGOTTEN(FleetSimulation.Check.TARGET),
  /** A free seat is given to another worker at once. */
  SEAT_WITHOUT_REST(FleetSimulation.Check.SEATS),
  /** A free seat is given to a worker of another zone. */
  SEAT_CHANGES_ITS_ZONE(FleetSimulation.Check.SEATS),
  /** The seats are written without a comparison of versions. */
  SEATS_WITHOUT_COMPARE(FleetSimulation.Check.SEATS),
  /** Nodes read each worker as enabled. */
  DISABLED_COUNT_AS_ENABLED(FleetSimulation.Check.DISABLED),
  /** A worker's report is applied to the latest claim of its task, even with another token. */
  LATE_REPORT_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** Some tasks run again after they have succeeded. */
  FINISHED_RUNS_AGAIN(FleetSimulation.Check.ONCE),
  /** A claim does not check whether another claim's lease has ended. */
  LIVE_LEASE_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** Every attempt of a worker's task has the number 1. */
  ATTEMPT_STARTS_AGAIN(FleetSimulation.Check.FENCE),
  /** An attempt that did not begin counts. */
  NOT_BEGUN_COUNTS(FleetSimulation.Check.FENCE),
  /** The end of a lease is recorded only by a claim that begins the next attempt. */
  LEASES_END_AT_CLAIMS(FleetSimulation.Check.LIVENESS),
  /** Parked tasks with an address are never found. */
  PARKED_ADDRESSES_ARE_LOST(FleetSimulation.Check.LIVENESS),
  /** Queues with parked tasks are listed only in every fourth second. */
  PARKED_ARE_LISTED_SELDOM(FleetSimulation.Check.LATE),
  /** A node's list of its live workers never expires, so dead workers keep their seats. */
  VOUCHERS_NEVER_EXPIRE(FleetSimulation.Check.LIVENESS);

  /**
   * Length of the period of writes that an outage additionally loses if calls are answered before they are synced.
   */
  private static final long UNSYNCED_MILLIS = 500;
  /** Factor by which the lost period exceeds the stated one. */
  private static final int LOSS_FACTOR = 10;

  /** Whether an unmet demand of the simulation detects the bug. */
  private final boolean isDemandUnmet;
  @SuppressWarnings("ImmutableEnumChecker") // filled once
  private final Set<Kind> kinds;
  @SuppressWarnings("ImmutableEnumChecker") // filled once
  private final Set<Check> checks;
  private final FleetSimulation.@Nullable Check fleetCheck;

  /** Creates a bug of a store, a coordinator or a clock. */
  Bug(boolean isDemandUnmet, Kind... kinds) {
    this.isDemandUnmet = isDemandUnmet;
    this.kinds = EnumSet.noneOf(Kind.class);
    this.kinds.addAll(Set.of(kinds));
    checks = EnumSet.noneOf(Check.class);
    fleetCheck = null;
  }

  /** Creates a bug of recurring jobs. */
  Bug(Check first, Check... others) {
    isDemandUnmet = false;
    kinds = EnumSet.noneOf(Kind.class);
    checks = EnumSet.of(first, others);
    fleetCheck = null;
  }

  /** Creates a bug of workers and their fleet. */
  Bug(FleetSimulation.Check check) {
    isDemandUnmet = false;
    kinds = EnumSet.noneOf(Kind.class);
    checks = EnumSet.noneOf(Check.class);
    fleetCheck = check;
  }

  /** Returns the check that detects this bug, or null if this is not a bug of workers. */
  FleetSimulation.@Nullable Check fleetCheck() {
    return fleetCheck;
  }

  /** Returns whether this is a bug of workers. */
  boolean isOfFleet() {
    return fleetCheck != null;
  }

  /** Returns whether a check that should detect this bug has failed in a run. */
  boolean isSeenIn(FleetSimulation.Outcome outcome) {
    return outcome.unmet().stream().anyMatch(unmet -> unmet.check() == fleetCheck);
  }

  /** Returns the zone that a node receives from a worker. */
  String zoneOf(String zone) {
    return this == ZONE_OF_WORKER_IS_LOST ? "" : zone;
  }

  /** Returns whether this is a bug of recurring jobs. */
  boolean isOfJobs() {
    return !checks.isEmpty();
  }

  /** Returns whether a check that should detect this bug has failed in a run. */
  boolean isSeenIn(JobSimulation.Outcome outcome) {
    return outcome.unmet().stream().anyMatch(unmet -> checks.contains(unmet.check()));
  }

  /** Returns whether a check that should detect this bug has failed in a run. */
  boolean isSeenIn(Simulation.Outcome outcome) {
    return (isDemandUnmet && !outcome.unmet().isEmpty())
        || kinds.stream().anyMatch(kind -> outcome.verdict().total(kind) > 0);
  }

  /** Returns the store with this bug if it is a bug of the store, else the given store. */
  TaskStore wrap(TaskStore sound, SimStore.Scene scene) {
    if (this == NONE) {
      return sound;
    }
    if (isOfFleet()) {
      return BrokenFleetStores.of(this, sound, scene);
    }
    return isOfJobs() ? BrokenJobStores.of(this, sound, scene) : BrokenStores.of(this, sound, scene);
  }

  /** Returns the store that a node calls: with this bug if it is between a node and its store, else the given store. */
  TaskStore link(TaskStore sound) {
    return switch (this) {
      case FAILURES_COUNT_AS_UNDONE -> new BrokenStores.FailuresAsUndone(sound);
      case PERMITS_NEVER_EXPIRE -> new BrokenStores.UnlimitedPermits(sound);
      case PERMITS_OF_THE_DEAD_ARE_FREE -> new BrokenStores.NoneRunning(sound);
      default -> sound;
    };
  }

  /** Returns how far back, in milliseconds, an outage or a failover loses writes. */
  long lostMillis(SimStore.Behaviour behaviour, long allowedMillis) {
    return switch (this) {
      case ACK_BEFORE_SYNC -> allowedMillis + UNSYNCED_MILLIS;
      case LOSES_MORE_THAN_STATED -> behaviour.windowMillis() * LOSS_FACTOR;
      default -> allowedMillis;
    };
  }

  /** Returns the coordinator with this bug if it is a bug of the coordinator, else the given coordinator. */
  Coordinator wrap(Coordinator sound) {
    return switch (this) {
      case IGNORES_VIEWS_ONCE_LOST -> new DeafCoordinator(sound);
      case ASSIGNED_ONCE -> new MuteCoordinator(sound);
      case OWNS_NOTHING_WHEN_LOST -> new HarshCoordinator(sound);
      default -> sound;
    };
  }

  /** Returns the clock with this bug if it is a bug of the clock, else the given clock. */
  TimeSource clock(TimeSource sound) {
    return this == WALL_CLOCK_WAIT ? new WallClock(sound) : sound;
  }

  /** A clock whose monotonic time is its wall time. */
  private record WallClock(TimeSource sound) implements TimeSource {
    @Override
    public long wallMicros() {
      return sound.wallMicros();
    }

    @Override
    public long monotonicNanos() {
      return sound.wallMicros() * 1_000;
    }
  }

  private abstract static class BrokenCoordinator implements Coordinator {
    final Coordinator sound;

    BrokenCoordinator(Coordinator sound) {
      this.sound = sound;
    }

    @Override
    public String kind() {
      return sound.kind();
    }

    @Override
    public void join(Member self, Listener listener) {
      sound.join(self, listener);
    }

    @Override
    public void update(Member self) {
      sound.update(self);
    }

    @Override
    public void publish(byte[] document, long expectedVersion) {
      sound.publish(document, expectedVersion);
    }

    @Override
    public void close() {
      sound.close();
    }
  }

  /** Ignores all notifications after the notification that the session has ended. */
  private static final class DeafCoordinator extends BrokenCoordinator {
    private boolean lost;

    DeafCoordinator(Coordinator sound) {
      super(sound);
    }

    @Override
    public void join(Member self, Listener listener) {
      super.join(self, view -> {
        if (!lost) {
          lost = view.connection() == Connection.LOST;
          listener.changed(view);
        }
      });
    }
  }

  /** Reports a lost session as {@link Coordinator.Connection#DISPLACED}, so a node gives up its slots. */
  private static final class HarshCoordinator extends BrokenCoordinator {
    HarshCoordinator(Coordinator sound) {
      super(sound);
    }

    @Override
    public void join(Member self, Listener listener) {
      super.join(self, view -> listener.changed(view.connection() == Connection.LOST
          ? new View(Connection.DISPLACED, view.members(), view.leader(), view.document(), view.version())
          : view));
    }
  }

  /** Publishes the first assignment only. */
  private static final class MuteCoordinator extends BrokenCoordinator {
    MuteCoordinator(Coordinator sound) {
      super(sound);
    }

    @Override
    public void publish(byte[] document, long expectedVersion) {
      if (expectedVersion == 0) {
        super.publish(document, expectedVersion);
      }
    }
  }
}
