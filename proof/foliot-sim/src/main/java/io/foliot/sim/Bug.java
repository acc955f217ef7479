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
 * A planted bug, made by something that is put around a store, a coordinator or a clock: each has to be caught,
 * as one of the kinds it is expected as, or else a simulation that finds nothing proves nothing.
 */
enum Bug {
  /** All is well. */
  NONE(false),
  /** Submits are answered before they are synced: when the store comes back it lacks the last of them. */
  ACK_BEFORE_SYNC(false, Kind.LOST),
  /** A store of class B loses ten times as much as it states. */
  LOSES_MORE_THAN_IT_SAYS(false, Kind.LOST),
  /** Claims are judged by a clock that is half a second fast. */
  CLAIM_EARLY(false, Kind.EARLY),
  /** Claims are judged by the clock of the node that claims. */
  LEASE_BY_NODE_CLOCK(false, Kind.EARLY),
  /** A claim of a task that runs gets the same claim once more. */
  CLAIM_WITHOUT_COMPARE(false, Kind.FENCE),
  /** A claim does not check whether another attempt's lease has expired. */
  STEALS_LIVE_CLAIMS(false, Kind.CANCEL, Kind.STALE, Kind.DUP, Kind.ZOMBIE),
  /** The owner of a slot fires its tasks without writing the claim. */
  OWNERSHIP_IS_LICENCE(false, Kind.FENCE, Kind.CANCEL, Kind.STALE),
  /** An attempt does not count those before it. */
  RETRY_FORGETS_ATTEMPTS(false, Kind.FENCE),
  /** A settle goes by the task alone. */
  SETTLE_WITHOUT_TOKEN(false, Kind.LOST, Kind.CANCEL, Kind.STALE, Kind.FENCE, Kind.ZOMBIE),
  /** Settles are answered and not written. */
  SETTLE_FORGOTTEN(false, Kind.ZOMBIE, Kind.DUP),
  /** A cancel answers before anything has changed. */
  CANCEL_IGNORES_THE_TASK(false, Kind.CANCEL),
  /** A cancel takes no notice of a claim. */
  CANCEL_IGNORES_THE_CLAIM(false, Kind.CANCEL),
  /** A touch answers before anything has changed. */
  TOUCH_IGNORES_THE_TASK(false, Kind.STALE, Kind.LOST, Kind.FIRING, Kind.EARLY),
  /** After a reset the generation before it can still be claimed. */
  RESET_KEEPS_OLD_CLAIMABLE(false, Kind.STALE, Kind.EARLY),
  /** A reset of a running task forgets its successor. */
  SUCCESSOR_FORGOTTEN(false, Kind.LOST),
  /** Every reset gets the generation of the first. */
  GENERATION_REPEATED(false, Kind.FIRING),
  /** Idempotency keys are ignored. */
  IDEMPOTENCY_IGNORED(false, Kind.FIRING),
  /** A redrive answers and does nothing. */
  REDRIVE_FORGOTTEN(false, Kind.LOST),
  /** A call whose reply was lost is reported as having had no effect. */
  UNKNOWN_IS_SAID_TO_BE_NOTHING(false, Kind.GHOST, Kind.CANCEL, Kind.STALE, Kind.FIRING, Kind.LOST),
  /** Nothing behind the present is ever found: a cursor without a head poll. */
  CURSOR_WITHOUT_HEAD_POLL(true, Kind.LOST),
  /** Head polls look back two seconds, and no further. */
  HEAD_POLL_LOOKS_BACK_BRIEFLY(true, Kind.LOST),
  /** An expired lease is never examined again. */
  LEASE_WITHOUT_EXIT(true, Kind.LOST),
  /** Other nodes do not find the entries that a node has parked. */
  PARKED_LEAVE_WITH_THEIR_NODE(true, Kind.LOST),
  /** No node polls the slots of others. */
  OVERDUE_POLL_OFF(true, Kind.LOST),
  /** Waits are counted by the wall clock. */
  WALL_CLOCK_WAIT(true, Kind.LOST),
  /** A member whose session has ended never listens again. */
  LOST_FOR_GOOD(true),
  /** A node gives its slots up when it has lost the coordinator. */
  OWNS_NOTHING_WHEN_LOST(true),
  /** The leader never renews the assignment. */
  ASSIGNED_ONCE(true),
  /** A node claims tasks for which it has no handler. */
  CLAIMS_WITHOUT_HANDLER(true),
  /** The answer whether a queue has live tasks is some seconds old. */
  LIVE_TASKS_ARE_REMEMBERED(true),
  /** A claim is not refused when the time of the permits that it was made under is over. */
  PERMITS_WITHOUT_END(true),
  /** The permits of a dead node are free at once, even if it has begun attempts. */
  PERMITS_OF_THE_DEAD_ARE_FREE(true),
  /** A pass of a job is written without the shards that it begins. */
  PLAN_WITHOUT_SHARDS(Check.SCHEDULE),
  /** The shards that a pass begins are inserted, and the record of the job stays as it was. */
  SHARDS_WITHOUT_PLAN(Check.SCHEDULE),
  /** Shards do not have the ids that follow from their times: a pass inserts them twice. */
  SHARDS_TWICE(Check.SCHEDULE),
  /** Only the wake at the end of a shard tells a job of it. */
  ENDS_WITHOUT_POLL(Check.LIVENESS),
  /** Where a wake came during a pass, the shards that the pass begins are not inserted. */
  WAKE_DROPS_SHARDS(Check.SCHEDULE),
  /** A planner that was paused past its lease overwrites later changes. */
  PLAN_OF_A_LOST_LEASE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A pass takes the clock of its node for that of the store. */
  PLANNED_BY_NODE_CLOCK(Check.SCHEDULE),
  /** A change of a job overwrites changes made since the caller read it. */
  CHANGE_WITHOUT_COMPARE(Check.SCHEDULE, Check.CHANGE, Check.RUNS),
  /** A shard that runs counts as ended. */
  RUNNING_IS_ENDED(Check.RUNS),
  /** The task before the shards of a run counts as ended while it runs. */
  SHARDS_UNPREPARED(Check.LISTENER),
  /** The task after the shards of a run is not inserted. */
  LISTENER_IS_FORGOTTEN(Check.LISTENER),
  /** A run that is stopped or replaced continues. */
  STOP_CANCELS_NOTHING(Check.CHANGE),
  /** A deleted job continues. */
  DELETE_CANCELS_NOTHING(Check.CHANGE),
  /** The fences of a shard begin anew with each run. */
  FENCE_BEGINS_ANEW(Check.FENCE),
  /** A task for a seat of a zone is taken for one of any seat: its substitutes are in all zones. */
  SUBSTITUTE_OF_ANOTHER_ZONE(FleetSimulation.Check.TARGET),
  /** A task for one worker only is given to substitutes. */
  ONLY_HAS_SUBSTITUTES(FleetSimulation.Check.TARGET),
  /** A task for a zone is given to any worker. */
  ZONE_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** A task for a seat is given to any worker. */
  SEAT_IS_IGNORED(FleetSimulation.Check.TARGET),
  /** The zone of a worker is lost on the way to its node. */
  ZONE_OF_WORKER_IS_LOST(FleetSimulation.Check.TARGET),
  /** A seat is given to another worker at once. */
  SEAT_WITHOUT_REST(FleetSimulation.Check.SEATS),
  /** A seat that was left is given to a worker of another zone. */
  SEAT_CHANGES_ITS_ZONE(FleetSimulation.Check.SEATS),
  /** The seats are written without a comparison. */
  SEATS_WITHOUT_COMPARE(FleetSimulation.Check.SEATS),
  /** Nodes do not see that a worker is disabled. */
  DISABLED_ARE_FED(FleetSimulation.Check.DISABLED),
  /** A report goes by the task alone. */
  LATE_REPORT_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** A task that has ended runs again, as if its worker had died before. */
  FINISHED_RUNS_AGAIN(FleetSimulation.Check.ONCE),
  /** A claim does not check whether the lease of another one has ended. */
  LIVE_LEASE_IS_TAKEN(FleetSimulation.Check.ONCE),
  /** The attempts of a task that comes back are counted from one. */
  ATTEMPT_BEGINS_ANEW(FleetSimulation.Check.FENCE),
  /** An addressed task that is parked is forgotten. */
  PARKED_ADDRESSES_ARE_LOST(FleetSimulation.Check.LIVENESS),
  /** Parked tasks are listed once in four seconds. */
  PARKED_ARE_LISTED_SELDOM(FleetSimulation.Check.LATE),
  /** A node's word for its workers never ends: its dead keep their seats. */
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

  /** Returns the check that catches it, or null if it is no bug of workers. */
  FleetSimulation.@Nullable Check fleetCheck() {
    return fleetCheck;
  }

  /** Returns whether it is one of workers. */
  boolean isOfFleet() {
    return fleetCheck != null;
  }

  /** Returns whether an outcome shows it, and not something else. */
  boolean isSeenIn(FleetSimulation.Outcome outcome) {
    return outcome.unmet().stream().anyMatch(unmet -> unmet.check() == fleetCheck);
  }

  /** Returns the zone of a worker as its node gets it. */
  String zoneOf(String zone) {
    return this == ZONE_OF_WORKER_IS_LOST ? "" : zone;
  }

  /** Returns whether it is one of recurring jobs. */
  boolean isOfJobs() {
    return !checks.isEmpty();
  }

  /** Returns whether an outcome shows it, and not something else. */
  boolean isSeenIn(JobSimulation.Outcome outcome) {
    return outcome.unmet().stream().anyMatch(unmet -> checks.contains(unmet.check()));
  }

  /** Returns whether an outcome shows it, and not something else. */
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

  /** The layer between a node and its store. */
  TaskStore link(TaskStore sound) {
    return switch (this) {
      case UNKNOWN_IS_SAID_TO_BE_NOTHING -> new BrokenStores.Certain(sound);
      case PERMITS_WITHOUT_END -> new BrokenStores.Endless(sound);
      case PERMITS_OF_THE_DEAD_ARE_FREE -> new BrokenStores.Idle(sound);
      default -> sound;
    };
  }

  /** Returns how much a failover loses. */
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

  /** Reports a lost session to a member as a lost name. */
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
