package io.foliot.engine;

import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.Stages;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One event loop of the engine. It runs its parts in a fixed order, for its share of the slots.
 *
 * <pre>
 * LookAhead, writers, HeadPolls → Lanes → Claims → Attempts → Settles, Renewals
 *                                  ↓ ↑
 *                                 Parking
 * </pre>
 *
 * <p>Guarantees: only the loop's thread touches the parts, one turn at a time. A turn does a bounded amount of work and
 * never blocks. The failure of an item, or of a turn, does not end the loop. Stores and deliveries answer through the
 * {@link Inbox}.
 *
 * <ol>
 * <li>It handles the messages that have arrived: answers of calls, writes of callers, changes of queues and slots.
 * <li>It advances the wheels: due entries go to their lanes, and attempts are woken.
 * <li>It reads orphaned entries, the heads of the slots, the near future, and parked entries. Then it probes, claims
 * and moves, in this order, and records the ends of leases. It skips this step if a drain has stopped the claims, or if
 * the store is sealed.
 * <li>It parks entries that found no room, records the ends of attempts, and renews leases. If the store is sealed, the
 * loop does this only while the state of the seal is DRAINING.
 * <li>From time to time it reads the store's clock, answers workers, and publishes its {@link LoopStatus}.
 * <li>It sleeps until the look-ahead, a head poll or a claim is due, or a message arrives, but at most
 * {@value #MAX_SLEEP_MILLIS} ms.
 * </ol>
 *
 * <p>The parts have no threads, no locks and no clock: this class reads the clock and passes the time to the parts.
 * Rejected: an actor per part. The order of work within a turn ensures that claims are sent before moves, and that due
 * tasks are handled before the next page is read.
 */
final class EngineLoop implements EventLoop.Duty {
  private static final long NANOS_PER_MILLI = 1_000_000;
  /**
   * Longest sleep, which is the interval of the most frequent head poll. If the store is in this process, a step of its
   * clock is noticed within this time too.
   */
  private static final long MAX_SLEEP_MILLIS = 100;
  /** Maximum number of messages handled in one turn, so that the wheel never waits for long. */
  private static final int INBOX_PER_TURN = 4_096;
  /** Maximum number of timers that one wheel fires in one turn, so that messages never wait for long. */
  private static final int FIRED_PER_TURN = 8_192;
  /**
   * Maximum number of settlements, renewals or parks in one call, as a multiple of {@link TaskStore#batchSize}. Each is
   * smaller than a claim, which returns a payload.
   */
  private static final int SETTLED_PER_CLAIMED = 2;
  private static final long SECOND_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long STATUS_NANOS = 250 * NANOS_PER_MILLI;

  private final TaskStore store;
  private final TimeSource clock;
  private final Meter meter;
  private final EventLoop eventLoop;
  private final Runnable eachSecond;
  private final LongConsumer eachTurn;

  // any thread
  private final Inbox inbox;
  private final StoreClock storeClock;
  private final CompletableFuture<Throwable> death = new CompletableFuture<>();
  private volatile LoopStatus status = LoopStatus.NONE;
  /**
   * Time at which the latest turn ended, by the monotonic clock. Written by the loop's thread, read by the threads that
   * watch the loop.
   */
  private volatile long turnedNanos;
  /** Whether other nodes are members. Written by the first loop's thread. */
  private volatile boolean hasOtherNodes;

  // the loop's thread
  private final RoomGate gate;
  private final StoreHealth health;
  private final Lanes lanes;
  private final WatchedSlots slots;
  private final LookAhead lookAhead;
  private final HeadPolls headPolls;
  private final LeaseEnds leaseEnds;
  private final Parking parking;
  private final Postponed postponed;
  private final Claims claims;
  private final Attempts attempts;
  private final Settles settles;
  private final Renewals renewals;
  private final Drain drain = new Drain();
  private StoreSeal.@Nullable State sealed;
  private long secondNanos;
  private long statusNanos;

  /**
   * Creates a loop that has not started.
   *
   * @param outage shared by all loops of the engine
   * @param gate shared by all loops of the engine
   * @param share the slots that the loop may watch
   * @param eachSecond called once a second, on the loop's thread
   * @param eachTurn called in each turn, with the monotonic time
   */
  EngineLoop(EngineOptions options, Environment environment, EventLoop eventLoop, QueueRegistry registry,
      StoreOutage outage, RoomGate gate, EndHints hints, RandomSource random, SlotSet share, Runnable eachSecond,
      LongConsumer eachTurn) {
    this.eventLoop = eventLoop;
    this.gate = gate;
    this.eachSecond = eachSecond;
    this.eachTurn = eachTurn;
    store = environment.store();
    clock = environment.clock();
    meter = environment.meter();
    long nowNanos = clock.monotonicNanos();
    int claimBatch = Math.min(options.claimBatch(), store.batchSize());
    int settleBatch = SETTLED_PER_CLAIMED * store.batchSize();
    int wheelEntries = Math.max(1, options.wheelEntries() / options.loops());
    OverduePoll overdue = new OverduePoll(options.node(), share.slotCount(), LookAhead.PAGE, nowNanos);
    Moves moves = new Moves(options.readyEntries());
    inbox = new Inbox(eventLoop);
    IndexReads reads = new IndexReads(store, inbox, options.readyEntries());
    storeClock = new StoreClock(clock.wallMicros(), nowNanos);
    health = new StoreHealth(meter, this::storeIsBack, outage, nowNanos);
    lanes = new Lanes(options, registry, storeClock, moves, reads);
    slots = new WatchedSlots(share, overdue, reads, health, lanes, meter, new NewSlots(), claimBatch);
    lookAhead = new LookAhead(reads, health, storeClock, slots, options.windowMillis(), wheelEntries,
        clock.wallMillis(), nowNanos, () -> registry.deliveries().forEach(Delivery::clockSetBack));
    headPolls = new HeadPolls(reads, health, lanes, slots, drain, meter, options.laneEntries(), nowNanos);
    leaseEnds = new LeaseEnds(store, lanes, lookAhead, inbox, health, meter, claimBatch, gate, nowNanos);
    parking = new Parking(store, registry, lanes, inbox, health, meter, leaseEnds, settleBatch, claimBatch, nowNanos);
    postponed = new Postponed(store, storeClock, lanes, lookAhead, reads, moves, inbox, health);
    settles = new Settles(store, inbox, health, settleBatch, gate, new Ends());
    renewals = new Renewals(store, inbox, health, settleBatch, this::renewed);
    LeaseLengths lengths = LeaseLengths.of(options);
    attempts = new Attempts(store, registry, storeClock, lanes, lookAhead, slots, settles, renewals, hints, inbox,
        meter, random, lengths, options.node(), nowNanos);
    claims = new Claims(store, registry, lanes, lookAhead, slots, inbox, health, meter, claimBatch,
        lengths, gate, this::won);
    secondNanos = nowNanos;
    statusNanos = nowNanos;
    turnedNanos = nowNanos;
  }

  // Callbacks between parts, where one part must not depend on the other.

  private void storeIsBack(long nowNanos) {
    headPolls.storeIsBack(nowNanos);
  }

  private void won(PendingClaim claim, TaskRecord task, long sentNanos) {
    // A batch may hold thousands of tasks; each begins at its own time.
    attempts.begin(claim, task, sentNanos, clock.monotonicNanos());
  }

  private final class Ends implements Settles.Recorded {
    @Override
    public void recorded(Settles.Ending ending, SettleResult result, long nowNanos) {
      attempts.recorded(ending, result, nowNanos);
    }

    @Override
    public void held(RunningAttempt attempt, long nowNanos) {
      attempts.held(attempt, nowNanos);
    }
  }

  private void renewed(RunningAttempt attempt, long leaseMillis, @Nullable ExtendResult result, long sentNanos,
      long nowNanos) {
    attempts.renewed(attempt, leaseMillis, result, sentNanos, nowNanos);
  }

  private final class NewSlots implements WatchedSlots.Listener {
    @Override
    public void doubled(int slotCountBefore) {
      lookAhead.doubled(slotCountBefore);
    }

    @Override
    public void added(SlotSet added, long nowNanos) {
      lookAhead.added(added, nowNanos);
      headPolls.pollAll(nowNanos);
    }
  }

  // Any thread.

  void start() {
    eventLoop.start(this);
  }

  /** Returns the inbox, for parts of the engine that work on this loop's thread. */
  Inbox inbox() {
    return inbox;
  }

  LoopStatus status() {
    return status;
  }

  /** Returns a future that completes if this loop ends without being closed. Its value is the cause. */
  CompletableFuture<Throwable> death() {
    return death;
  }

  /** Returns how long ago the latest turn ended. */
  long sinceTurnNanos() {
    return clock.monotonicNanos() - turnedNanos;
  }

  /** Returns the store's clock, in microseconds. */
  long storeMicros() {
    return storeClock.micros(clock.monotonicNanos());
  }

  /** Returns by how much the store's clock is ahead of this node's; negative if it is behind. */
  long storeOffsetMicros() {
    return storeClock.offsetMicros();
  }

  /** Returns the number of slots of the loop's share that the assignment gives to this node. */
  int ownedSlots() {
    return slots.assignedCount();
  }

  /** Takes index entries that a write made. */
  void written(List<DueEntry> entries) {
    inbox.post(nowNanos -> lookAhead.written(entries, nowNanos));
  }

  /** Notifies the loop that the settings of a queue have changed. */
  void changed(String queue) {
    inbox.post(nowNanos -> {
      Lane lane = lanes.find(queue);
      if (lane != null) {
        lanes.configure(lane, nowNanos);
      }
    });
  }

  /** Notifies the loop that a worker waits for tasks of a queue. */
  void workerWaits(String queue) {
    inbox.post(nowNanos -> lanes.lane(queue, nowNanos));
  }

  /** Notifies the loop whether the cluster has other members, with or without slots. */
  void others(boolean areMembers) {
    hasOtherNodes = areMembers;
  }

  /** Notifies the loop that a call has recorded the end of a claim. */
  void reported(Token token) {
    inbox.post(nowNanos -> attempts.reported(token));
  }

  /** Reads a lane on the loop's own thread; completes with empty if the queue has no lane. */
  CompletableFuture<Optional<LaneStatus>> laneStatus(String queue) {
    CompletableFuture<Optional<LaneStatus>> answer = new CompletableFuture<>();
    inbox.post(nowNanos -> answer.complete(
        Optional.ofNullable(lanes.find(queue)).map(lane -> LoopStatus.of(lane, storeClock.millis(nowNanos)))));
    return answer;
  }

  /** Sets the slots that this node owns, as {@link WatchedSlots#own} does. */
  void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption) {
    inbox.post(nowNanos -> slots.own(owned, assignment, adoption, nowNanos));
  }

  /** Notifies the loop that the store is sealed or, with null, open again. */
  void sealed(StoreSeal.@Nullable State state) {
    inbox.post(nowNanos -> sealed = state);
  }

  /**
   * Stops claiming after a delay. The drain does not wait for the ends of tasks that workers hold. But it waits for the
   * extension of a lease after "accepted". Without this extension, the task would be claimed again while a worker runs
   * it.
   *
   * @return a future that completes with true when the ends of all other attempts of this loop are recorded and no
   *     lease is being extended. It completes with false if the patience is over before that, or if the loop dies
   */
  CompletableFuture<Boolean> drain(long afterNanos, long patienceNanos) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    inbox.post(nowNanos -> {
      drain.begin(answer, afterNanos, patienceNanos, nowNanos);
      lanes.all().forEach(lane -> lane.longPolls().close(nowNanos));
    });
    CompletableFuture<Boolean> unused = death.thenApply(cause -> answer.complete(false));
    return answer;
  }

  void close() {
    eventLoop.close();
  }

  /**
   * Reads the store's clock. A store that answers before its call returns is regarded as a store in this process.
   *
   * @return a stage that completes when the clock was read, and fails if it could not be read
   */
  CompletionStage<Long> measureClock() {
    int slot = Math.max(0, slots.watched().next(0));
    StoreClock.Question question = new StoreClock.Question(clock.wallMicros(), clock.monotonicNanos());
    CompletionStage<Long> read = Stages.call(() -> store.timeMicros(slot));
    boolean isInProcess = read.toCompletableFuture().isDone();
    return read.whenComplete((storeMicros, failure) -> {
      long answeredNanos = clock.monotonicNanos();
      if (storeMicros != null) {
        storeClock.answered(question, storeMicros, isInProcess, answeredNanos);
      }
      inbox.post(nowNanos -> {
        health.answered("time", failure, nowNanos);
        storeClock.planNext(question, isInProcess, answeredNanos);
      });
    });
  }

  // The loop's thread.

  @Override
  public long turn() {
    long begunNanos = clock.monotonicNanos();
    try {
      work(begunNanos);
      meter.loopTurn((clock.monotonicNanos() - begunNanos) / 1_000);
    } catch (Throwable e) {
      ItemGuard.continueAfter(e, "a turn of the loop failed; the loop continues");
    }
    long endNanos = clock.monotonicNanos();
    turnedNanos = endNanos;
    return nextTurnNanos(endNanos);
  }

  @Override
  public void died(Throwable cause) {
    death.complete(cause);
  }

  private void work(long nowNanos) {
    handleMessages();
    long firedNanos = clock.monotonicNanos();
    long nowMillis = storeClock.millis(firedNanos);
    lanes.followFleet();
    lookAhead.advance(nowMillis, FIRED_PER_TURN, firedNanos, entry -> lanes.ready(entry, firedNanos));
    attempts.advance(FIRED_PER_TURN, nowNanos);
    if (drain.isClaiming(nowNanos) && sealed == null) {
      slots.growTo(store.slotCount());
      slots.poll(nowMillis, nowNanos);
      headPolls.turn(nowMillis, nowNanos);
      lookAhead.prefetch(nowMillis, nowNanos);
      lanes.dropUnpolled(slots.sharesStore() || hasOtherNodes, nowNanos);
      parking.listQueues(slots.watched(), slots.share(), nowNanos);
      parking.readBack(slots.watched(), slots.share(), nowNanos);
      postponed.probe(nowNanos);
      claims.turn(nowNanos);
      postponed.move(nowNanos);
      leaseEnds.turn(nowNanos);
    }
    if (sealed == null || sealed == StoreSeal.State.DRAINING) {
      parking.park(nowNanos);
      settles.turn(nowNanos);
      renewals.turn(nowNanos);
    }
    housekeeping(nowMillis, nowNanos);
  }

  private void handleMessages() {
    for (int i = 0; i < INBOX_PER_TURN; i++) {
      Inbox.Message message = inbox.poll();
      if (message == null) {
        return;
      }
      ItemGuard.run(() -> message.handle(clock.monotonicNanos()));
    }
  }

  private void housekeeping(long nowMillis, long nowNanos) {
    if (storeClock.isDue(nowNanos)) {
      CompletionStage<Long> measured = measureClock();
      assert measured != null;
    }
    health.turn(nowNanos);
    if (nowNanos - secondNanos >= 0) {
      secondNanos = nowNanos + SECOND_NANOS;
      eachSecond.run();
    }
    attempts.findReports(nowNanos);
    eachTurn.accept(nowNanos);
    for (Lane lane : lanes.all()) {
      lane.sampleFlow(nowNanos);
      if (lane.isPull() && lane.longPolls().hasWaiters()) {
        lane.longPolls().answer(nowNanos);
      }
    }
    if (nowNanos - statusNanos >= 0) {
      statusNanos = nowNanos + STATUS_NANOS;
      StoreHealth.State store = health.state(nowNanos);
      status = LoopStatus.of(lookAhead, lanes, slots,
          store == StoreHealth.State.SERVING && !gate.isOpen() ? StoreHealth.State.FULL : store, nowMillis, nowNanos);
    }
    drain.turn(() -> settles.isIdle() && renewals.isIdle() && claims.isIdle() && attempts.isIdle(), nowNanos);
  }

  private long nextTurnNanos(long nowNanos) {
    if (!inbox.isEmpty()) {
      return nowNanos;
    }
    long waitNanos = Math.min(MAX_SLEEP_MILLIS * NANOS_PER_MILLI, lookAhead.waitNanos(nowNanos));
    if (drain.isClaiming() && sealed == null) {
      waitNanos = Math.min(waitNanos, headPolls.waitNanos(nowNanos));
      waitNanos = Math.min(waitNanos, claims.waitNanos(nowNanos));
      waitNanos = Math.min(waitNanos, parking.waitNanos(nowNanos));
    }
    return nowNanos + Math.max(0, waitNanos);
  }
}
