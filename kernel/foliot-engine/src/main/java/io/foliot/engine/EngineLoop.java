package io.foliot.engine;

import io.foliot.core.Clock;
import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.Queue;
import io.foliot.core.Scheduler.DestinationStatus;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Attempt;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Due;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.Seal;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.wheel.ObjectTimerWheel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * One event loop of the engine: its share of the slots, the wheel over their near future, and a lane per queue. No locks;
 * everything below is touched by the loop's thread only, unless it says otherwise. Stores and deliveries are asynchronous;
 * what they answer comes back through the inbox.
 *
 * <pre>
 * prefetch, writers, head polls → wheel → lane → claim → attempt → settle
 *                                          ↓ ↑
 *                                         parked
 * </pre>
 *
 * <p>The wheel's ticks are milliseconds of the store's clock as this node reckons it. An id may stand in the wheel several
 * times, or not at all: the wheel is a cache, the claim decides, the head polls find what the cache has missed.
 */
final class EngineLoop implements EventLoop.Duty {
  private static final System.Logger LOG = System.getLogger(EngineLoop.class.getName());

  private static final long NANOS_PER_MILLI = 1_000_000;
  /** The longest sleep: the nearest head poll. It also bounds for how long a step of the wall clock goes unnoticed. */
  private static final long MAX_SLEEP_NANOS = 100 * NANOS_PER_MILLI;
  /** Messages handled in one turn, so that the wheel is never kept waiting for long. */
  private static final int INBOX_PER_TURN = 4_096;
  /** Timers fired in one turn, for the same reason. */
  private static final int FIRED_PER_TURN = 8_192;
  /** Claims on their way at the same time: one is with the store while the next one gathers. */
  private static final int CLAIMS_UNDER_WAY = 2;
  private static final int SETTLES_UNDER_WAY = 2;
  /** Probes on their way at the same time: one is with the store while the next one gathers. */
  private static final int PROBES_UNDER_WAY = 2;
  /** Calls on their way that only move index entries. */
  private static final int MOVES_UNDER_WAY = 2;
  /** Entries of one of them: few enough that a claim which comes behind it waits some ten milliseconds. */
  private static final int MOVE_BATCH = 1_000;
  /** Entries of one probe: it reads some bytes of each, and none waits long for the others. */
  private static final int PROBE_BATCH = 2_000;
  private static final int PARKS_UNDER_WAY = 1;
  /** A settlement or a park is smaller than a claim, which carries payloads: so many fit into one call for each of its items. */
  private static final int SETTLED_PER_CLAIMED = 2;
  /** Ids read of what is parked at a time. */
  private static final int UNPARK_BATCH = 1_000;
  /** Index entries read of one slot at a time. */
  private static final int PAGE = 512;
  /** Unknown ids that a head poll takes at most before it begins again. */
  private static final int POLL_LIMIT = 20_000;
  /** A poll waits so many times its own duration before it runs again. */
  private static final int POLL_REST = 20;
  /** Entries that a head poll reads of one slot at a time at least: a round trip is not made for fewer. */
  private static final int MIN_POLL_PAGE = 16;
  /** How often a poll that holds back looks whether there is room. */
  private static final long HOLD_BACK_NANOS = 20 * NANOS_PER_MILLI;
  private static final long PREFETCH_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long PREFETCH_MORE_NANOS = 50 * NANOS_PER_MILLI;
  private static final long PARKED_NANOS = 1_000 * NANOS_PER_MILLI;
  /** Longest pause between two reads of which queues have parked tasks: they may wait for this node alone. */
  private static final long PARKED_REST_NANOS = 3_000 * NANOS_PER_MILLI;
  /** The same where other nodes may park what this node alone can deliver. */
  private static final long PARKED_SOON_NANOS = 100 * NANOS_PER_MILLI;
  /** Claims looked up in a second whose end may have been reported to another node; each look reads a task. */
  private static final int REPORTS_PER_SECOND = 64;
  /** How long an answer of a delivery may be on its way when the time of the attempt is over. */
  private static final long ANSWER_MILLIS = 250;
  /** What is so late when it is found was missed. */
  private static final long LATE_MILLIS = 1_000;
  private static final long SECOND_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long CLOCK_IN_PROCESS_NANOS = 10 * NANOS_PER_MILLI;
  /** A store that has answered nothing for so long is as good as away: its clock alone is read three times meanwhile. */
  private static final long SILENCE_NANOS = 3 * SECOND_NANOS;
  /** How long a write that failed counts: longer than the pause before the next one, if there is anything to write. */
  private static final long UNWRITTEN_NANOS = 3 * SECOND_NANOS;
  private static final long STATUS_NANOS = 250 * NANOS_PER_MILLI;
  /** A wall clock that steps back by more than this makes the wheel start anew. */
  private static final long STEP_BACK_MILLIS = 1_000;
  private static final long FIRST_RETRY_NANOS = 20 * NANOS_PER_MILLI;
  private static final long LAST_RETRY_NANOS = 2_000 * NANOS_PER_MILLI;
  private static final int MAX_INITIAL_WHEEL = 1 << 12;
  private static final int INBOX_CHUNK = 1_024;
  private static final int LOWEST_WEIGHT = -10;
  /** The head poll that leaves nothing out. */
  private static final int ALL = 0;

  /**
   * Part of a loop's status that others may read.
   *
   * @param overdueElsewhere by queue, how overdue the oldest task is that other nodes should have fired
   */
  record Status(int wheelEntries, List<LaneStatus> lanes, Map<String, Double> settledPerSecond, long oldestDueMillis,
      Map<String, Long> overdueElsewhere, boolean storeAnswers, long clockOffsetMicros) {}

  private final EngineOptions options;
  private final TaskStore store;
  private final Clock clock;
  private final Meter meter;
  private final Luck luck;
  private final Lines lines;
  private final EventLoop eventLoop;
  private final Runnable wake;
  private final Runnable eachSecond;
  private final LongConsumer eachTurn;

  private final CompletableFuture<Throwable> death = new CompletableFuture<>();
  /** When the last turn ended; written by the loop's thread, read by those who watch it. */
  private volatile long turnedNanos;

  // any thread
  private final MpscUnboundedVarHandleArrayQueue<Runnable> inbox = new MpscUnboundedVarHandleArrayQueue<>(INBOX_CHUNK);
  private volatile Status status = new Status(0, List.of(), Map.of(), 0, Map.of(), false, 0);
  private volatile Reckoning reckoning;

  // the near future
  private SlotSet share; // what this loop may look after
  private SlotSet slots; // what it does look after: what it was assigned, and what it has adopted
  private volatile SlotSet assigned; // written by the loop's thread
  private ObjectTimerWheel<DueEntry> wheel;
  private final int maxWheelEntries;
  private final int claimBatch;
  private final int settleBatch;
  private long[] cursorMillis;
  private @Nullable DueEntry[] cursorEntry;
  // what others leave behind
  private final OverduePoll overdue;
  private boolean overdueUnderWay;

  private boolean prefetching;
  private long prefetchNanos;
  private boolean prefetchMore;

  // what is due
  private final Map<String, Lane> lanes = new HashMap<>();
  private final List<Lane> rotation = new ArrayList<>();
  private int rotated;
  private int readyEntries;
  /** How many ids were let go so far, because their lanes were full and flow. */
  private long letGo;
  /** Ids that wait in a lane or are inside a call. */
  private final Set<TaskId> known = new HashSet<>();
  /** What was claimed or parked while the index was read: what was read may still tell of it. */
  private final Map<TaskId, DueEntry> overtaken = new HashMap<>();
  private int readsUnderWay;
  private final Poll[] polls; // the longest look back first
  private long parkedNanos;
  private boolean parkedUnderWay;

  // what is under way
  private final Deque<DueEntry> parks = new ArrayDeque<>();
  private final Deque<Ending> settles = new ArrayDeque<>();
  private final Map<Token, Held> held = new HashMap<>();
  /**
   * Claims that hold a permit until their end is reported, here or to another node. The one looked at longest ago
   * first.
   */
  private final Deque<Held> reportedLater = new ArrayDeque<>();
  private long reportsNanos;
  private final ObjectTimerWheel<Held> leases;
  private int claimsUnderWay;
  private int settlesUnderWay;
  private int parksUnderWay;
  // what was pushed back
  private final Moves moves;
  private int probesUnderWay;
  private int movesUnderWay;
  private final Backoff moveBackoff = new Backoff();
  private final Backoff claimBackoff = new Backoff();
  private final Backoff settleBackoff = new Backoff();
  private final Backoff parkBackoff = new Backoff();

  private long clockNanos;
  private long secondNanos;
  private long statusNanos;
  private boolean storeAnswers;
  private long answerNanos;
  private boolean writesFail;
  private long writeFailedNanos;
  private boolean draining;
  private Seal.@Nullable State sealed;
  private @Nullable CompletableFuture<Boolean> drained;
  private long drainNanos;
  private long drainUntilNanos;

  /** An attempt whose end is to be recorded. */
  private record Ending(Held held, Settlement settlement) {}

  /** A claim on its way. */
  private record Asked(Lane lane, DueEntry entry, long bytes, @Nullable Destination destination,
      PullDesk.@Nullable Waiter waiter) {}

  /** A pause that grows with each failure. */
  private static final class Backoff {
    private long waitNanos;
    private long untilNanos = Long.MIN_VALUE;

    void failed(long nowNanos) {
      waitNanos = waitNanos == 0 ? FIRST_RETRY_NANOS : Math.min(LAST_RETRY_NANOS, 2 * waitNanos);
      untilNanos = nowNanos + waitNanos;
    }

    void succeeded() {
      waitNanos = 0;
      untilNanos = Long.MIN_VALUE;
    }

    boolean isOver(long nowNanos) {
      return untilNanos == Long.MIN_VALUE || nowNanos - untilNanos >= 0;
    }
  }

  /** A head poll: how far it looks back, and how often. */
  private static final class Poll {
    private final long lookBackMillis;
    private final long everyNanos;
    private long nextNanos;
    private boolean underWay;
    private long begunNanos;
    private long endedNanos;
    private int taken;
    private long letGoBefore;
    private boolean endedEarly;
    private boolean refills;
    private int limit;

    Poll(long lookBackMillis, long everyMillis, long nowNanos) {
      this.lookBackMillis = lookBackMillis;
      everyNanos = everyMillis * NANOS_PER_MILLI;
      nextNanos = nowNanos;
      endedNanos = nowNanos;
    }
  }

  EngineLoop(EngineOptions options, Environment environment, EventLoop eventLoop, Lines lines, Luck luck,
      SlotSet slots, Runnable eachSecond, LongConsumer eachTurn) {
    this.eachSecond = eachSecond;
    this.eachTurn = eachTurn;
    this.options = options;
    this.eventLoop = eventLoop;
    this.lines = lines;
    this.luck = luck;
    share = slots;
    this.slots = slots;
    assigned = slots;
    store = environment.store();
    clock = environment.clock();
    meter = environment.meter();
    wake = eventLoop::wake;
    // Nothing is known until the first reading, which is better than this one.
    reckoning = new Reckoning(clock.wallMicros(), clock.monotonicNanos(), Long.MAX_VALUE / 4, 0);
    claimBatch = Math.min(options.claimBatch(), store.batchSize());
    settleBatch = SETTLED_PER_CLAIMED * store.batchSize();
    maxWheelEntries = Math.max(1, options.wheelEntries() / options.loops());
    wheel = new ObjectTimerWheel<>(clock.wallMillis(), Math.min(maxWheelEntries, MAX_INITIAL_WHEEL));
    cursorMillis = new long[slots.slotCount()];
    cursorEntry = new DueEntry[slots.slotCount()];
    Arrays.fill(cursorMillis, clock.wallMillis());
    long nowNanos = clock.monotonicNanos();
    leases = new ObjectTimerWheel<>(millis(nowNanos));
    moves = new Moves(options.readyEntries());
    polls = new Poll[]{new Poll(Long.MAX_VALUE, 10_000, nowNanos), new Poll(60_000, 2_000, nowNanos + MAX_SLEEP_NANOS),
        new Poll(2_000, 100, nowNanos + MAX_SLEEP_NANOS)};
    prefetchNanos = nowNanos;
    overdue = new OverduePoll(options.node(), slots.slotCount(), PAGE, nowNanos);
    parkedNanos = nowNanos;
    clockNanos = nowNanos;
    secondNanos = nowNanos;
    reportsNanos = nowNanos;
    statusNanos = nowNanos;
    answerNanos = nowNanos;
    turnedNanos = nowNanos;
  }

  private static long millis(long monotonicNanos) {
    return Math.floorDiv(monotonicNanos, NANOS_PER_MILLI);
  }

  // Any thread.

  void start() {
    eventLoop.start(this);
  }

  void post(Runnable message) {
    inbox.offer(message);
    eventLoop.wake();
  }

  void wake() {
    eventLoop.wake();
  }

  Status status() {
    return status;
  }

  /** Completes with the cause when this loop has made its last turn by no will of its own. */
  CompletableFuture<Throwable> death() {
    return death;
  }

  /** How long ago the last turn ended. */
  long stillNanos() {
    return clock.monotonicNanos() - turnedNanos;
  }

  long storeOffsetMillis() {
    return reckoning.offsetMicros() / 1_000;
  }

  /** How many slots of its share the assignment gives to this node. */
  int ownedSlots() {
    return assigned.size();
  }

  /** The store's clock as this node reckons it, in microseconds. */
  long storeMicros() {
    return reckoning.micros(clock.monotonicNanos());
  }

  /** A write made these index entries: those in what has been read already go into the wheel. */
  void written(List<DueEntry> entries) {
    post(() -> {
      for (DueEntry entry : entries) {
        if (isMineToAwait(entry.id(), entry.wakeAt())) {
          schedule(entry);
        }
      }
    });
  }

  /** The settings of a queue have changed. */
  void changed(String queue) {
    post(() -> {
      Lane lane = lanes.get(queue);
      if (lane != null) {
        configure(lane);
      }
    });
  }

  /** Somebody waits at a desk, or permits are free again. */
  void asked(String queue) {
    post(() -> lane(queue));
  }

  /** The end of a claim was recorded, by whoever has its token. */
  void reported(Token token) {
    post(() -> {
      Held claim = held.get(token);
      if (claim != null) {
        claim.settled = true;
        if (claim.reportsLater) {
          claim.lane.countSettled();
          release(claim);
        }
      }
    });
  }

  /** Looks at a lane on the loop's own thread. */
  CompletableFuture<Optional<LaneStatus>> laneStatus(String queue) {
    CompletableFuture<Optional<LaneStatus>> answer = new CompletableFuture<>();
    post(() -> answer.complete(Optional.ofNullable(lanes.get(queue)).map(lane -> statusOf(lane, storeMillis()))));
    return answer;
  }

  /**
   * Claims nothing more after a while. Completes when the end of every attempt that this node makes is recorded, with true, or when
   * patience is over. What workers hold, or will report later, is theirs.
   */
  CompletableFuture<Boolean> drain(long afterNanos, long patienceNanos) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    post(() -> {
      drained = answer;
      long nowNanos = clock.monotonicNanos();
      drainNanos = nowNanos + afterNanos;
      drainUntilNanos = nowNanos + Math.max(afterNanos, patienceNanos);
      lanes.values().forEach(lane -> lane.desk().close(nowNanos));
    });
    CompletableFuture<Boolean> unused = death.thenApply(cause -> answer.complete(false));
    return answer;
  }

  /** The store is sealed, or, with null, open again. */
  void sealed(Seal.@Nullable State state) {
    post(() -> sealed = state);
  }

  void close() {
    eventLoop.close();
  }

  // The loop's thread.

  @Override
  public long turn() {
    long begunNanos = clock.monotonicNanos();
    try {
      work(begunNanos);
      meter.loopTurn((clock.monotonicNanos() - begunNanos) / 1_000);
    } catch (Throwable e) {
      goOnAfter(e, "a turn of the loop failed; the loop goes on");
    }
    long endNanos = clock.monotonicNanos();
    turnedNanos = endNanos;
    return nextTurnNanos(endNanos);
  }

  @Override
  public void died(Throwable cause) {
    death.complete(cause);
  }

  /**
   * Logs what an item or a turn threw, unless no item is to blame for it: out of memory, whatever the loop does next may be
   * wrong.
   */
  private static void goOnAfter(Throwable failure, String message) {
    if (failure instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
    LOG.log(System.Logger.Level.ERROR, message, failure);
  }

  private void work(long nowNanos) {
    for (int i = 0; i < INBOX_PER_TURN; i++) {
      Runnable message = inbox.poll();
      if (message == null) {
        break;
      }
      guarded(message);
    }
    long now = storeMillis();
    if (now < wheel.currentTick() - STEP_BACK_MILLIS) {
      startAnew(now);
    }
    wheel.advance(Math.max(now, wheel.currentTick()), FIRED_PER_TURN, (handle, tick, entry) -> ready(entry));
    leases.advance(millis(nowNanos), FIRED_PER_TURN, (handle, tick, claim) -> guarded(() -> leaseWoke(claim)));
    draining |= drained != null && nowNanos - drainNanos >= 0;
    if (!draining && sealed == null) {
      readAhead(now, nowNanos);
      readParked(nowNanos);
      probe(nowNanos);
      claim(nowNanos);
      move(nowNanos);
    }
    if (sealed == null || sealed == Seal.State.DRAINING) {
      park(nowNanos);
      settle(nowNanos);
    }
    housekeeping(now, nowNanos);
  }

  private static void guarded(Runnable item) {
    try {
      item.run();
    } catch (Throwable e) {
      goOnAfter(e, "an item failed; the loop goes on without it");
    }
  }

  private long storeMillis() {
    return Math.floorDiv(storeMicros(), 1_000);
  }

  /** The wall clock went back: the wheel forgets, and what is ahead of the new time is read again. */
  private void startAnew(long now) {
    LOG.log(System.Logger.Level.WARNING, "the clock went back by {0} ms; the index is read again from there",
        wheel.currentTick() - now);
    wheel = new ObjectTimerWheel<>(now, MAX_INITIAL_WHEEL);
    Arrays.fill(cursorMillis, now);
    Arrays.fill(cursorEntry, null);
    prefetchNanos = clock.monotonicNanos();
  }

  private long nextTurnNanos(long nowNanos) {
    if (!inbox.isEmpty()) {
      return nowNanos;
    }
    long waitNanos = MAX_SLEEP_NANOS;
    if (wheel.size() > 0) {
      long wakeMicros = Math.multiplyExact(Math.min(wheel.nextWake(), Long.MAX_VALUE / 1_000), 1_000L);
      // A difference of two wall readings, but one that a step of the clock can lead astray by one sleep at most.
      waitNanos = Math.min(waitNanos, Math.max(0, wakeMicros - storeMicros()) * 1_000);
    }
    if (!draining && sealed == null) {
      for (Poll poll : polls) {
        if (poll.underWay) {
          // Its answer wakes the loop, and those that follow wait for it.
          break;
        }
        waitNanos = Math.min(waitNanos, poll.nextNanos - nowNanos);
      }
      waitNanos = Math.min(waitNanos, laneWaitNanos(nowNanos));
    }
    return nowNanos + Math.max(0, waitNanos);
  }

  private long laneWaitNanos(long nowNanos) {
    long waitNanos = MAX_SLEEP_NANOS;
    if (readyEntries > 0 && claimsUnderWay == 0) {
      for (Lane lane : rotation) {
        if (lane.waiting() > 0) {
          long rate = lane.permits().rateWaitNanos(nowNanos);
          Destination destination = lane.destination();
          long probe = destination == null ? 0 : destination.probeWaitNanos(nowNanos);
          long wait = Math.max(rate, probe);
          waitNanos = wait > 0 ? Math.min(waitNanos, wait) : waitNanos;
        }
      }
    }
    return waitNanos;
  }

  /** Sends a message when a stage completes. A stage that is complete already is answered in the next turn, too. */
  <T> void after(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> then) {
    stage.whenComplete((result, failure) -> post(() -> then.accept(result, failure)));
  }

  /** The same for a call about these ids: if its answer cannot be worked through, a poll may find them again. */
  private <T> void after(List<DueEntry> entries, CompletionStage<T> stage,
      BiConsumer<@Nullable T, @Nullable Throwable> then) {
    after(stage, (result, failure) -> {
      boolean done = false;
      try {
        then.accept(result, failure);
        done = true;
      } finally {
        if (!done) {
          entries.forEach(entry -> known.remove(entry.id()));
        }
      }
    });
  }

  static <T> CompletionStage<T> asking(Supplier<CompletionStage<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private boolean answeredBy(String call, int items, long begunNanos, @Nullable Throwable failure) {
    meter.storeCall(call, items, (clock.monotonicNanos() - begunNanos) / 1_000, failure != null);
    boolean answered = failure == null;
    if (!answered && storeAnswers && !writesFail) {
      LOG.log(System.Logger.Level.WARNING, "the store does not answer; going on trying: call=" + call,
          GroupCommit.unwrapped(failure));
    }
    storeAnswered(answered);
    return answered;
  }

  /** What came due while the store was away is looked for as soon as it is back; if it flaps, once a second. */
  private void storeAnswered(boolean answered) {
    if (answered && !storeAnswers) {
      polls[ALL].nextNanos = Math.max(clock.monotonicNanos(), polls[ALL].begunNanos + SECOND_NANOS);
    }
    storeAnswers = answered;
    answerNanos = answered ? clock.monotonicNanos() : answerNanos;
  }

  /** A store may answer questions and refuse to write, as a replica does: then it does not serve either. */
  private void wrote(boolean done) {
    writesFail = !done;
    writeFailedNanos = done ? writeFailedNanos : clock.monotonicNanos();
  }

  // The near future.

  private void schedule(DueEntry entry) {
    if (wheel.size() < maxWheelEntries) {
      wheel.schedule(entry.wakeAt(), entry);
    }
  }

  /**
   * Whether nobody else puts it into a wheel in time: what has been read already is not read again, and of another node's
   * slot that is not known.
   */
  private boolean isMineToAwait(TaskId id, long wakeAt) {
    return slots.contains(id)
        ? wakeAt <= cursorMillis[id.slot(slots.slotCount())]
        : wakeAt <= storeMillis() + options.windowMillis();
  }

  /**
   * Looks after these slots of its share from now on, and of others only after what it adopts.
   *
   * @param assignment who looks after those
   * @param adoption whether it may adopt some of them
   */
  void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption) {
    post(() -> {
      growSlotsTo(owned.slotCount());
      SlotSet now = share.and(owned);
      int kept = now.and(assigned).size();
      meter.slotsChanged(now.size() - kept, assigned.size() - kept);
      assigned = now;
      overdue.assigned(assignment, now, adoption, clock.monotonicNanos());
      updateSlots();
    });
  }

  /** Reads from now on what is assigned or adopted, and at once all that is due in slots that are new. */
  private void updateSlots() {
    long nowNanos = clock.monotonicNanos();
    SlotSet now = assigned.or(overdue.adopted(nowNanos));
    if (now.equals(slots)) {
      return;
    }
    long nowMillis = storeMillis();
    boolean more = false;
    for (int slot = now.next(0); slot >= 0; slot = now.next(slot + 1)) {
      if (!slots.contains(slot)) {
        cursorMillis[slot] = nowMillis;
        cursorEntry[slot] = null;
        more = true;
      }
    }
    slots = now;
    if (more) {
      prefetchNanos = nowNanos;
      polls[ALL].nextNanos = nowNanos;
    }
  }

  /** Something of this task's is to be looked at again; beyond the window the prefetch will come to it. */
  private void lookAgain(TaskId id, String queue, long wakeAt) {
    long notBefore = Math.max(wakeAt, wheel.currentTick() + 1);
    if (isMineToAwait(id, notBefore)) {
      schedule(new DueEntry(notBefore, id, queue));
    }
  }

  /**
   * The store has doubled its slots: what was one is now two, and both halves were read as far as the whole was.
   */
  private void growSlots() {
    share = share.doubled();
    assigned = assigned.doubled();
    overdue.grow(share.slotCount());
    SlotSet doubled = slots.doubled();
    LOG.log(System.Logger.Level.INFO, "the store has doubled its slots: slots={0}", doubled.slotCount());
    int before = slots.slotCount();
    cursorMillis = Arrays.copyOf(cursorMillis, doubled.slotCount());
    System.arraycopy(cursorMillis, 0, cursorMillis, before, before);
    cursorEntry = Arrays.copyOf(cursorEntry, doubled.slotCount());
    System.arraycopy(cursorEntry, 0, cursorEntry, before, before);
    slots = doubled;
  }

  private void growSlotsTo(int count) {
    while (slots.slotCount() < count) {
      growSlots();
    }
  }

  private void steal(long now, long nowNanos) {
    if (overdueUnderWay || !overdue.isDue(nowNanos) || assigned.size() == share.size()) {
      return;
    }
    updateSlots();
    List<DueScan> scans = overdue.begin(share, slots, now, nowNanos);
    if (scans.isEmpty()) {
      return;
    }
    overdueUnderWay = true;
    read(scans, (slices, failure) -> {
      overdueUnderWay = false;
      if (answeredBy("overdue", scans.size(), nowNanos, failure) && slices != null) {
        overdue.taken(slices, slots, readyEntries >= claimBatch, clock.monotonicNanos()).forEach(this::found);
        updateSlots();
      }
    });
  }

  private void readAhead(long now, long nowNanos) {
    growSlotsTo(store.slotCount());
    steal(now, nowNanos);
    if (!polls[ALL].underWay && letGo > polls[ALL].letGoBefore) {
      // There is something to be found again, as soon as there is room.
      polls[ALL].nextNanos = nowNanos;
    }
    for (Poll poll : polls) {
      if (poll.underWay) {
        // Those that follow look back less far, and would read the same once more.
        break;
      }
      if (nowNanos - poll.nextNanos >= 0 && !holdsBack(poll, nowNanos)) {
        beginPoll(poll, now, nowNanos);
        break;
      }
    }
    if (!prefetching && nowNanos - prefetchNanos >= 0) {
      prefetch(now, nowNanos);
    }
    if (!parkedUnderWay && nowNanos - parkedNanos >= 0) {
      readParkedQueues(nowNanos);
    }
  }

  /**
   * Reads which queues have parked tasks. Where this node has handlers that others lack, those park what is due in
   * their slots, and it is late until it is found here: then the read follows soon, but takes a small part of the
   * store's time only.
   */
  private void readParkedQueues(long nowNanos) {
    parkedUnderWay = true;
    long everyNanos = lines.isSelective() && !slots.isAll() ? PARKED_SOON_NANOS : PARKED_NANOS;
    after(asking(() -> store.parkedQueues(SlotSet.all(slots.slotCount()))), (queues, failure) -> {
      long endNanos = clock.monotonicNanos();
      parkedUnderWay = false;
      // A call that timed out says nothing of what a read costs.
      long restNanos = queues == null ? 0 : Math.min(PARKED_REST_NANOS, POLL_REST * (endNanos - nowNanos));
      parkedNanos = Math.max(nowNanos + everyNanos, endNanos + restNanos);
      if (queues != null) {
        lines.missing().parked(queues, queue -> lines.queue(queue) != null);
        queues.forEach(queue -> lane(queue).parked());
      }
    });
  }

  private void prefetch(long now, long nowNanos) {
    int room = maxWheelEntries - wheel.size();
    int page = Math.min(PAGE, room / Math.max(1, slots.size()));
    if (page < 1) {
      prefetchNanos = nowNanos + PREFETCH_NANOS;
      return;
    }
    long target = now + options.windowMillis();
    List<DueScan> scans = new ArrayList<>();
    for (int slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
      DueEntry last = cursorEntry[slot];
      if (last != null) {
        scans.add(new DueScan(slot, last.wakeAt(), last.id(), target, page));
      } else if (cursorMillis[slot] < target) {
        scans.add(new DueScan(slot, cursorMillis[slot], null, target, page));
      }
      // From here on, what is written up to the target comes by its writer: the read may miss it.
      cursorMillis[slot] = Math.max(cursorMillis[slot], target);
    }
    prefetching = true;
    read(scans, (slices, failure) -> {
      prefetching = false;
      prefetchNanos = clock.monotonicNanos() + PREFETCH_NANOS;
      if (answeredBy("prefetch", scans.size(), nowNanos, failure) && slices != null) {
        prefetchMore = false;
        slices.forEach(slice -> prefetched(slice, target));
        if (prefetchMore) {
          prefetchNanos = clock.monotonicNanos() + PREFETCH_MORE_NANOS;
        }
      } else {
        scans.forEach(scan -> cursorMillis[scan.slot()] = scan.fromWakeAt());
      }
    });
  }

  private void prefetched(DueSlice slice, long target) {
    for (DueEntry entry : slice.entries()) {
      schedule(entry);
    }
    DueEntry last = slice.more() ? slice.entries().get(slice.entries().size() - 1) : null;
    cursorEntry[slice.slot()] = last;
    cursorMillis[slice.slot()] = last == null ? target + 1 : last.wakeAt();
    prefetchMore |= last != null;
  }

  /** Whether something waits, and nothing waits in a lane that stands. */
  private boolean isFlowing() {
    return readyEntries > 0 && rotation.stream().allMatch(lane -> lane.waiting() == 0 || lane.isFlowing());
  }

  /**
   * While the lanes flow, a poll waits until they have room for half of what they hold, though for a second at most: what
   * it finds would be parked, and claimed a moment later, two writes where one will do.
   */
  private boolean holdsBack(Poll poll, long nowNanos) {
    if (!isFlowing() || readyEntries <= options.laneEntries() / 2 || nowNanos - poll.endedNanos >= SECOND_NANOS) {
      return false;
    }
    poll.nextNanos = nowNanos + HOLD_BACK_NANOS;
    return true;
  }

  private int pollPage() {
    return Math.clamp(options.laneEntries() / Math.max(1, slots.size()), MIN_POLL_PAGE, PAGE);
  }

  private void beginPoll(Poll poll, long now, long nowNanos) {
    poll.underWay = true;
    poll.begunNanos = nowNanos;
    poll.taken = 0;
    poll.refills = letGo > poll.letGoBefore || poll.endedEarly;
    poll.letGoBefore = letGo;
    poll.limit = isFlowing() ? Math.clamp(options.laneEntries() - readyEntries, 1, POLL_LIMIT) : POLL_LIMIT;
    int page = pollPage();
    long from = poll.lookBackMillis == Long.MAX_VALUE ? Long.MIN_VALUE : now - poll.lookBackMillis;
    if (slots.size() == 0) {
      poll.underWay = false;
      poll.nextNanos = nowNanos + poll.everyNanos;
      return;
    }
    List<DueScan> scans = new ArrayList<>(slots.size());
    for (int slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
      scans.add(new DueScan(slot, from, null, now, page));
    }
    readOn(poll, scans, now);
  }

  private void readOn(Poll poll, List<DueScan> scans, long now) {
    long begunNanos = clock.monotonicNanos();
    read(scans, (slices, failure) -> {
      List<DueScan> more = new ArrayList<>();
      if (answeredBy("due", scans.size(), begunNanos, failure) && slices != null) {
        for (DueSlice slice : slices) {
          slice.entries().forEach(entry -> found(poll, entry, now));
          if (slice.more()) {
            DueEntry last = slice.entries().get(slice.entries().size() - 1);
            more.add(new DueScan(slice.slot(), last.wakeAt(), last.id(), now, pollPage()));
          }
        }
      }
      // Who looks at all of it reads no further than there is room; who looks for the new, past what there is no room for.
      boolean isFull = letGo - poll.letGoBefore >= (poll == polls[ALL] ? 1 : POLL_LIMIT);
      if (more.isEmpty() || poll.taken >= poll.limit || isFull || draining) {
        long endNanos = clock.monotonicNanos();
        poll.underWay = false;
        poll.endedNanos = endNanos;
        poll.endedEarly = !more.isEmpty();
        poll.nextNanos = Math.max(poll.begunNanos + poll.everyNanos,
            endNanos + POLL_REST * (endNanos - poll.begunNanos));
        if (!more.isEmpty() && poll.taken >= poll.limit) {
          poll.nextNanos = endNanos;
        }
      } else {
        readOn(poll, more, now);
      }
    });
  }

  /** Reads the index. */
  private void read(List<DueScan> scans, BiConsumer<@Nullable List<DueSlice>, @Nullable Throwable> then) {
    readsUnderWay++;
    after(asking(() -> store.due(scans)), (slices, failure) -> {
      readsUnderWay--;
      boolean isLast = readsUnderWay == 0;
      then.accept(slices, failure);
      if (isLast) {
        overtaken.clear();
      }
    });
  }

  /** An id that was claimed or parked leaves the lanes, and is not to come back by a read that began before. */
  private void leaves(DueEntry entry) {
    known.remove(entry.id());
    overtakes(entry);
  }

  private void overtakes(DueEntry entry) {
    if (readsUnderWay > 0 && overtaken.size() < options.readyEntries()) {
      overtaken.put(entry.id(), entry);
    }
  }

  /** An id that was read in the index, unless that is older than what became of it since. */
  private void found(DueEntry entry) {
    DueEntry last = overtaken.isEmpty() ? null : overtaken.get(entry.id());
    if (last == null || last.wakeAt() != entry.wakeAt()) {
      ready(entry);
    }
  }

  private void found(Poll poll, DueEntry entry, long now) {
    int before = readyEntries + parks.size();
    found(entry);
    boolean taken = readyEntries + parks.size() > before;
    poll.taken += taken ? 1 : 0;
    if (taken && !poll.refills && entry.wakeAt() <= now - LATE_MILLIS) {
      meter.foundLate(entry.queue());
    }
  }

  // What is due.

  private Lane lane(String queue) {
    Lane lane = lanes.get(queue);
    if (lane == null) {
      lane = new Lane(queue, lines.line(queue), options.laneEntries(), clock.monotonicNanos());
      lanes.put(queue, lane);
      rotation.add(lane);
      configure(lane);
    }
    return lane;
  }

  private void configure(Lane lane) {
    Queue queue = lines.queue(lane.name());
    Delivery delivery = queue == null ? null : lines.serving(queue);
    Destination destination = delivery == null || queue == null ? null : lines.destination(delivery, queue);
    lane.configure(queue, delivery, destination);
    if (!lane.isServed()) {
      for (DueEntry entry : lane.drain()) {
        readyEntries--;
        parks.add(entry);
      }
      lane.desk().close(clock.monotonicNanos());
    } else {
      lane.parked();
    }
  }

  /**
   * An id whose time has come: into its lane, or, if that is full, to be parked. Where the lane flows it is let go instead,
   * and a head poll brings it back when there is room: parked, it would cost a second write and be claimed a moment later.
   */
  private void ready(DueEntry entry) {
    if (moves.covers(entry, storeMillis(), clock.monotonicNanos())) {
      return;
    }
    if (known.add(entry.id()) && !isAdmitted(entry)) {
      parks.add(entry);
    }
  }

  /**
   * Puts an id into its lane, or, where the lane is full and flows, lets it go: it stays where it is in the store. Neither where
   * the lane stands.
   */
  private boolean isAdmitted(DueEntry entry) {
    Lane lane = lane(entry.queue());
    if (lane.hasRoom() && readyEntries < options.readyEntries()) {
      lane.add(entry);
      readyEntries++;
      return true;
    }
    if (lane.isFlowing()) {
      known.remove(entry.id());
      letGo++;
      return true;
    }
    return false;
  }

  private void readParked(long nowNanos) {
    for (int i = 0; i < rotation.size(); i++) {
      Lane lane = rotation.get(i);
      if (lane.wantsParked(nowNanos, claimBatch) && readyEntries < options.readyEntries()) {
        boolean sharesSlots = slots.size() > 0 && !slots.isAll();
        SlotSet from = lane.readParked(sharesSlots, nowNanos) == Lane.ParkedOf.OWN
            ? slots
            : SlotSet.all(slots.slotCount());
        after(asking(() -> store.parked(lane.name(), from, lane.parkedCursor(), UNPARK_BATCH)), (entries, failure) -> {
          if (entries == null) {
            lane.parkedReadFailed(clock.monotonicNanos() + LAST_RETRY_NANOS);
            return;
          }
          for (DueEntry entry : entries) {
            if (known.add(entry.id())) {
              lane.unparked(entry);
              readyEntries++;
            }
          }
          DueEntry first = entries.isEmpty() ? null : entries.getFirst();
          DueEntry last = entries.isEmpty() ? null : entries.getLast();
          lane.parkedReadEnded(first, last, clock.monotonicNanos() + MAX_SLEEP_NANOS);
        });
      }
    }
  }

  private void park(long nowNanos) {
    if (parks.isEmpty() || parksUnderWay >= PARKS_UNDER_WAY || !parkBackoff.isOver(nowNanos)) {
      return;
    }
    List<DueEntry> entries = new ArrayList<>();
    while (!parks.isEmpty() && entries.size() < settleBatch) {
      DueEntry entry = parks.remove();
      if (!isAdmitted(entry)) {
        entries.add(entry);
      }
    }
    if (entries.isEmpty()) {
      return;
    }
    parksUnderWay++;
    after(entries, asking(() -> store.park(entries)), (parked, failure) -> {
      parksUnderWay--;
      boolean answered = answeredBy("park", entries.size(), nowNanos, failure);
      wrote(answered);
      for (int i = 0; i < entries.size(); i++) {
        DueEntry entry = entries.get(i);
        if (parked == null) {
          known.remove(entry.id());
        } else {
          leaves(entry);
        }
        if (parked != null && parked.get(i)) {
          Lane lane = lane(entry.queue());
          lane.parked();
          meter.parked(entry.queue(), 1);
          if (lane.lacksDelivery()) {
            unserved(lane);
          }
        }
      }
      if (answered) {
        parkBackoff.succeeded();
      } else {
        parkBackoff.failed(clock.monotonicNanos());
      }
    });
  }

  private void unserved(Lane lane) {
    meter.unserved(lane.name(), 1);
    if (lane.logsLackOfDelivery()) {
      LOG.log(System.Logger.Level.WARNING,
          "this node has no handler for a queue with due tasks; they are parked until a"
              + " node has one: queue={0}",
          lane.name());
    }
  }

  // What was pushed back.

  /** Probes lanes of which most entries have been pushed back, beginning each time with another one. */
  private void probe(long nowNanos) {
    while (readyEntries > 0 && probesUnderWay < PROBES_UNDER_WAY && moveBackoff.isOver(nowNanos)) {
      List<DueEntry> entries = new ArrayList<>();
      for (int i = 0; i < rotation.size() && entries.size() < PROBE_BATCH; i++) {
        rotation.get((rotated + i) % rotation.size()).takeUnprobed(PROBE_BATCH - entries.size(), entries);
      }
      if (entries.isEmpty()) {
        return;
      }
      readyEntries -= entries.size();
      probesUnderWay++;
      List<TaskId> ids = entries.stream().map(DueEntry::id).toList();
      after(asking(() -> store.probe(ids)), (found, failure) -> probed(entries, found, failure, nowNanos));
    }
  }

  private void probed(List<DueEntry> entries, @Nullable List<Probed> found, @Nullable Throwable failure,
      long sentNanos) {
    probesUnderWay--;
    boolean answered = answeredBy("probe", entries.size(), sentNanos, failure);
    long nowNanos = clock.monotonicNanos();
    if (answered) {
      moveBackoff.succeeded();
    } else {
      moveBackoff.failed(nowNanos);
    }
    long now = storeMillis();
    for (int i = 0; i < entries.size(); i++) {
      DueEntry entry = entries.get(i);
      if (found == null) {
        known.remove(entry.id());
      } else if (found.get(i).lookAt() <= now) {
        foundDue(entry);
      } else {
        foundLater(entry, found.get(i), nowNanos);
      }
    }
  }

  private void foundDue(DueEntry entry) {
    Lane lane = lane(entry.queue());
    lane.judged(false);
    moves.forget(entry.id());
    if (lane.isServed()) {
      lane.addProbed(entry);
      readyEntries++;
    } else {
      parks.add(entry);
    }
  }

  private void foundLater(DueEntry entry, Probed probed, long nowNanos) {
    lane(entry.queue()).judged(true);
    leaves(entry);
    if (probed.hasToMove()) {
      moves.add(entry, probed.lookAt(), nowNanos);
    }
    lookAgain(entry.id(), entry.queue(), probed.lookAt());
  }

  /** Moves entries to where they belong. */
  private void move(long nowNanos) {
    if (moves.isEmpty() || movesUnderWay >= MOVES_UNDER_WAY || !moveBackoff.isOver(nowNanos)) {
      return;
    }
    List<Moves.Move> batch = moves.next(MOVE_BATCH);
    List<Claim> looks = batch.stream().map(one -> Claim.look(one.entry().id())).toList();
    movesUnderWay++;
    after(asking(() -> store.claim(looks)), (results, failure) -> {
      movesUnderWay--;
      moves.answered(batch);
      boolean answered = answeredBy("move", looks.size(), nowNanos, failure);
      wrote(answered);
      if (answered && results != null) {
        moveBackoff.succeeded();
        for (int i = 0; i < batch.size(); i++) {
          moved(batch.get(i), results.results().get(i));
        }
      } else {
        moveBackoff.failed(clock.monotonicNanos());
      }
    });
  }

  private void moved(Moves.Move move, ClaimResult result) {
    DueEntry entry = move.entry();
    if (result instanceof ClaimResult.Ready) {
      // It is due at the old place of its entry, as a poll would find it.
      ready(entry);
      return;
    }
    overtakes(entry);
    if (result instanceof ClaimResult.Later later && later.wakeAt() != move.dueAt()) {
      lookAgain(entry.id(), entry.queue(), later.wakeAt());
    }
  }

  // Claims.

  private void claim(long nowNanos) {
    while (readyEntries > 0 && claimsUnderWay < CLAIMS_UNDER_WAY && claimBackoff.isOver(nowNanos)) {
      List<Lane> able = ableLanes(nowNanos);
      if (able.isEmpty() || !claim(able, nowNanos)) {
        return;
      }
    }
  }

  /** Claims for these lanes, by their weights; what one does not use, the others get. */
  private boolean claim(List<Lane> able, long nowNanos) {
    List<Asked> asked = new ArrayList<>();
    List<Claim> claims = new ArrayList<>();
    int top = able.stream().mapToInt(Lane::priority).max().orElse(0);
    double weights = able.stream().mapToDouble(lane -> weight(lane, top)).sum();
    int budget = claimBatch;
    for (Lane lane : able) {
      int share = lane.credit(claimBatch * weight(lane, top) / weights, claimBatch);
      int taken = take(lane, Math.min(share, budget - claims.size()), nowNanos, asked, claims);
      lane.spend(taken);
    }
    for (Lane lane : able) {
      take(lane, budget - claims.size(), nowNanos, asked, claims);
    }
    if (claims.isEmpty()) {
      return false;
    }
    Map<Destination, Long> endedBefore = new HashMap<>();
    for (Lane lane : able) {
      Destination destination = lane.destination();
      if (destination != null) {
        endedBefore.put(destination, destination.ended());
      }
    }
    claimsUnderWay++;
    after(asked.stream().map(Asked::entry).toList(), asking(() -> store.claim(claims)), (batch, failure) -> {
      endedBefore.forEach(Destination::claimed);
      claimed(asked, claims, batch, failure, nowNanos);
    });
    return true;
  }

  private static double weight(Lane lane, int top) {
    return Math.scalb(1.0, Math.max(LOWEST_WEIGHT, lane.priority() - top));
  }

  /** The lanes that could start something, beginning each time with another one. */
  private List<Lane> ableLanes(long nowNanos) {
    List<Lane> able = new ArrayList<>();
    rotated = rotation.isEmpty() ? 0 : (rotated + 1) % rotation.size();
    for (int i = 0; i < rotation.size(); i++) {
      Lane lane = rotation.get((rotated + i) % rotation.size());
      if (lane.claimable() > 0 && lane.isServed() && !(lane.isPull() && lane.desk().isEmpty())
          && !lane.permits().isFull(lane.claimable(), nowNanos, wake) && lane.permits().rateWaitNanos(nowNanos) == 0) {
        able.add(lane);
      }
    }
    return able;
  }

  private int take(Lane lane, int wanted, long nowNanos, List<Asked> asked, List<Claim> claims) {
    Queue queue = lane.queue();
    if (wanted <= 0 || queue == null) {
      return 0;
    }
    Destination destination = lane.isPull() ? null : lane.destination();
    int demand = lane.isPull() ? lane.desk().demand() : wanted;
    Reserved memory = reserve(lane, destination, Math.min(Math.min(wanted, lane.claimable()), demand), nowNanos);
    int most = destination == null ? memory.count() : destination.acquire(memory.count(), nowNanos, wake);
    int given = lane.permits().acquire(most, nowNanos, wake);
    if (destination != null && given < most) {
      destination.giveBack(most - given);
    }
    giveBackUnused(lane, destination, memory, memory.count() - given);
    long leaseMillis = queue.target().timeout().toMillis() + options.leaseMarginMillis();
    long untilMillis = lane.permits().untilMillis();
    for (int i = 0; i < given; i++) {
      PullDesk.Waiter waiter = lane.isPull() ? lane.desk().reserve() : null;
      if (lane.isPull() && waiter == null) {
        lane.permits().giveBack(given - i);
        giveBackUnused(lane, null, memory, given - i);
        return i;
      }
      DueEntry entry = lane.take();
      readyEntries--;
      asked.add(new Asked(lane, entry, memory.bytesEach(), destination, waiter));
      claims.add(new Claim(entry.id(), waiter == null ? leaseMillis : waiter.leaseMillis(), untilMillis));
    }
    return given;
  }

  /** Memory for the payloads of so many attempts, each taken for so large. */
  private record Reserved(int count, long bytesEach) {}

  private Reserved reserve(Lane lane, @Nullable Destination destination, int wanted, long nowNanos) {
    Budget.Share parent = destination == null ? null : destination.memory();
    long bytesEach = lane.attemptBytes();
    int given = wanted == 0 ? 0 : lines.memory().acquire(wanted, bytesEach, lane.memory(), parent, wake);
    return given == 0 && wanted > 0 && lines.memory().acquireReserved(lane.memory(), parent, nowNanos)
        ? new Reserved(1, lines.memory().guarantee())
        : new Reserved(given, bytesEach);
  }

  private void giveBackUnused(Lane lane, @Nullable Destination destination, Reserved memory, int count) {
    lines.memory().giveBackUnused(lane.memory(), destination == null ? null : destination.memory(),
        memory.bytesEach() * count);
  }

  private void charge(Lane lane, @Nullable Destination destination, long bytes) {
    lines.memory().change(lane.memory(), destination == null ? null : destination.memory(), bytes);
  }

  /** Nothing on this node needs the payload any more. */
  private void releasePayload(Held claim) {
    claim.dropPayload();
    charge(claim.lane, claim.destination, -claim.bytes);
    claim.bytes = 0;
  }

  /** A worker gets the task: its payload takes memory until the worker's caller has taken it. */
  private void handedOver(Held claim, CompletionStage<?> taken) {
    claim.handedOver = true;
    claim.dropPayload();
    after(taken, (done, failure) -> releasePayload(claim));
  }

  private void claimed(List<Asked> asked, List<Claim> claims, @Nullable ClaimBatch batch, @Nullable Throwable failure,
      long sentNanos) {
    claimsUnderWay--;
    boolean answered = answeredBy("claim", claims.size(), sentNanos, failure);
    wrote(answered);
    if (answered) {
      claimBackoff.succeeded();
    } else {
      claimBackoff.failed(clock.monotonicNanos());
    }
    Set<Lane> pulled = new LinkedHashSet<>();
    for (int i = 0; i < asked.size(); i++) {
      Asked one = asked.get(i);
      ClaimResult result = batch == null ? null : batch.results().get(i);
      one.lane().judged(result instanceof ClaimResult.Later);
      if (result instanceof ClaimResult.Ready) {
        notClaimed(one, claims.get(i));
        continue;
      }
      if (result == null) {
        known.remove(one.entry().id());
      } else {
        leaves(one.entry());
      }
      if (result instanceof ClaimResult.Won won) {
        long leaseMillis = claims.get(i).leaseMillis();
        decided(one, true);
        guarded(() -> begin(one, won.task(), sentNanos, leaseMillis));
      } else {
        giveBack(one);
        notWon(one, result);
      }
      if (one.waiter() != null) {
        pulled.add(one.lane());
      }
    }
    pulled.forEach(lane -> lane.desk().answer(clock.monotonicNanos()));
  }

  /** It is due, and was asked for under permits whose time was over. */
  private void notClaimed(Asked one, Claim claim) {
    one.lane().permits().over(claim.notAfterMillis(), clock.monotonicNanos());
    giveBack(one);
    one.lane().putBack(one.entry());
    readyEntries++;
  }

  private void notWon(Asked one, @Nullable ClaimResult result) {
    if (result != null) {
      decided(one, false);
    }
    if (result instanceof ClaimResult.Later later) {
      lookAgain(one.entry().id(), one.entry().queue(), later.wakeAt());
    } else if (result instanceof ClaimResult.Gone gone && gone.endedAs() != null) {
      meter.leaseEnded(one.lane().name());
    }
  }

  /** Tells the overdue poll how a claim in a slot that is not this node's went. */
  private void decided(Asked one, boolean won) {
    int slot = one.entry().id().slot(slots.slotCount());
    if (!assigned.contains(slot) && overdue.claimed(slot, won, clock.monotonicNanos())) {
      updateSlots();
    }
  }

  private void giveBack(Asked one) {
    one.lane().permits().giveBack(1);
    charge(one.lane(), one.destination(), -one.bytes());
    if (one.destination() != null) {
      one.destination().giveBack(1);
    }
    if (one.waiter() != null) {
      one.lane().desk().lost(one.waiter());
    }
  }

  // Attempts.

  /**
   * Gives back a claim whose task is not of the lane's queue. The task is shown to no receiver and no worker; it comes back to
   * its own lane after a pause, so that whatever is wrong does not claim it again and again.
   */
  private void returnForeign(Asked one, Held claim) {
    LOG.log(System.Logger.Level.ERROR,
        "a task was claimed for another queue than its own; it is not delivered there, and"
            + " given back: task={0}, queue={1}, claimedFor={2}",
        claim.task.id(), claim.task.queue(), claim.lane.name());
    meter.foreign(claim.lane.name());
    claim.answered = true;
    giveUpDestination(claim);
    if (one.waiter() != null) {
      claim.lane.desk().lost(one.waiter());
    }
    ended(claim, new Outcome.Retry(Due.after(LAST_RETRY_NANOS / NANOS_PER_MILLI)),
        "not begun: it was claimed for another queue");
  }

  private void begin(Asked one, TaskRecord task, long sentNanos, long leaseMillis) {
    Lane lane = one.lane();
    Token token = task.token();
    assert token != null;
    Held claim = new Held(lane, task, one.destination());
    claim.begunNanos = clock.monotonicNanos();
    claim.begunMillis = storeMillis();
    claim.leaseEndMillis = millis(sentNanos) + leaseMillis;
    claim.leaseHandle = leases.schedule(wakeMillis(claim), claim);
    held.put(token, claim);
    charge(lane, claim.destination, claim.bytes - one.bytes());
    lane.begun(task.body().payload().length);
    if (!task.queue().equals(lane.name())) {
      returnForeign(one, claim);
      return;
    }
    long lateMicros = storeMicros() - task.dueAt() * 1_000;
    meter.claimed(lane.name(), lateMicros);
    if (lateMicros >= LATE_MILLIS * 1_000 && !assigned.contains(task.id())) {
      meter.stolen(lane.name());
    }
    if (one.waiter() != null) {
      claim.answered = true;
      isReportedLater(claim);
      lane.desk().won(one.waiter(), task, sentNanos + leaseMillis * NANOS_PER_MILLI);
      handedOver(claim, one.waiter().payloadsTaken());
      lookAgain(task.id(), task.queue(), task.leaseEnd());
      return;
    }
    Queue queue = lane.queue();
    Delivery delivery = lane.delivery();
    long leaseNanos = leaseMillis * NANOS_PER_MILLI;
    if (queue == null || delivery == null
        || claim.begunNanos - sentNanos + queue.target().timeout().toNanos() >= leaseNanos) {
      // The claim took so long that an attempt could outlive its lease, or the queue has gone: try again.
      claim.answered = true;
      giveUpDestination(claim);
      ended(claim, new Outcome.Retry(Due.NOW), "not begun: the claim took too long");
      return;
    }
    Attempt attempt = Attempt.of(queue, task, traceparent(task));
    CompletionStage<Answer> delivering = asking(() -> delivery.deliver(attempt));
    claim.delivering = delivering;
    after(delivering, (answer, failure) -> answered(claim, answer, failure));
  }

  private static void giveUpDestination(Held claim) {
    if (claim.destination != null) {
      claim.destination.giveBack(1);
    }
  }

  /** One trace per firing, one span per attempt. */
  private String traceparent(TaskRecord task) {
    Token trace = new Token(task.id().high() ^ task.generation(), task.id().low());
    String span = Long.toHexString(luck.next() | 1L);
    return "00-" + trace + "-" + "0".repeat(16 - span.length()) + span + "-01";
  }

  private void answered(Held claim, @Nullable Answer given, @Nullable Throwable failure) {
    if (claim.answered) {
      return;
    }
    Answer answer = given != null
        ? given
        : new Answer.Retry(null, Answer.Health.UNREACHABLE, String.valueOf(GroupCommit.unwrapped(failure)));
    claim.answered = true;
    claim.delivering = null;
    if (claim.destination != null) {
      claim.destination.answered(answer, clock.monotonicNanos());
    }
    switch (answer) {
      case Answer.Done done -> ended(claim, new Outcome.Finished(), done.detail());
      case Answer.Again again -> ended(claim, Lines.again(again.next()), again.detail());
      case Answer.Fail fail -> ended(claim, new Outcome.Failed(), fail.detail());
      case Answer.Retry retry -> retried(claim, retry);
      case Answer.Accepted accepted -> accepted(claim);
    }
  }

  private void accepted(Held claim) {
    isReportedLater(claim);
    if (claim.settled) {
      release(claim);
    } else {
      releasePayload(claim);
      lookAgain(claim.task.id(), claim.task.queue(), claim.task.leaseEnd());
    }
  }

  private void retried(Held claim, Answer.Retry retry) {
    Queue queue = claim.lane.queue();
    if (queue == null) {
      ended(claim, new Outcome.Retry(Due.after(LAST_RETRY_NANOS / NANOS_PER_MILLI)), retry.detail());
    } else {
      ended(claim, Lines.failed(claim.task, queue, retry.after(), luck.nextDouble()), retry.detail());
    }
  }

  private void ended(Held claim, Outcome outcome, String detail) {
    Token token = claim.task.token();
    assert token != null;
    settles.add(new Ending(claim, new Settlement(claim.task.id(), claim.task.generation(), token, outcome,
        claim.begunMillis, detail)));
  }

  private void settle(long nowNanos) {
    if (settles.isEmpty() || settlesUnderWay >= SETTLES_UNDER_WAY || !settleBackoff.isOver(nowNanos)) {
      return;
    }
    List<Ending> endings = new ArrayList<>();
    List<Settlement> settlements = new ArrayList<>();
    while (!settles.isEmpty() && endings.size() < settleBatch) {
      Ending ending = settles.remove();
      endings.add(ending);
      settlements.add(ending.settlement());
    }
    settlesUnderWay++;
    after(asking(() -> store.settle(settlements)), (results, failure) -> settled(endings, results, failure, nowNanos));
  }

  private void settled(List<Ending> endings, @Nullable List<SettleResult> results, @Nullable Throwable failure,
      long sentNanos) {
    settlesUnderWay--;
    long nowNanos = clock.monotonicNanos();
    boolean answered = answeredBy("settle", endings.size(), sentNanos, failure);
    wrote(answered);
    if (answered && results != null) {
      settleBackoff.succeeded();
      for (int i = 0; i < endings.size(); i++) {
        Ending ending = endings.get(i);
        SettleResult result = results.get(i);
        guarded(() -> settled(ending, result));
      }
      return;
    }
    settleBackoff.failed(nowNanos);
    for (Ending ending : endings) {
      if (!ending.held().released) {
        settles.add(ending);
      }
    }
  }

  private void settled(Ending ending, SettleResult result) {
    Held claim = ending.held();
    claim.lane.countSettled();
    String outcome = result.kind() == SettleResult.Kind.SETTLED
        ? word(ending.settlement().outcome(), result.state())
        : result.kind() == SettleResult.Kind.REPEATED ? "repeated" : "stale";
    meter.settled(claim.lane.name(), outcome, (clock.monotonicNanos() - claim.begunNanos) / 1_000);
    if (result.kind() == SettleResult.Kind.STALE || result.kind() == SettleResult.Kind.NOT_FOUND) {
      LOG.log(System.Logger.Level.WARNING, "a late report was refused: task={0}, generation={1}, attempt={2}",
          claim.task.id(), claim.task.generation(), claim.task.attempt());
    }
    if (result.wakeAt() != 0) {
      lookAgain(claim.task.id(), claim.task.queue(), result.wakeAt());
    }
    release(claim);
  }

  private static String word(Outcome outcome, TaskState state) {
    if (state == TaskState.CANCELLED) {
      return "cancelled";
    }
    return switch (outcome) {
      case Outcome.Finished finished -> "finished";
      case Outcome.Failed failed -> "failed";
      case Outcome.Retry retry -> "retried";
      case Outcome.Rearm rearm -> "rearmed";
    };
  }

  private void release(Held claim) {
    if (!claim.released) {
      claim.released = true;
      leases.cancel(claim.leaseHandle);
      Token token = claim.task.token();
      if (token != null) {
        held.remove(token);
      }
      if (!claim.handedOver) {
        releasePayload(claim);
      }
      claim.lane.ended();
      claim.lane.permits().release(1);
    }
  }

  /**
   * When to look at a claim that has begun: when its delivery should have answered, or else at the end of the lease.
   */
  private static long wakeMillis(Held claim) {
    Queue queue = claim.lane.queue();
    return queue == null || claim.destination == null
        ? claim.leaseEndMillis
        : Math.min(claim.leaseEndMillis,
            millis(claim.begunNanos) + queue.target().timeout().toMillis() + ANSWER_MILLIS);
  }

  /** A delivery has not answered in time. It is cancelled, so that a handler does not go on for nothing. */
  private void timedOut(Held claim) {
    CompletionStage<Answer> delivering = claim.delivering;
    if (delivering != null) {
      answered(claim, new Answer.Retry(null, Answer.Health.UNREACHABLE,
          "no answer within the timeout; the receiver may have done the work"), null);
      delivering.toCompletableFuture().cancel(true);
    }
  }

  private void leaseWoke(Held claim) {
    if (millis(clock.monotonicNanos()) < claim.leaseEndMillis) {
      claim.leaseHandle = leases.schedule(claim.leaseEndMillis, claim);
      timedOut(claim);
    } else {
      leaseEnded(claim);
    }
  }

  /**
   * Permits of a queue with a limit whose attempts end elsewhere: workers report to any node, and only the store knows.
   * A few are looked up each second, so that they are free again long before their leases end.
   */
  private void lookForReports(long nowNanos) {
    if (!store.isShared() || nowNanos - reportsNanos < 0) {
      return;
    }
    reportsNanos = nowNanos + SECOND_NANOS;
    int asked = 0;
    for (int left = reportedLater.size(); left > 0 && asked < REPORTS_PER_SECOND; left--) {
      Held claim = reportedLater.remove();
      if (!claim.released) {
        reportedLater.add(claim);
        releaseIfEnded(claim);
        asked++;
      }
    }
  }

  private void isReportedLater(Held claim) {
    claim.reportsLater = true;
    Queue queue = claim.lane.queue();
    if (queue != null && queue.concurrency() != null && store.isShared()) {
      reportedLater.add(claim);
    }
  }

  /** The lease is over by this node's monotonic clock. */
  private void leaseEnded(Held claim) {
    if (!claim.reportsLater) {
      if (!claim.answered) {
        LOG.log(System.Logger.Level.WARNING, "a delivery did not answer before the lease ended: task={0}, queue={1}",
            claim.task.id(), claim.task.queue());
        if (claim.destination != null) {
          claim.destination.ill(Answer.Health.UNREACHABLE, clock.monotonicNanos());
        }
        claim.answered = true;
      }
      release(claim);
      return;
    }
    releaseIfEnded(claim);
  }

  private void releaseIfEnded(Held claim) {
    after(asking(() -> store.find(new TaskRef.ById(claim.task.id()))), (found, failure) -> {
      if (claim.released) {
        return;
      }
      TaskRecord task = found == null ? null : found.orElse(null);
      boolean stands = failure != null || (task != null && task.state() == TaskState.RUNNING
          && claim.task.token() != null && claim.task.token().equals(task.token())
          && task.leaseEnd() > storeMillis());
      if (stands) {
        long leftMillis = task == null ? LAST_RETRY_NANOS / NANOS_PER_MILLI : task.leaseEnd() - storeMillis();
        leases.cancel(claim.leaseHandle);
        claim.leaseEndMillis = millis(clock.monotonicNanos()) + Math.max(1, leftMillis);
        claim.leaseHandle = leases.schedule(claim.leaseEndMillis, claim);
      } else {
        release(claim);
      }
    });
  }

  // What is done from time to time.

  private void housekeeping(long now, long nowNanos) {
    if (nowNanos - clockNanos >= 0) {
      clockNanos = nowNanos + SECOND_NANOS;
      CompletionStage<Void> measured = measureClock();
      assert measured != null;
    }
    if (storeAnswers && nowNanos - answerNanos >= SILENCE_NANOS) {
      LOG.log(System.Logger.Level.WARNING, "the store has not answered for {0} ms; going on trying",
          (nowNanos - answerNanos) / NANOS_PER_MILLI);
      storeAnswered(false);
    }
    if (nowNanos - secondNanos >= 0) {
      secondNanos = nowNanos + SECOND_NANOS;
      eachSecond.run();
    }
    lookForReports(nowNanos);
    eachTurn.accept(nowNanos);
    for (Lane lane : rotation) {
      lane.sampleFlow(nowNanos);
      if (lane.isPull() && !lane.desk().isEmpty()) {
        lane.desk().answer(nowNanos);
      }
    }
    if (nowNanos - statusNanos >= 0) {
      statusNanos = nowNanos + STATUS_NANOS;
      publishStatus(now, nowNanos);
    }
    if (drained != null && draining) {
      boolean done = settles.isEmpty() && claimsUnderWay == 0 && settlesUnderWay == 0
          && held.values().stream().allMatch(claim -> claim.reportsLater);
      if (done || nowNanos - drainUntilNanos >= 0) {
        drained.complete(done);
      }
    }
  }

  /**
   * Reads the store's clock, and takes the middle of the call for the instant it was read. A store in this process answers
   * within the call, which counts from its beginning, and is read often; another one is asked once a second.
   */
  CompletionStage<Void> measureClock() {
    int slot = Math.max(0, slots.next(0));
    long beforeMicros = clock.wallMicros();
    long begunNanos = clock.monotonicNanos();
    CompletionStage<Long> asked = asking(() -> store.timeMicros(slot));
    boolean inProcess = asked.toCompletableFuture().isDone();
    return asked.handle((storeMicros, failure) -> {
      long halfNanos = (clock.monotonicNanos() - begunNanos) / 2;
      long middleNanos = begunNanos + halfNanos;
      if (storeMicros != null) {
        long offsetMicros = storeMicros - beforeMicros - halfNanos / 1_000;
        // In this process the clocks are one: counted from the beginning it can only seem ahead, and nothing is late.
        reckoning = inProcess
            ? new Reckoning(storeMicros, begunNanos, 0, offsetMicros)
            : reckoning.or(new Reckoning(storeMicros, middleNanos, halfNanos, offsetMicros));
      }
      post(() -> {
        storeAnswered(failure == null);
        clockNanos = middleNanos + (inProcess ? CLOCK_IN_PROCESS_NANOS : SECOND_NANOS);
      });
      return null;
    });
  }

  private void publishStatus(long now, long nowNanos) {
    List<LaneStatus> published = new ArrayList<>();
    Map<String, Double> settled = new HashMap<>();
    long oldest = Long.MAX_VALUE;
    for (Lane lane : rotation) {
      published.add(statusOf(lane, now));
      settled.put(lane.name(), lane.settledPerSecond(nowNanos));
      oldest = Math.min(oldest, lane.oldest());
    }
    long oldestDueMillis = oldest == Long.MAX_VALUE ? 0 : Math.max(0, now - oldest);
    boolean refusesWrites = writesFail && nowNanos - writeFailedNanos < UNWRITTEN_NANOS;
    status = new Status(wheel.size(), List.copyOf(published), Map.copyOf(settled), oldestDueMillis,
        overdue.overdueMillis(slots, now), storeAnswers && !refusesWrites, reckoning.offsetMicros());
  }

  private static LaneStatus statusOf(Lane lane, long now) {
    long oldest = lane.oldest();
    return new LaneStatus(lane.name(), lane.waiting(), lane.running(), lane.hasParked(),
        oldest == Long.MAX_VALUE ? 0 : Math.max(0, now - oldest));
  }

  /** Destinations as they stand, for the status. */
  static List<DestinationStatus> statusOf(Collection<Destination> destinations) {
    return destinations.stream().map(one -> new DestinationStatus(one.name(), one.limit(), one.running())).toList();
  }
}
