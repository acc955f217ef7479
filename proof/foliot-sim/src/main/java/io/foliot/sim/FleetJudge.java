package io.foliot.sim;

import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.sim.FleetSimulation.Check;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Judges workers and the tasks addressed to them, by rules of its own: from the plans, from the calls of the store in
 * their order, and from what the workers saw. It never asks a {@link Fleet} which worker may run a task.
 *
 * <p>Two rules need time, because nodes act on what they have read:
 *
 * <ul>
 * <li>SEAT: a task of a seat goes to a substitute only if the seat's worker is gone or disabled. After
 * {@value #SETTLED_MILLIS} ms without any fault, in which the worker has polled the same node and kept its seat, all
 * nodes know that the worker is live: a node's vouchers hold ten seconds, a worker counts as live for two seconds after
 * its poll, and a node reads the fleet at least once a second and repeats a failed write of the seats.
 * <li>DISABLED: a node that has read the fleet gives no tasks to a disabled worker. Each node has read the change
 * {@value #KNOWN_MILLIS} ms after its answer, and after the worker has begun to poll a node: it reads at least once a
 * second, and a read waits for one write at most.
 * </ul>
 *
 * <p>An unanswered call to enable or disable a worker may take effect at any time, even after the answer to a later
 * call: a paused node runs it when it is resumed. If a change of a worker was repeated, both rules apply only while the
 * stored seat agrees with the last answer.
 */
final class FleetJudge {
  private static final long SETTLED_MILLIS = 20_000;
  private static final long KNOWN_MILLIS = 5_000;
  /** The interval of the head poll by which the owner of a slot finds tasks that another node has written. */
  private static final long HEAD_POLL_MILLIS = 100;
  /** The pause of a node after each read of parked tasks: of its own slots first, then of all. */
  private static final long PARKED_PAUSE_MILLIS = 100;
  /** The longest sleep of a loop. The end of a pause does not wake it. */
  private static final long LOOP_SLEEP_MILLIS = 100;
  /** The longest time between two reads of the parked tasks of all slots, without the time of the calls. */
  private static final long ROUND_MILLIS = 2 * (PARKED_PAUSE_MILLIS + LOOP_SLEEP_MILLIS);
  /** Number of calls of a round: a page and the end of the node's own slots, and a page and the end of all slots. */
  private static final int CALLS_OF_ROUND = 4;
  /** Number of calls outside of rounds: a head poll, a park, two claims, and one call before each that it waits for. */
  private static final int OTHER_CALLS = 8;

  /** A planned task, with the names of the worker and the zone in the fleet that the planner had read. */
  private record Planned(TaskId id, Address address, String worker, String zone) {}

  /** A claim that won. */
  private static final class Claimed {
    final Token token;
    final TaskRecord task;
    long leaseEnd;
    boolean isSettled;

    Claimed(Token token, TaskRecord task) {
      this.token = token;
      this.task = task;
      leaseEnd = task.leaseEnd();
    }
  }

  /** The claims of a task, in the order of the store. */
  private static final class Story {
    final List<Claimed> claims = new ArrayList<>();
    boolean isFinal;
  }

  private final FleetWorld world;
  private final Schedule schedule;
  private final Trace trace;
  private final BiConsumer<Check, String> unmet;
  private final Map<TaskId, Planned> planned = new LinkedHashMap<>();
  private final Map<TaskId, Story> stories = new HashMap<>();
  private final Map<String, SimWorker> workers = new HashMap<>();
  private final Map<String, String> zoneOfWorker = new HashMap<>();
  private final SeatLog seats;
  private final SortedMap<String, Long> counts = new TreeMap<>();
  private final List<TaskId> acked = new ArrayList<>();
  private long faultMillis;

  FleetJudge(FleetWorld world, Sim sim, BiConsumer<Check, String> unmet) {
    this.world = world;
    this.unmet = unmet;
    schedule = sim.schedule();
    trace = sim.trace();
    seats = new SeatLog(zoneOfWorker, what -> unmet.accept(Check.SEATS, what));
    for (FleetCase each : FleetCase.values()) {
      counts.put(each.name(), 0L);
    }
    faultMillis = schedule.nowMillis();
  }

  void count(FleetCase what) {
    counts.merge(what.name(), 1L, Long::sum);
  }

  SortedMap<String, Long> counts() {
    return counts;
  }

  private void ensure(boolean isMet, Check check, String what) {
    if (!isMet) {
      trace.add("judge", check + ": " + what, 0);
      unmet.accept(check, what);
    }
  }

  /** Notes that something other than a worker broke or was mended. */
  void disturbed() {
    faultMillis = schedule.nowMillis();
  }

  private boolean isQuietSince(long millis) {
    return faultMillis <= millis;
  }

  /** Notes that a worker's process has started. */
  void started(SimWorker worker) {
    workers.put(worker.name(), worker);
    zoneOfWorker.put(worker.name(), worker.zone());
  }

  // Runs.

  /** Notes that a run is planned from a fleet. */
  void planning(Fleet fleet, boolean isWithoutWorkers) {
    if (isWithoutWorkers) {
      count(FleetCase.PLANNED_WITHOUT_WORKERS);
    }
    for (Fleet.Seat seat : fleet.seats()) {
      if (seat.isLive() && !seats.hasHad(seat.worker(), seat.number(), Long.MAX_VALUE)) {
        count(FleetCase.PLANNED_FROM_AN_OLD_FLEET);
        return;
      }
    }
  }

  /** Notes a planned task of a run. It is written a moment later, or never. */
  void planned(TaskId id, Address address, Fleet fleet) {
    boolean isOfSeat = !address.isAnywhere() && address.kind() != Address.Kind.ZONE;
    Fleet.Seat seat = isOfSeat ? fleet.seats().get(address.number()) : null;
    String zone = seat != null ? seat.zone() : "";
    planned.put(id, new Planned(id, address, seat == null ? "" : seat.worker(),
        address.kind() == Address.Kind.ZONE ? fleet.zones().get(address.number()) : zone));
  }

  /** Notes that the write of a task was answered. */
  void acked(TaskId id) {
    acked.add(id);
  }

  // Claims and settles.

  /** Returns a store that reports the calls of another store, with their results, to this judge. */
  TaskStore watch(TaskStore store) {
    return new Witness(store);
  }

  private final class Witness extends ForwardingStore {
    Witness(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      return delegate.claim(claims).thenApply(batch -> {
        for (ClaimResult result : batch.results()) {
          if (result instanceof ClaimResult.Won won && won.task().queue().equals(FleetRuns.QUEUE)) {
            claimed(won.task());
          }
        }
        return batch;
      });
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
      return delegate.extend(extensions).thenApply(results -> {
        for (int i = 0; i < results.size(); i++) {
          extended(extensions.get(i), results.get(i));
        }
        return results;
      });
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<Settlement> settlements) {
      return delegate.settle(settlements).thenApply(results -> {
        for (int i = 0; i < results.size(); i++) {
          if (results.get(i).kind() == SettleResult.Kind.SETTLED) {
            settled(settlements.get(i), results.get(i));
          }
        }
        return results;
      });
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
        byte @Nullable [] content) {
      return delegate.writeDocument(kind, name, expectedVersion, content).thenApply(written -> {
        if (written && kind == DocumentKind.FLEET && name.equals(SeatLog.DOCUMENT) && content != null) {
          seats.written(content, schedule.nowMillis(), FleetJudge.this::count);
        }
        return written;
      });
    }
  }

  private void claimed(TaskRecord task) {
    Story story = stories.computeIfAbsent(task.id(), none -> new Story());
    Token token = task.token();
    ensure(!story.isFinal, Check.ONCE, "a task is claimed that was final: " + task.id());
    if (!story.claims.isEmpty()) {
      Claimed last = story.claims.getLast();
      ensure(last.isSettled || schedule.nowMillis() >= last.leaseEnd, Check.ONCE,
          "a task is claimed while another claim holds: " + task.id() + ", leaseEnd=" + last.leaseEnd);
      boolean isGreater = task.generation() > last.task.generation()
          || (task.generation() == last.task.generation() && task.attempt() > last.task.attempt());
      ensure(isGreater, Check.FENCE, "fences grow: " + task.id() + ", attempt=" + task.attempt());
      if (!last.isSettled) {
        count(FleetCase.LEASE_LOST);
        ensure(!world.isCalm(), Check.ONCE, "a lease is lost although nothing broke: " + task.id());
      }
    }
    if (token != null) {
      story.claims.add(new Claimed(token, task));
    }
  }

  private @Nullable Claimed last(TaskId id) {
    Story story = stories.get(id);
    return story == null || story.claims.isEmpty() ? null : story.claims.getLast();
  }

  private void extended(Extension extension, ExtendResult result) {
    Claimed last = last(extension.id());
    if (last == null) {
      return;
    }
    if (result.kind() == ExtendResult.Kind.EXTENDED) {
      count(FleetCase.LEASE_EXTENDED);
      ensure(last.token.equals(extension.token()) && !last.isSettled, Check.ONCE,
          "a claim is extended that is over: " + extension.id());
      last.leaseEnd = result.leaseEnd();
    } else {
      count(FleetCase.EXTENSION_REFUSED);
    }
  }

  private void settled(Settlement settlement, SettleResult result) {
    Story story = stories.get(settlement.id());
    if (story == null || story.claims.isEmpty()) {
      return;
    }
    Claimed last = story.claims.getLast();
    ensure(last.token.equals(settlement.token()), Check.ONCE, "a late report is taken: " + settlement.id());
    ensure(!last.isSettled && !story.isFinal, Check.ONCE, "a claim ends twice: " + settlement.id());
    last.isSettled = true;
    story.isFinal = result.state().isFinal();
    count(FleetCase.REPORT_TAKEN);
  }

  // Workers.

  /** Notes that a worker begins a task, and checks that it may. */
  void begun(SimWorker worker, TaskRecord task) {
    Planned meant = planned.get(task.id());
    if (meant == null) {
      ensure(false, Check.TARGET, "a task begins that was not planned: " + task.id());
      return;
    }
    String what = worker.name() + " begins " + meant + ", claimedAt=" + task.claimedAt();
    boolean isItsOwn = worker.name().equals(meant.worker());
    switch (meant.address().kind()) {
      case ANY -> count(FleetCase.BEGAN_ANYWHERE);
      case ZONE -> {
        count(FleetCase.BEGAN_IN_ZONE);
        ensure(worker.zone().equals(meant.zone()), Check.TARGET, "a task stays in its zone: " + what);
      }
      case ONLY -> {
        boolean isLater = !isItsOwn && seats.gotLater(worker.name(), meant.address().number());
        count(isLater ? FleetCase.BEGAN_AT_A_LATER_OWNER : FleetCase.BEGAN_AT_THE_ONLY_ONE);
        ensure(isItsOwn || isLater, Check.TARGET, "a task for one worker only begins there: " + what);
      }
      case SEAT, ZONE_SEAT -> {
        boolean isOfZone = meant.address().kind() == Address.Kind.ZONE_SEAT;
        if (isItsOwn) {
          count(FleetCase.BEGAN_AT_ITS_SEAT);
        } else {
          count(isOfZone ? FleetCase.BEGAN_AT_A_SUBSTITUTE_OF_THE_ZONE : FleetCase.BEGAN_AT_A_SUBSTITUTE);
        }
        ensure(!isOfZone || worker.zone().equals(meant.zone()), Check.TARGET, "a substitute is of the zone: " + what);
        if (isBinding(meant, task.claimedAt())) {
          count(FleetCase.SEAT_WAS_BINDING);
          ensure(isItsOwn, Check.TARGET, "a seat has no substitute while its worker is there: " + what);
        }
      }
    }
    judgeDisabled(worker, task, what);
    if (world.isCalm()) {
      long lateMillis = task.claimedAt() - task.dueAt();
      long mostMillis = longestMillis(worker, task);
      ensure(lateMillis <= mostMillis, Check.LATE,
          "a task begins when it is due: lateMillis=" + lateMillis + ", mostMillis=" + mostMillis + ", " + what);
    }
  }

  /**
   * Returns the longest time from the due time of a task to its claim without faults. The owner finds the task with a
   * head poll and parks it. If a read of parked tasks has just passed its place, the worker's node finds the task one
   * round later. A node takes a parked task only for a worker that waits: if the worker is between two polls at this
   * moment, the node finds the task again after one more round. A wait is longer than a round.
   */
  private long longestMillis(SimWorker worker, TaskRecord task) {
    int rounds = worker.waitsSinceBefore(task.dueAt()) ? 1 : 2;
    long callMicros = 2L * world.world().store().maxLatencyMicros();
    return HEAD_POLL_MILLIS + rounds * ROUND_MILLIS
        + Math.ceilDiv((OTHER_CALLS + rounds * CALLS_OF_ROUND) * callMicros, 1_000);
  }

  /** Returns whether the seat's own worker has been live for so long that all nodes must know. */
  private boolean isBinding(Planned meant, long atMillis) {
    SimWorker own = workers.get(meant.worker());
    long since = atMillis - SETTLED_MILLIS;
    return own != null && own.name().equals(meant.worker()) && own.isUndisturbedSince(since) && own.isEnabled()
        && isAsAnswered(own, true, since) && isQuietSince(since)
        && seats.hasHad(meant.worker(), meant.address().number(), since);
  }

  /** Returns whether no unanswered call has enabled or disabled a worker after the last answer. */
  private boolean isAsAnswered(SimWorker worker, boolean isEnabled, long sinceMillis) {
    return !worker.mayChangeLate() || seats.hasBeenEnabled(worker.name(), isEnabled, sinceMillis);
  }

  private boolean isDisabledSince(SimWorker worker, long millis) {
    return worker.isDisabledSince(millis) && isAsAnswered(worker, false, millis);
  }

  private void judgeDisabled(SimWorker worker, TaskRecord task, String what) {
    long at = task.claimedAt();
    if (isQuietSince(at - SETTLED_MILLIS)) {
      for (SimWorker each : workers.values()) {
        if (each.isPolling() && isDisabledSince(each, at - KNOWN_MILLIS)) {
          count(FleetCase.DISABLED_WORKER_POLLED);
        }
      }
      ensure(!isDisabledSince(worker, at - KNOWN_MILLIS), Check.DISABLED,
          "a disabled worker gets no tasks: " + what);
    }
  }

  /** Notes the answer to a worker's report. */
  void reported(TaskRecord task, SettleResult.Kind kind) {
    Story story = stories.get(task.id());
    if (kind == SettleResult.Kind.STALE || kind == SettleResult.Kind.NOT_FOUND) {
      count(FleetCase.REPORT_REFUSED);
      return;
    }
    boolean isTaken = story != null && story.claims.stream()
        .anyMatch(claim -> claim.token.equals(task.token()) && claim.isSettled);
    ensure(isTaken, Check.ONCE, "a report was answered as taken, but it was not: " + task.id());
  }

  // The end.

  /** Returns whether every task is final, except those that only a worker that is gone may run. */
  boolean isOver(TaskStore truth) {
    return planned.values().stream().noneMatch(meant -> isOpen(truth, meant) && !mayWait(meant));
  }

  private static @Nullable TaskRecord find(TaskStore truth, TaskId id) {
    return truth.find(new TaskRef.ById(id)).toCompletableFuture().join().orElse(null);
  }

  private boolean isOpen(TaskStore truth, Planned meant) {
    Story story = stories.get(meant.id());
    TaskRecord task = story != null && story.isFinal ? null : find(truth, meant.id());
    return task != null && task.isLive();
  }

  /** Returns whether a task is for one worker only, and that worker is gone. */
  private boolean mayWait(Planned meant) {
    if (meant.address().kind() != Address.Kind.ONLY) {
      return false;
    }
    return !isAlive(meant.worker()) && !isAlive(seats.workerOf(meant.address().number()));
  }

  private boolean isAlive(String name) {
    SimWorker worker = workers.get(name);
    return worker != null && worker.name().equals(name) && worker.isAlive();
  }

  /** Checks the tasks at the end of a run. */
  void end(TaskStore truth) {
    for (Planned meant : planned.values()) {
      if (isOpen(truth, meant)) {
        if (mayWait(meant)) {
          count(FleetCase.WAITS_FOR_THE_ONLY_ONE);
        } else {
          ensure(false, Check.LIVENESS, "a task is still open at the end: " + meant + ", " + find(truth, meant.id()));
        }
      }
    }
    for (TaskId id : acked) {
      TaskRecord task = find(truth, id);
      ensure(task != null && (task.queue().equals(FleetRuns.QUEUE) || task.generation() > 1), Check.LIVENESS,
          "a run that was written is planned: " + task);
    }
  }
}
