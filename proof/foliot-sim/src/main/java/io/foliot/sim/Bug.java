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
 * A planted bug, made by a wrapper around a store, a coordinator or a clock. The simulation must catch each bug, as one
 * of the kinds that are stated here. Otherwise a simulation that finds nothing would prove nothing.
 */
enum Bug {
  /** No bug. */
  NONE(false),
  /** Submits are answered before they are synced: after an outage the store lacks the last of them. */
  ACK_BEFORE_SYNC(false, Kind.LOST),
  /** A store of durability class B loses the writes of ten times the period that it states. */
  LOSES_MORE_THAN_IT_SAYS(false, Kind.LOST),
  /** The store decides claims by a clock that is half a second fast. */
  CLAIM_EARLY(false, Kind.EARLY),
  /** The store decides claims by the clock of the node that claims. */
  LEASE_BY_NODE_CLOCK(false, Kind.EARLY),
  /** A claim of a running task wins, and returns the claim that the task already has. */
  CLAIM_WITHOUT_COMPARE(false, Kind.FENCE),
  /** A claim does not check whether another attempt's lease has expired. */
  STEALS_LIVE_CLAIMS(false, Kind.CANCEL, Kind.STALE, Kind.DUP, Kind.ZOMBIE),
  /** The owner of a slot fires its tasks without writing the claim. */
  OWNERSHIP_IS_LICENCE(false, Kind.FENCE, Kind.CANCEL, Kind.STALE),
  /** Every attempt of a firing has the number 1. */
  RETRY_FORGETS_ATTEMPTS(false, Kind.FENCE),
  /** A settle is applied to the latest claim of its task, whatever its token. */
  SETTLE_WITHOUT_TOKEN(false, Kind.LOST, Kind.CANCEL, Kind.STALE, Kind.FENCE, Kind.ZOMBIE),
  /** Some settles are answered but not written. */
  SETTLE_FORGOTTEN(false, Kind.ZOMBIE, Kind.DUP),
  /** A cancel is answered but changes nothing. */
  CANCEL_IGNORES_THE_TASK(false, Kind.CANCEL),
  /** A cancel of a running task is answered as of a delayed one, and changes nothing. */
  CANCEL_IGNORES_THE_CLAIM(false, Kind.CANCEL),
  /** A touch is answered but changes nothing. */
  TOUCH_IGNORES_THE_TASK(false, Kind.STALE, Kind.LOST, Kind.FIRING, Kind.EARLY),
  /** After a reset the generation before it can still be claimed. */
  RESET_KEEPS_OLD_CLAIMABLE(false, Kind.STALE, Kind.EARLY),
  /** A submit that resets a running task writes no successor. */
  SUCCESSOR_FORGOTTEN(false, Kind.LOST),
  /** Every reset of a task returns the generation of its first submit. */
  GENERATION_REPEATED(false, Kind.FIRING),
  /** Idempotency keys are ignored. */
  IDEMPOTENCY_IGNORED(false, Kind.FIRING),
  /** A redrive is answered but changes nothing. */
  REDRIVE_FORGOTTEN(false, Kind.LOST),
  /** A call whose reply was lost is reported as having had no effect. */
  UNKNOWN_IS_SAID_TO_BE_NOTHING(false, Kind.GHOST, Kind.CANCEL, Kind.STALE, Kind.FIRING, Kind.LOST),
  /** Scans return no entry whose time has passed, as with a prefetch cursor and no head poll. */
  CURSOR_WITHOUT_HEAD_POLL(true, Kind.LOST),
  /** Head polls find no entry that is overdue by more than two seconds. */
  HEAD_POLL_LOOKS_BACK_BRIEFLY(true, Kind.LOST),
  /** Scans do not return running tasks, so that an expired lease is never found. */
  LEASE_WITHOUT_EXIT(true, Kind.LOST),
  /** Other nodes do not find the entries that a node has parked. */
  PARKED_LEAVE_WITH_THEIR_NODE(true, Kind.LOST),
  /** No node polls the slots of others. */
  OVERDUE_POLL_OFF(true, Kind.LOST),
  /** Nodes measure waits by the wall clock. */
  WALL_CLOCK_WAIT(true, Kind.LOST),
  /** A member whose session has ended ignores all later notifications. */
  LOST_FOR_GOOD(true),
  /** A node gives up its slots when it loses its session. */
  OWNS_NOTHING_WHEN_LOST(true),
  /** The leader never renews the assignment. */
  ASSIGNED_ONCE(true),
  /** A node claims tasks for which it has no handler. */
  CLAIMS_WITHOUT_HANDLER(true),
  /** The answer whether a queue has live tasks may be some seconds old. */
  LIVE_TASKS_ARE_REMEMBERED(true),
  /** A claim is not refused when the permits of its node have ended. */
  PERMITS_WITHOUT_END(true),
  /** The permits of a dead node are free at once, even if it has begun attempts. */
  PERMITS_OF_THE_DEAD_ARE_FREE(true),
  /** Some planning passes of a job are written without the shards that they begin. */
  PLAN_WITHOUT_SHARDS(Check.SCHEDULE),
  /** Some passes insert the shards that they begin, but leave the record of the job as it was. */
  SHARDS_WITHOUT_PLAN(Check.SCHEDULE),
  /** Some passes insert each shard twice, once with an id that does not follow from its time. */
  SHARDS_TWICE(Check.SCHEDULE),
  /** A job learns of ended shards only by the wake at the end of a shard, because it does not poll them. */
  ENDS_WITHOUT_POLL(Check.LIVENESS),
  /** If a wake arrives during a pass, the shards that the pass begins are not inserted. */
  WAKE_DROPS_SHARDS(Check.SCHEDULE),
  /** A planner that was paused beyond its lease overwrites later changes. */
  PLAN_OF_A_LOST_LEASE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A pass reads the clock of its node instead of the store's. */
  PLANNED_BY_NODE_CLOCK(Check.SCHEDULE),
  /** A change of a job overwrites changes made since the caller read it. */
  CHANGE_WITHOUT_COMPARE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A running shard counts as ended. */
  RUNNING_IS_ENDED(Check.RUNS),
  /** The task before the shards of a run counts as ended while it runs. */
  SHARDS_UNPREPARED(Check.LISTENER),
  /** The task after the shards of a run is not inserted. */
  LISTENER_IS_FORGOTTEN(Check.LISTENER),
  /** A run that is stopped or replaced continues. */
  STOP_CANCELS_NOTHING(Check.CHANGE),
  /** A deleted job continues. */
  DELETE_CANCELS_NOTHING(Check.CHANGE),
  /** The fences of a shard start again with each run. */
  FENCE_BEGINS_ANEW(Check.FENCE),
  /** A task for a seat within its zone gets substitutes of all zones. */
  SUBSTITUTE_OF_ANOTHER_ZONE(FleetSimulation.Check.TARGET),
  /** Substitutes run tasks that are for one worker only. */
  ONLY_HAS_SUBSTITUTES(FleetSimulation.Check.TARGET),
  /** Any worker runs tasks that are for a zone. */
  ZONE_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** Any worker runs tasks that are for a seat. */
  SEAT_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** The zone of a worker is lost on the way to its node. */
  ZONE_OF_WORKER_IS_LOST(FleetSimulation.Check.TARGET),
  /** Another worker gets a seat at once, without a rest. */
  SEAT_WITHOUT_REST(FleetSimulation.Check.SEATS),
  /** A worker of another zone gets a seat that was left. */
  SEAT_CHANGES_ITS_ZONE(FleetSimulation.Check.SEATS),
  /** The seats are written without a comparison of versions. */
  SEATS_WITHOUT_COMPARE(FleetSimulation.Check.SEATS),
  /** Nodes read each worker as enabled. */
  DISABLED_ARE_FED(FleetSimulation.Check.DISABLED),
  /** A worker's report is applied to the latest claim of its task, whatever its token. */
  LATE_REPORT_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** Some tasks that have succeeded run again. */
  FINISHED_RUNS_AGAIN(FleetSimulation.Check.ONCE),
  /** A claim does not check whether another claim's lease has ended. */
  LIVE_LEASE_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** Every attempt of a worker's task has the number 1. */
  ATTEMPT_BEGINS_ANEW(FleetSimulation.Check.FENCE),
  /** Parked tasks with an address are never found. */
  PARKED_ADDRESSES_ARE_LOST(FleetSimulation.Check.LIVENESS),
  /** Queues with parked tasks are listed only in one of four seconds. */
  PARKED_ARE_LISTED_SELDOM(FleetSimulation.Check.LATE),
  /** A node's vouchers for its workers never expire: dead workers keep their seats. */
  VOUCHERS_WITHOUT_END(FleetSimulation.Check.LIVENESS);

  private static final long UNSYNCED_MILLIS = 500;
  private static final int MANY_TIMES = 10;

  private final boolean isDemandUnmet;
  @SuppressWarnings("ImmutableEnumChecker") // filled once
  private final Set<Kind> kinds;
  @SuppressWarnings("ImmutableEnumChecker") // filled once
  private final Set<Check> checks;
  private final FleetSimulation.@Nullable Check fleetCheck;

  Bug(boolean isDemandUnmet, Kind... kinds) {
    this.isDemandUnmet = isDemandUnmet;
    this.kinds = EnumSet.noneOf(Kind.class);
    this.kinds.addAll(Set.of(kinds));
    checks = EnumSet.noneOf(Check.class);
    fleetCheck = null;
  }

  /** A bug of recurring jobs. */
  Bug(Check first, Check... others) {
    isDemandUnmet = false;
    kinds = EnumSet.noneOf(Kind.class);
    checks = EnumSet.of(first, others);
    fleetCheck = null;
  }

  /** A bug of workers and their fleet. */
  Bug(FleetSimulation.Check check) {
    isDemandUnmet = false;
    kinds = EnumSet.noneOf(Kind.class);
    checks = EnumSet.noneOf(Check.class);
    fleetCheck = check;
  }

  /** Returns the check that catches this bug, or null if it is not a bug of workers. */
  FleetSimulation.@Nullable Check fleetCheck() {
    return fleetCheck;
  }

  /** Returns whether this is a bug of workers. */
  boolean isOfFleet() {
    return fleetCheck != null;
  }

  /** Returns whether an outcome shows this bug by a check or kind that is expected to catch it. */
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

  /** Returns whether an outcome shows this bug by a check or kind that is expected to catch it. */
  boolean isSeenIn(JobSimulation.Outcome outcome) {
    return outcome.unmet().stream().anyMatch(unmet -> checks.contains(unmet.check()));
  }

  /** Returns whether an outcome shows this bug by a check or kind that is expected to catch it. */
  boolean isSeenIn(Simulation.Outcome outcome) {
    return (isDemandUnmet && !outcome.unmet().isEmpty())
        || kinds.stream().anyMatch(kind -> outcome.verdict().total(kind) > 0);
  }

  TaskStore wrap(TaskStore sound, SimStore.Scene scene) {
    if (this == NONE) {
      return sound;
    }
    if (isOfFleet()) {
      return BrokenFleetStores.of(this, sound, scene);
    }
    return isOfJobs() ? BrokenJobStores.of(this, sound, scene) : BrokenStores.of(this, sound, scene);
  }

  /** Returns the store as a node sees it, with the bugs that are between a node and its store. */
  TaskStore link(TaskStore sound) {
    return switch (this) {
      case UNKNOWN_IS_SAID_TO_BE_NOTHING -> new BrokenStores.Certain(sound);
      case PERMITS_WITHOUT_END -> new BrokenStores.Endless(sound);
      case PERMITS_OF_THE_DEAD_ARE_FREE -> new BrokenStores.Idle(sound);
      default -> sound;
    };
  }

  /** Returns the period, in milliseconds, whose writes a failover loses. */
  long lostMillis(SimStore.Manners manners, long allowedMillis) {
    return switch (this) {
      case ACK_BEFORE_SYNC -> allowedMillis + UNSYNCED_MILLIS;
      case LOSES_MORE_THAN_IT_SAYS -> manners.windowMillis() * MANY_TIMES;
      default -> allowedMillis;
    };
  }

  Coordinator wrap(Coordinator sound) {
    return switch (this) {
      case LOST_FOR_GOOD -> new DeafCoordinator(sound);
      case ASSIGNED_ONCE -> new MuteCoordinator(sound);
      case OWNS_NOTHING_WHEN_LOST -> new HarshCoordinator(sound);
      default -> sound;
    };
  }

  TimeSource clock(TimeSource sound) {
    return this == WALL_CLOCK_WAIT ? new WallClock(sound) : sound;
  }

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

  /** Ignores all notifications after the one that the session has ended. */
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

  /** Reports a lost session as {@link Coordinator.Connection#DISPLACED}, after which a node gives up its slots. */
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
