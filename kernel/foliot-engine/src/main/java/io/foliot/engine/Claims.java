package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.core.Meter;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes due ids from the lanes of a loop, claims them in the store, and handles the results. Passive; confined to the
 * loop's thread.
 *
 * <p>Guarantees: a claim is sent only after it has its permits, its place at the destination and its memory. A claim
 * that is not won gives all of them back. Each task that is won is passed to {@link Decisions} once, and no other task
 * is delivered.
 *
 * <ol>
 * <li>A lane can start attempts if it has entries, is served, and finds a permit. A lane of a pull queue also needs a
 * waiting worker. Lanes that can start attempts take turns.
 * <li>A batch is shared among these lanes by weight: a priority higher by one weighs twice as much. A lane keeps the
 * unused part of its share for the next batch (deficit round robin). In this batch, other lanes may use that part.
 * <li>For its entries the lane acquires memory, then places at the destination, then permits. If fewer permits or
 * places are granted, the surplus of what was acquired before is given back.
 * <li>After the result <em>won</em> the attempt begins. After <em>later</em> the entry goes into the wheel again, and
 * after <em>gone</em> the entry is forgotten. After <em>ready</em> the entry goes back into its lane: the task is due,
 * but the permits of the claim had ended when the store handled the claim. If a claim fails, its entry is forgotten; a
 * poll may find the entry again.
 * <li>While the {@link RoomGate} is closed, nothing is claimed, or one task as a probe.
 * <li>Workers get their tasks after the whole batch has been handled.
 * </ol>
 *
 * <p>Rejected: a call per lane. Each call is a round trip or a commit, and with many queues most calls would carry one
 * task.
 */
final class Claims {
  /** Maximum number of claim calls under way: with two, the store already has the next call when the first is done. */
  private static final int UNDER_WAY = 2;
  /** Exponent of the lowest weight: a lane has at least 2^-10 of the weight of the lane with the highest priority. */
  private static final int LOWEST_WEIGHT = -10;

  /** Receives the tasks that were won. */
  interface Decisions {
    /** Receives a task that was won by a claim sent at {@code sentNanos}. */
    void won(PendingClaim claim, TaskRecord task, long sentNanos);
  }

  /** Memory for the payloads of a number of attempts, each of an estimated size. */
  private record Reserved(int count, long bytesEach) {}

  private final TaskStore store;
  private final QueueRegistry registry;
  private final Lanes lanes;
  private final LookAhead lookAhead;
  private final WatchedSlots slots;
  private final Meter meter;
  private final Decisions decisions;
  private final CallPipe pipe;
  private final Runnable wake;
  private final int batch;
  private final LeaseLengths lengths;
  private final RoomGate gate;

  /** @param batch maximum number of tasks that one call claims */
  Claims(TaskStore store, QueueRegistry registry, Lanes lanes, LookAhead lookAhead, WatchedSlots slots, Inbox inbox,
      StoreHealth health, Meter meter, int batch, LeaseLengths lengths, RoomGate gate, Decisions decisions) {
    this.gate = gate;
    this.store = store;
    this.registry = registry;
    this.lanes = lanes;
    this.lookAhead = lookAhead;
    this.slots = slots;
    this.meter = meter;
    this.batch = batch;
    this.lengths = lengths;
    this.decisions = decisions;
    wake = inbox::wake;
    pipe = new CallPipe("claim", UNDER_WAY, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
  }

  /** Returns whether no claim is on its way. */
  boolean isIdle() {
    return pipe.isIdle();
  }

  /** Sends claims while a lane can use them and the pipe has room. */
  void turn(long nowNanos) {
    while (lanes.waiting() > 0 && pipe.hasRoom(nowNanos) && gate.limit(nowNanos) > 0) {
      List<Lane> able = ableLanes(nowNanos);
      if (able.isEmpty() || !claim(able, nowNanos)) {
        return;
      }
    }
  }

  /**
   * Returns the shortest time until the rate of a lane and the trials of its destination allow an attempt. Returns
   * {@link Long#MAX_VALUE} if no lane waits for its rate or a trial, or if a claim is under way.
   */
  long waitNanos(long nowNanos) {
    long waitNanos = Long.MAX_VALUE;
    if (lanes.waiting() > 0 && pipe.isIdle()) {
      for (Lane lane : lanes.all()) {
        if (lane.waiting() > 0) {
          Destination destination = lane.destination();
          long wait = Math.max(lane.permits().rateWaitNanos(nowNanos),
              destination == null ? 0 : destination.trialWaitNanos(nowNanos));
          waitNanos = wait > 0 ? Math.min(waitNanos, wait) : waitNanos;
        }
      }
    }
    return waitNanos;
  }

  // Sending a batch.

  /** Returns the lanes that could start an attempt. Each call begins with the next lane of the rotation. */
  private List<Lane> ableLanes(long nowNanos) {
    List<Lane> able = new ArrayList<>();
    lanes.rotate();
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.inTurn(i);
      if (lane.claimable() > 0 && lane.isServed() && !(lane.isPull() && lane.longPolls().isEmpty())
          && !lane.permits().isFull(lane.claimable(), nowNanos, wake) && lane.permits().rateWaitNanos(nowNanos) == 0) {
        able.add(lane);
      }
    }
    return able;
  }

  /**
   * Sends a batch of claims for these lanes, by their weights; other lanes use the unused part of a share. Returns
   * false if no entry could be claimed.
   */
  private boolean claim(List<Lane> able, long nowNanos) {
    List<PendingClaim> pending = new ArrayList<>();
    int most = Math.min(batch, gate.limit(nowNanos));
    int top = able.stream().mapToInt(Lane::priority).max().orElse(0);
    double weights = able.stream().mapToDouble(lane -> weight(lane, top)).sum();
    for (Lane lane : able) {
      int share = lane.credit(batch * weight(lane, top) / weights, batch);
      int taken = take(lane, Math.min(share, most - pending.size()), nowNanos, pending);
      lane.spend(taken);
    }
    for (Lane lane : able) {
      take(lane, most - pending.size(), nowNanos, pending);
    }
    if (pending.isEmpty()) {
      return false;
    }
    gate.claimed(nowNanos);
    Map<Destination, Long> endedBefore = new HashMap<>();
    for (Lane lane : able) {
      Destination destination = lane.destination();
      if (destination != null) {
        endedBefore.put(destination, destination.ended());
      }
    }
    List<Claim> claims = pending.stream().map(PendingClaim::claim).toList();
    List<DueEntry> entries = pending.stream().map(PendingClaim::entry).toList();
    pipe.send(claims.size(), nowNanos, () -> store.claim(claims).thenApply(ClaimBatch::results),
        lanes.orForget(entries, (results, answeredNanos) -> {
          endedBefore.forEach(Destination::claimed);
          answered(pending, results, nowNanos, answeredNanos);
        }));
    return true;
  }

  private static double weight(Lane lane, int top) {
    return Math.scalb(1.0, Math.max(LOWEST_WEIGHT, lane.priority() - top));
  }

  private int take(Lane lane, int wanted, long nowNanos, List<PendingClaim> pending) {
    QueueConfig queue = lane.queue();
    if (wanted <= 0 || queue == null) {
      return 0;
    }
    Destination destination = lane.isPull() ? null : lane.destination();
    int demand = lane.isPull() ? lane.longPolls().demand() : wanted;
    Reserved memory = reserve(lane, destination, Math.min(Math.min(wanted, lane.claimable()), demand), nowNanos);
    int most = destination == null ? memory.count() : destination.acquire(memory.count(), nowNanos, wake);
    int given = lane.permits().acquire(most, nowNanos, wake);
    if (destination != null && given < most) {
      destination.giveBack(most - given);
    }
    giveBackUnused(lane, destination, memory, memory.count() - given);
    long leaseMillis = lengths.claimMillis(queue);
    long untilMillis = lane.permits().untilMillis();
    for (int i = 0; i < given; i++) {
      AddressedEntries.Matched matched = lane.isPull() ? lanes.takeForWorker(lane) : null;
      if (lane.isPull() && matched == null) {
        lane.permits().giveBackUnused(given - i);
        giveBackUnused(lane, null, memory, given - i);
        return i;
      }
      LongPollQueue.Waiter waiter = matched == null ? null : matched.waiter();
      DueEntry entry = matched == null ? lanes.take(lane) : matched.entry();
      Claim claim = new Claim(entry.id(), waiter == null ? leaseMillis : waiter.leaseMillis(), untilMillis);
      pending.add(new PendingClaim(lane, entry, claim, memory.bytesEach(), destination, waiter));
    }
    return given;
  }

  private Reserved reserve(Lane lane, @Nullable Destination destination, int wanted, long nowNanos) {
    Budget.Share parent = destination == null ? null : destination.memory();
    long bytesEach = lane.attemptBytes();
    int given = wanted == 0 ? 0 : registry.memory().acquire(wanted, bytesEach, lane.memory(), parent, wake);
    return given == 0 && wanted > 0 && registry.memory().acquireReserved(lane.memory(), parent, nowNanos)
        ? new Reserved(1, registry.memory().guarantee())
        : new Reserved(given, bytesEach);
  }

  private void giveBackUnused(Lane lane, @Nullable Destination destination, Reserved memory, int count) {
    registry.memory().giveBackUnused(lane.memory(), destination == null ? null : destination.memory(),
        memory.bytesEach() * count);
  }

  // The results.

  private void answered(List<PendingClaim> pending, List<@Nullable ClaimResult> results, long sentNanos,
      long nowNanos) {
    Set<Lane> pulled = new LinkedHashSet<>();
    for (int i = 0; i < pending.size(); i++) {
      PendingClaim claim = pending.get(i);
      ClaimResult result = results.get(i);
      claim.lane().judged(result instanceof ClaimResult.Later);
      if (result instanceof ClaimResult.Ready) {
        overPermits(claim, nowNanos);
        continue;
      }
      if (result == null) {
        lanes.forget(claim.entry());
      } else {
        lanes.leave(claim.entry());
      }
      if (result instanceof ClaimResult.Won won) {
        if (followsAnEndedLease(won.task())) {
          meter.leaseEnded(claim.lane().name());
        }
        slots.decided(claim.entry().id(), true, nowNanos);
        ItemGuard.run(() -> decisions.won(claim, won.task(), sentNanos));
      } else {
        giveBack(claim);
        notWon(claim, result, nowNanos);
      }
      if (claim.waiter() != null) {
        pulled.add(claim.lane());
      }
    }
    pulled.forEach(lane -> lane.longPolls().answer(nowNanos));
  }

  /** Returns whether the lease of the attempt before the claim has ended without a settle. */
  private static boolean followsAnEndedLease(TaskRecord task) {
    List<AttemptRecord> attempts = task.attempts();
    return !attempts.isEmpty() && attempts.getLast().end() == AttemptRecord.End.LEASE_ENDED
        && attempts.getLast().attempt() == task.attempt() - 1;
  }

  /** Handles a claim of a due task that the store refused because the permits of the claim had ended. */
  private void overPermits(PendingClaim claim, long nowNanos) {
    claim.lane().permits().over(claim.claim().notAfterMillis(), nowNanos);
    giveBack(claim);
    lanes.putBack(claim.lane(), claim.entry());
  }

  private void notWon(PendingClaim claim, @Nullable ClaimResult result, long nowNanos) {
    DueEntry entry = claim.entry();
    if (result != null) {
      slots.decided(entry.id(), false, nowNanos);
    }
    if (result instanceof ClaimResult.Later later) {
      lookAhead.scheduleAgain(entry.id(), entry.queue(), later.wakeAt(), nowNanos);
    } else if (result instanceof ClaimResult.Gone gone) {
      ended(gone, entry, meter);
    }
  }

  /** Counts the end of a lease that has finished the task of an entry, if there was one. */
  static void ended(ClaimResult.Gone gone, DueEntry entry, Meter meter) {
    if (gone.endedAs() != null) {
      meter.leaseEnded(entry.queue());
    }
    if (gone.endedAs() == TaskState.FAILED) {
      meter.deadLetter(entry.queue(), () -> "task=" + entry.id());
    }
  }

  private void giveBack(PendingClaim claim) {
    Lane lane = claim.lane();
    Destination destination = claim.destination();
    lane.permits().giveBack(1);
    registry.memory().change(lane.memory(), destination == null ? null : destination.memory(), -claim.bytes());
    if (destination != null) {
      destination.giveBack(1);
    }
    if (claim.waiter() != null) {
      lane.longPolls().lost(claim.waiter());
    }
  }
}
