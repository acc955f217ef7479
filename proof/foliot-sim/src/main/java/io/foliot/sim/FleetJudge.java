package io.foliot.sim;

import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
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
 * Checks the workers and the tasks that are addressed to them. The evidence is the plans, the calls of the store in
 * their order, and the tasks that workers got. The rules do not use the code in {@link Fleet}, which selects workers in
 * the nodes.
 *
 * <p>Two rules apply only after some time, because a node acts on the fleet that it has read:
 *
 * <ul>
 * <li>SEAT: a task of a seat goes to a substitute only if the seat's worker is gone or disabled. If there was no fault
 * for {@value #SETTLED_MILLIS} ms, and the worker polled the same node and kept its seat during this time, all nodes
 * have read that the worker is live. The list of live workers that a node writes is valid for ten seconds. A worker
 * counts as live for two seconds after the end of a poll. A node reads the fleet at least once a second, and repeats a
 * failed write of the seats.
 * <li>DISABLED: a node that has read the fleet gives no tasks to a disabled worker. All nodes have read the change
 * {@value #KNOWN_MILLIS} ms after the answer to the call, or after the worker began to poll its present node, whichever
 * is later. A node reads the fleet at least once a second, and a read waits for at most one write.
 * </ul>
 *
 * <p>A paused node makes a call when the node is resumed. So an unanswered call to enable or disable a worker may take
 * effect at any time, even after the answer to a later call. After such a call, both rules apply only while the stored
 * seat has the state of the latest answer.
 */
final class FleetJudge {
  private static final long SETTLED_MILLIS = 20_000;
  private static final long KNOWN_MILLIS = 5_000;
  /** The interval of the head poll by which the owner of a slot finds tasks that another node has written. */
  private static final long HEAD_POLL_MILLIS = 100;
  /** The pause of a node after each read of parked tasks. The node reads its own slots and all slots in turn. */
  private static final long PARKED_PAUSE_MILLIS = 100;
  /** The longest round: the time between two reads of the parked tasks of all slots, without the time of the calls. */
  private static final long ROUND_MILLIS = 2 * PARKED_PAUSE_MILLIS;
  /** Number of calls in a round: two for the node's own slots, and two for all slots. */
  private static final int CALLS_OF_ROUND = 4;
  /** Number of calls outside of rounds: a head poll, a park and two claims, each of which waits for one other call. */
  private static final int OTHER_CALLS = 8;

  /** A planned task, with the names of the worker and the zone in the fleet that the planner had read. */
  private record Planned(TaskId id, Address address, String worker, String zone) {}

  /** A claim that won. */
  private static final class Claimed {
    final Token token;
    final TaskRecord task;
    long leaseEnd;
    boolean isSettled;
    boolean isGivenBack;
    boolean hasBegun;

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
  /** The time of the latest fault, apart from suspensions of one machine. */
  private long commonFaultMillis;
  /** The time at which the latest suspension of each machine began or ended, by the name of the node. */
  private final Map<String, Long> suspendedMillis = new HashMap<>();

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
    commonFaultMillis = faultMillis;
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

  /**
   * Records that a fault outside of the workers begins or ends.
   *
   * @param suspended the node whose machine is suspended, or null for any other fault
   */
  void disturbed(@Nullable SimNode suspended) {
    faultMillis = schedule.nowMillis();
    if (suspended == null) {
      commonFaultMillis = faultMillis;
    } else {
      suspendedMillis.put(suspended.name(), faultMillis);
    }
  }

  /**
   * Checks that a write of the seats frees no seat of a live worker. A worker that has polled an undisturbed node for
   * {@value #SETTLED_MILLIS} ms is live. The suspension of another machine is no evidence to the contrary.
   */
  private void judgeLeft(SeatLog.Seats before, SeatLog.Seats after) {
    long since = schedule.nowMillis() - SETTLED_MILLIS;
    for (int i = 0; i < before.seats().size() && i < after.seats().size(); i++) {
      SeatLog.Seat seat = before.seats().get(i);
      SimWorker worker = workers.get(seat.worker());
      if (seat.isTaken() && worker != null && worker.name().equals(seat.worker()) && worker.isUndisturbedSince(since)
          && commonFaultMillis <= since && suspendedMillis.getOrDefault(worker.node().name(), 0L) <= since
          && seats.hasHad(seat.worker(), i, since)) {
        boolean isKept = after.seats().get(i).isTaken() && after.seats().get(i).worker().equals(seat.worker());
        count(faultMillis > since ? FleetCase.SEAT_KEPT_BESIDE_A_SUSPENSION : FleetCase.SEAT_KEPT);
        ensure(isKept, Check.SEATS, "a live worker keeps its seat: seat " + i + " of " + seat.worker());
      }
    }
  }

  private boolean isQuietSince(long millis) {
    return faultMillis <= millis;
  }

  /** Records that a worker's process has started. */
  void started(SimWorker worker) {
    workers.put(worker.name(), worker);
    zoneOfWorker.put(worker.name(), worker.zone());
  }

  // Runs.

  /** Records that a run is planned from a fleet. */
  void planning(Fleet fleet, boolean isWithoutWorkers) {
    if (isWithoutWorkers) {
      count(FleetCase.PLANNED_WITHOUT_WORKERS);
    }
    for (Fleet.Seat seat : fleet.seats()) {
      if (seat.isLive() && !seats.hasHad(seat.worker(), seat.place(), Long.MAX_VALUE)) {
        count(FleetCase.PLANNED_FROM_AN_OLD_FLEET);
        return;
      }
    }
  }

  /** Records a planned task of a run. The task is written later, or never. */
  void planned(TaskId id, Address address, Fleet fleet) {
    boolean isOfSeat = !address.isAnywhere() && address.kind() != Address.Kind.ZONE;
    Fleet.Seat seat = isOfSeat ? fleet.seat(address.number()) : null;
    String zone = seat != null ? seat.zone() : "";
    planned.put(id, new Planned(id, address, seat == null ? "" : seat.worker(),
        address.kind() == Address.Kind.ZONE ? fleet.zones().get(address.number()) : zone));
  }

  /** Records that the write of a task was answered. */
  void acked(TaskId id) {
    acked.add(id);
  }

  // Claims and settles.

  /** Returns a store that reports the calls of another store, with their results, to this judge. */
  TaskStore watch(TaskStore store) {
    return new Witness(store);
  }

  /** Reports claims, extensions, settles and writes of the seats. */
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
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
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
          judgeLeft(seats.seats(), SeatLog.Seats.decode(content));
          seats.written(content, schedule.nowMillis(), FleetJudge.this::count);
        }
        return written;
      });
    }
  }

  private void claimed(TaskRecord task) {
    Story story = stories.computeIfAbsent(task.id(), none -> new Story());
    Token token = task.token();
    ensure(!story.isFinal, Check.ONCE, "a final task is not claimed: " + task.id());
    if (!story.claims.isEmpty()) {
      Claimed last = story.claims.getLast();
      ensure(last.isSettled || schedule.nowMillis() >= last.leaseEnd, Check.ONCE,
          "a task is not claimed while another claim is valid: " + task.id() + ", leaseEnd=" + last.leaseEnd);
      int counted = last.task.attempt() - (last.isGivenBack ? 1 : 0);
      boolean isNext = task.generation() > last.task.generation()
          || (task.generation() == last.task.generation() && task.attempt() == counted + 1);
      ensure(isNext, Check.FENCE, "each attempt that began has the next number: " + task.id() + ", attempt="
          + task.attempt() + ", counted=" + counted);
      if (!last.isSettled) {
        count(FleetCase.LEASE_LOST);
        ensure(!world.isCalm(), Check.ONCE, "no lease is lost while nothing is broken: " + task.id());
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
          "an ended claim is not extended: " + extension.id());
      last.leaseEnd = result.leaseEnd();
    } else {
      count(FleetCase.EXTENSION_REFUSED);
    }
  }

  private void settled(AttemptEnd settlement, SettleResult result) {
    Story story = stories.get(settlement.id());
    if (story == null || story.claims.isEmpty()) {
      return;
    }
    Claimed last = story.claims.getLast();
    ensure(last.token.equals(settlement.token()), Check.ONCE, "a late report is refused: " + settlement.id());
    ensure(!last.isSettled && !story.isFinal, Check.ONCE, "a claim ends once: " + settlement.id());
    last.isSettled = true;
    if (settlement.outcome() instanceof Outcome.NotBegun) {
      last.isGivenBack = true;
      ensure(!last.hasBegun, Check.ONCE, "a task that has begun is not given back: " + settlement.id());
      count(FleetCase.TASK_GIVEN_BACK);
    }
    story.isFinal = result.state().isFinal();
    count(FleetCase.REPORT_TAKEN);
  }

  // Workers.

  /** Records that a worker begins a task, and checks that it may. */
  void begun(SimWorker worker, TaskRecord task) {
    Planned plan = planned.get(task.id());
    if (plan == null) {
      ensure(false, Check.TARGET, "only planned tasks begin: " + task.id());
      return;
    }
    String what = worker.name() + " begins " + plan + ", claimedAt=" + task.claimedAt();
    Story story = stories.getOrDefault(task.id(), new Story());
    for (Claimed claim : story.claims) {
      if (claim.token.equals(task.token())) {
        claim.hasBegun = true;
        ensure(!claim.isGivenBack, Check.ONCE, "a task that was given back does not begin: " + what);
      }
    }
    boolean isNamedWorker = worker.name().equals(plan.worker());
    switch (plan.address().kind()) {
      case ANY -> count(FleetCase.BEGAN_ANYWHERE);
      case ZONE -> {
        count(FleetCase.BEGAN_IN_ZONE);
        ensure(worker.zone().equals(plan.zone()), Check.TARGET, "a task stays in its zone: " + what);
      }
      case ONLY -> {
        count(FleetCase.BEGAN_AT_THE_ONLY_ONE);
        ensure(isNamedWorker, Check.TARGET, "a task for one worker only begins at that worker: " + what);
      }
      case SEAT, ZONE_SEAT -> {
        boolean isOfZone = plan.address().kind() == Address.Kind.ZONE_SEAT;
        if (isNamedWorker) {
          count(FleetCase.BEGAN_AT_ITS_SEAT);
        } else {
          count(isOfZone ? FleetCase.BEGAN_AT_A_SUBSTITUTE_OF_THE_ZONE : FleetCase.BEGAN_AT_A_SUBSTITUTE);
        }
        ensure(!isOfZone || worker.zone().equals(plan.zone()), Check.TARGET, "a substitute is in the zone: " + what);
        if (isBinding(plan, task.claimedAt())) {
          count(FleetCase.SEAT_WAS_BINDING);
          ensure(isNamedWorker, Check.TARGET, "a seat has no substitute while its worker is live: " + what);
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
   * Returns the longest time, in ms, from the due time of a task to its claim while there are no faults. The owner
   * finds the task with a head poll and parks it. If a read of parked tasks has just passed the place of the task, the
   * worker's node finds the task one round later. A node takes a parked task only for a worker whose poll is waiting.
   * If the worker is between two polls, the node finds the task again one round later. The wait of a poll is longer
   * than a round.
   */
  private long longestMillis(SimWorker worker, TaskRecord task) {
    int rounds = worker.waitsSinceBefore(task.dueAt()) ? 1 : 2;
    long callMicros = 2L * world.world().store().maxLatencyMicros();
    return HEAD_POLL_MILLIS + rounds * ROUND_MILLIS
        + Math.ceilDiv((OTHER_CALLS + rounds * CALLS_OF_ROUND) * callMicros, 1_000);
  }

  /** Returns whether the worker of a seat has been live long enough for every node to have read this. */
  private boolean isBinding(Planned plan, long atMillis) {
    SimWorker own = workers.get(plan.worker());
    long since = atMillis - SETTLED_MILLIS;
    return own != null && own.name().equals(plan.worker()) && own.isUndisturbedSince(since) && own.isEnabled()
        && isAsAnswered(own, true, since) && isQuietSince(since)
        && seats.hasHad(plan.worker(), Address.place(plan.address().number()), since);
  }

  /**
   * Returns whether no unanswered call can have changed a worker, or the stored seat has shown the given state since an
   * instant.
   *
   * @param isEnabled the state that the latest answer states
   */
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

  /** Records the answer to a worker's report. */
  void reported(TaskRecord task, SettleResult.Kind kind) {
    Story story = stories.get(task.id());
    if (kind == SettleResult.Kind.STALE || kind == SettleResult.Kind.NOT_FOUND) {
      count(FleetCase.REPORT_REFUSED);
      return;
    }
    boolean isTaken = story != null && story.claims.stream()
        .anyMatch(claim -> claim.token.equals(task.token()) && claim.isSettled);
    ensure(isTaken, Check.ONCE, "a report is answered as taken only if it was taken: " + task.id());
  }

  // The end.

  /** Returns whether every written task is final, or may run only at a worker that is gone. */
  boolean isOver(TaskStore truth) {
    return planned.values().stream()
        .noneMatch(plan -> isOpen(truth, plan) && (!mayWait(plan) || isLastAttempt(find(truth, plan.id()))));
  }

  /** Returns whether a task is stored as running its last attempt. The end of its lease finishes such a task. */
  private static boolean isLastAttempt(@Nullable TaskRecord task) {
    return task != null && task.state() == TaskState.RUNNING && task.attempt() == task.maxAttempts();
  }

  private static @Nullable TaskRecord find(TaskStore truth, TaskId id) {
    return truth.find(new TaskRef.ById(id)).toCompletableFuture().join().orElse(null);
  }

  /** Returns whether a planned task was written and is still live. */
  private boolean isOpen(TaskStore truth, Planned plan) {
    Story story = stories.get(plan.id());
    TaskRecord task = story != null && story.isFinal ? null : find(truth, plan.id());
    return task != null && task.isLive();
  }

  /**
   * Returns whether a task permits no substitute, and its worker is gone. A later worker of its seat is no help, nor is
   * a worker that has come back after its seat had rested, and has another number.
   */
  private boolean mayWait(Planned plan) {
    return plan.address().kind() == Address.Kind.ONLY
        && !(isAlive(plan.worker()) && seats.has(plan.worker(), plan.address().number()));
  }

  private boolean isAlive(String name) {
    SimWorker worker = workers.get(name);
    return worker != null && worker.name().equals(name) && worker.isAlive();
  }

  /** Checks the tasks at the end of a run. */
  void end(TaskStore truth) {
    for (Planned plan : planned.values()) {
      if (isOpen(truth, plan)) {
        TaskRecord task = find(truth, plan.id());
        if (isLastAttempt(task)) {
          ensure(false, Check.LIVENESS, "the engine ends a lease without a claim of its task: " + plan + ", " + task);
        } else if (mayWait(plan)) {
          count(FleetCase.WAITS_FOR_THE_ONLY_ONE);
          if (isAlive(seats.workerOf(Address.place(plan.address().number())))) {
            count(FleetCase.IGNORED_BY_A_LATER_OWNER);
          }
        } else {
          ensure(false, Check.LIVENESS, "no task is still live at the end: " + plan + ", " + find(truth, plan.id()));
        }
      }
    }
    for (TaskId id : acked) {
      TaskRecord task = find(truth, id);
      ensure(task != null && (task.queue().equals(FleetRuns.QUEUE) || task.generation() > 1), Check.LIVENESS,
          "a task that plans a run has planned it: " + task);
    }
  }
}
