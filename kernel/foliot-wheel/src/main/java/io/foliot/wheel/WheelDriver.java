package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The thread that advances a {@link NodeWheel} for any number of callers. It sleeps until the next deadline, or for
 * ever if there is none. It sleeps a little longer if deadlines follow each other quickly. Callers wake it for an
 * earlier deadline, and after many calls ({@link #CALLS_PER_WAKE}).
 *
 * <p>This class is one file because each handshake has a caller's half and a driver's half, which are proven together.
 */
final class WheelDriver implements NodeWheel.Visitor, Runnable {
  /*
   * A caller changes the state of a node with one compare-and-set (see WheelNode). It puts the node into the hand-off
   * queue if the driver must place a new node, or must move a node to an earlier deadline. A cancel and a later
   * deadline need no hand-off: the driver finds them when the wheel reaches the entry.
   *
   * Sleeping is Dekker's protocol. The driver writes wakeAt and then empties the hand-off once more. A caller writes
   * the hand-off and then reads wakeAt. All these accesses are sequentially consistent, so the driver sees the node or
   * the caller sees wakeAt. A caller that sees wakeAt and needs no earlier wake leaves its node in the hand-off until
   * the next turn. Callers change wakeAt to AWAKE by compare-and-set, and only the caller that succeeds unparks the
   * driver. So a sleep costs one unpark for any number of callers.
   *
   * Timers fire in the order of their deadlines. The driver works in rounds of one or more turns. A round reads the
   * time, takes all nodes that were handed off before, and then fires the timers due at that time. The wheel keeps
   * their order to the nanosecond. If a timer is handed off after a round began, its deadline is at or after the time
   * of the round. The only exception is a timer whose call was in progress when the round began.
   *
   * An exception of a callback is reported and the driver continues. Any other exception ends the driver, because the
   * wheel may be inconsistent. Examples are an OutOfMemoryError while an entry moves, and an exception of the clock.
   * The driver then reports the failure, rejects further timers, and leaves the waiting ones to the next stop. An entry
   * is added at its new place before it is removed from its old place, so a stop finds every entry.
   *
   * The producer index of the hand-off counts the accepted timers, and the hand-offs that notNew counts: those of
   * resets, visits and rejected timers.
   *
   * Rejected: a Treiber stack through a link in the nodes. It takes 4 bytes more per timer, and draining the stack is a
   * chain of cache misses. Also rejected: a lock around the wheel. A caller would wait while the driver drains a slot.
   */

  /** Largest deadline, 146 years after the driver's creation: the word of a node has 62 bits for a deadline. */
  private static final long MAX_DEADLINE_NANOS = (1L << 62) - 1;

  /** Largest number of nodes that one turn takes from the hand-off: about 100 microseconds of work. */
  private static final int DRAIN_LIMIT = 4096;

  /**
   * Largest number of timers that one turn touches in the wheel: about 100 microseconds of work. The sort of a tick's
   * timers is not limited.
   */
  private static final int ADVANCE_LIMIT = 1024;

  /** Largest number of entries that one turn sweeps, and the largest that it stages: 100 microseconds of work each. */
  private static final int MOVE_LIMIT = 4096;

  /**
   * Number of hand-offs that wakes a sleeping driver even if none of them is urgent. The same number of cancels in one
   * stripe of the counter does so too. This bounds the length of the hand-off, and the number of cancelled timers,
   * until the next deadline. Concurrent callers may miss a multiple of this number, and a hand-off by a reset does not
   * look for it; then the next multiple wakes the driver.
   */
  private static final int CALLS_PER_WAKE = 4096;

  /**
   * Minimum average interval, in nanoseconds, at which the driver wakes by itself. {@link #WAKE_UP_BURST} wake-ups may
   * follow each other more quickly. A wake-up costs as much as firing dozens of timers, so beyond this rate due timers
   * wait and fire together.
   */
  private static final long NANOS_PER_WAKE_UP = 1_000_000;

  private static final int WAKE_UP_BURST = 16;

  /** Number of firings from one read of the clock to the next; the reads measure lateness. */
  private static final int FIRINGS_PER_CLOCK_READ = 16;

  /** Number of nodes in one array of the hand-off. */
  private static final int HAND_OFF_CHUNK = 1024;

  /** Value of {@link #wakeAt} while the driver does not sleep. */
  private static final long AWAKE = Long.MIN_VALUE;

  /** Deadline that is earlier than the end of any sleep of the driver. */
  private static final long AT_ONCE = -1;

  private static final int NEW = 0;
  private static final int RUNNING = 1;
  private static final int FAILED = 2;
  private static final int STOPPING = 3;
  private static final int STOPPED = 4;

  /** The owner of a driver. It prepares the start of the driver and handles failures. */
  interface Owner {
    /**
     * Called before the driver thread starts, in the call that schedules the first timer. If this method throws, that
     * call throws the same exception.
     */
    default void starting() {}

    /**
     * Called on the driver thread after the {@code expire} methods of some nodes were called, before the driver does
     * other work.
     */
    default void handOver() {}

    /** Called on the driver thread when the {@code expire} method of a fired node has thrown. */
    void failed(WheelNode node, Throwable failure);

    /** Called on the driver thread before it ends after a failure. The next stop returns the waiting timers. */
    default void died() {}
  }

  private final TimerClock clock;
  private final long originNanos;
  private final int tickShift;
  private final long slackTicks;
  private final int handOffLimit;
  private final Owner owner;
  private final Thread thread;

  // Fields that any thread uses.
  private final MpscUnboundedVarHandleArrayQueue<WheelNode> handOff = new MpscUnboundedVarHandleArrayQueue<>(
      HAND_OFF_CHUNK);
  /** Difference between the hand-off's producer index and the number of accepted timers. */
  private final StripedCounter notNew = new StripedCounter();

  private final StripedCounter cancelled = new StripedCounter();

  /**
   * State of the driver: NEW -> RUNNING -> STOPPING -> STOPPED, or NEW -> STOPPED, or RUNNING -> FAILED -> STOPPING ->
   * STOPPED. The thread starts with the first timer. The state is RUNNING once the start has succeeded.
   */
  private final AtomicInteger state = new AtomicInteger(NEW);

  /** Lock held while the thread is started, so that the thread first reads the state after RUNNING was set. */
  private final ReentrantLock startLock = new ReentrantLock();

  /** Latch that opens when the driver thread ends. */
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Error that ended the driver; null if none did. Written before the state FAILED and before the latch opens. */
  private volatile @Nullable Throwable failure;

  /** Latest visit, which may wait for the driver; null if there was none. */
  private volatile @Nullable Visit pendingVisit;

  /**
   * Time at which the driver's sleep ends, in nanoseconds since the driver's creation. AWAKE if no caller needs to wake
   * the driver.
   */
  private final AtomicLong wakeAt = new AtomicLong(AWAKE);

  // Fields that only the driver thread uses. If the thread has died, the first stop uses them.
  private final NodeWheel wheel = new NodeWheel(0);
  private final List<WheelNode> unfired = new ArrayList<>();

  /** Earliest time, in nanoseconds since the driver's creation, at which the driver wakes by itself. */
  private long wakeUpNotBefore = -WAKE_UP_BURST * NANOS_PER_WAKE_UP;

  /** Time at which this turn began. */
  private long turnNanos;

  /**
   * Time at which this round began. All timers due at this time are fired, in one or more turns, before the next round
   * begins.
   */
  private long roundNanos;

  /** The hand-off's producer index when this round began. */
  private long roundHandOffs;

  /** True if the next turn begins a round. */
  private boolean roundOver = true;

  /** Time of one of the last {@link #FIRINGS_PER_CLOCK_READ} firings. */
  private long fireNanos;

  // Fields that the driver thread writes and any thread reads.
  private final LatenessHistogram lateness = new LatenessHistogram();
  private final AtomicLong fired = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong wakeUps = new AtomicLong();
  private final AtomicLong longestTurnNanos = new AtomicLong();

  /**
   * Creates a driver that has not been started.
   *
   * @throws IllegalThreadStateException if the thread factory returns a thread that was started
   */
  WheelDriver(WheelTimer.Builder settings, Owner owner) {
    this.clock = settings.clock;
    this.originNanos = clock.nanoTime();
    this.tickShift = settings.tickShift;
    this.slackTicks = settings.slackNanos >> tickShift;
    this.handOffLimit = settings.handOffLimit;
    this.owner = owner;
    this.thread = requireNonNull(settings.threadFactory.newThread(this), "the thread factory returned null");
    if (thread.getState() != Thread.State.NEW) {
      throw new IllegalThreadStateException("the thread factory returned a thread that was started: thread=" + thread);
    }
  }

  /** Returns the nanoseconds since the driver's creation; never negative. */
  long nowNanos() {
    return clock.nanoTime() - originNanos;
  }

  /** Returns the deadline after a delay in nanoseconds; a negative delay is taken as 0. */
  long deadlineNanos(long delayNanos) {
    return later(nowNanos(), Math.max(0, delayNanos));
  }

  /** Returns the sum of two numbers that are not negative, or MAX_DEADLINE_NANOS if that is less. */
  static long later(long timeNanos, long byNanos) {
    return timeNanos + Math.min(byNanos, MAX_DEADLINE_NANOS - timeNanos);
  }

  /**
   * Accepts a new node.
   *
   * @throws RejectedExecutionException if the driver has stopped or died or cannot be started, or the hand-off is full;
   *     the node will not fire
   */
  void schedule(WheelNode node, long deadlineNanos) {
    ensureRunning();
    if (handOffLimit != Integer.MAX_VALUE && handOff.size() >= handOffLimit) {
      throw new RejectedExecutionException(
          "the hand-off to the driver is full: limit=" + handOffLimit + ", so this timer was not scheduled");
    }
    handOff(node, deadlineNanos);
  }

  private void handOff(WheelNode node, long deadlineNanos) {
    handOff.offer(node);
    if (state.get() != RUNNING && node.end(WheelNode.CANCELLED)) {
      // The driver may have emptied the hand-off for the last time before this node was added.
      notNew.add(1);
      throw rejection();
    }
    try {
      wakeBefore(handOff.currentProducerIndex() % CALLS_PER_WAKE == 0 ? AT_ONCE : deadlineNanos);
    } catch (Throwable e) {
      // The clock has failed. A caller that gets an exception gets no handle, so the node must not fire later.
      if (cancel(node)) {
        throw e;
      }
    }
  }

  private void ensureRunning() {
    if (state.get() != RUNNING) {
      start();
    }
  }

  private void start() {
    startLock.lock();
    try {
      if (state.get() == NEW) {
        owner.starting();
        startThread();
        state.compareAndSet(NEW, RUNNING);
      }
    } finally {
      startLock.unlock();
    }
    if (state.get() != RUNNING) {
      throw rejection();
    }
  }

  private void startThread() {
    try {
      thread.start();
    } catch (Throwable e) {
      // The usual cause is a temporary lack of threads or memory, so the next timer tries again.
      throw new RejectedExecutionException("the timer's thread cannot be started, so this timer was not scheduled", e);
    }
  }

  /**
   * Accepts a node that has fired, as {@link #schedule} accepts a new node. The limit of the hand-off does not apply,
   * because the node was accepted before.
   */
  void scheduleAgain(WheelNode node, long deadlineNanos) {
    boolean queued = node.arm(deadlineNanos);
    if (!queued) {
      ensureRunning();
      handOff(node, deadlineNanos);
    } else {
      // The entry of an earlier reset is still in the hand-off. From now on it counts as a new timer.
      notNew.add(-1);
      wakeBefore(deadlineNanos);
    }
  }

  /** Returns the exception that rejects a timer and gives the reason. */
  RejectedExecutionException rejection() {
    Throwable cause = failure;
    return cause == null
        ? new RejectedExecutionException("the timer has stopped, so this timer was not scheduled")
        : new RejectedExecutionException("the timer's thread has died, so this timer was not scheduled", cause);
  }

  boolean isDead() {
    return failure != null;
  }

  /** Cancels a node; returns whether it had neither fired nor been cancelled. */
  boolean cancel(WheelNode node) {
    boolean cancels = node.end(WheelNode.CANCELLED);
    if (cancels && cancelled.add(1) % CALLS_PER_WAKE == 0) {
      wakeBefore(AT_ONCE);
    }
    return cancels;
  }

  /** Changes the deadline of a node; returns whether it had neither fired nor been cancelled. */
  boolean reset(WheelNode node, long deadlineNanos) {
    while (true) {
      long word = node.word();
      if (!WheelNode.isArmed(word)) {
        return false;
      }
      boolean queued = WheelNode.isQueued(word);
      boolean nearer = deadlineNanos < WheelNode.deadlineNanos(word);
      long armed = WheelNode.armed(deadlineNanos);
      if (node.replace(word, queued || nearer ? armed | WheelNode.QUEUED : armed)) {
        if (!queued && nearer) {
          notNew.add(1);
          handOff.offer(node);
          // Between the compare-and-set and the offer, another thread may have reset the queued node to a still earlier
          // deadline. If so, that thread woke the driver before the node was in the hand-off.
          long handedOff = node.word();
          wakeBefore(WheelNode.isArmed(handedOff) ? WheelNode.deadlineNanos(handedOff) : deadlineNanos);
        } else if (nearer) {
          wakeBefore(deadlineNanos);
        }
        return true;
      }
    }
  }

  /** Wakes the driver if its sleep ends after the tick of a deadline. */
  private void wakeBefore(long deadlineNanos) {
    long sleepsUntil = wakeAt.get();
    if (deadlineNanos < sleepsUntil
        && placeTick(deadlineNanos) << tickShift < sleepsUntil
        && wakeAt.compareAndSet(sleepsUntil, AWAKE)) {
      clock.unpark(thread);
    }
  }

  /**
   * Stops the driver, and waits until its thread and any running inline callback have ended. A call from such a
   * callback does not wait.
   *
   * @return the nodes that had neither fired nor been cancelled; this call has cancelled them. Later calls return an
   *     empty list at once
   */
  List<WheelNode> stop() {
    if (state.compareAndSet(NEW, STOPPED)
        || !(state.compareAndSet(RUNNING, STOPPING) || state.compareAndSet(FAILED, STOPPING))) {
      return List.of();
    }
    if (Thread.currentThread() != thread) {
      clock.unpark(thread);
      awaitUninterruptibly(ended);
    }
    if (state.get() != STOPPED) {
      // This is the driver thread, or the thread has died.
      collectUnfired();
    }
    return List.copyOf(unfired);
  }

  /** A node in the hand-off that runs an action for each waiting node. It is no timer and is not counted as one. */
  private final class Visit extends WheelNode {
    private final Consumer<WheelNode> action;
    final CountDownLatch done = new CountDownLatch(1);
    private volatile @Nullable Throwable failure;

    Visit(Consumer<WheelNode> action) {
      super(0);
      this.action = action;
    }

    @Override
    int preload() {
      return 0;
    }

    @Override
    void expire() {
      try {
        wheel.forEach(node -> {
          if (isArmed(node.word())) {
            action.accept(node);
          }
        });
      } catch (Throwable e) {
        failure = e;
      } finally {
        done.countDown();
      }
    }
  }

  /**
   * Runs an action on the driver thread for each waiting node, possibly more than once for a node. Returns when the
   * action has run for all of them, or when the driver stops. At most one call may be under way, because the death of
   * the driver ends only the latest visit.
   *
   * @throws IllegalStateException if the action threw; the action has not run for the remaining nodes
   */
  void forEachPending(Consumer<WheelNode> action) {
    if (state.get() != RUNNING) {
      return;
    }
    Visit visit = new Visit(action);
    pendingVisit = visit;
    notNew.add(1);
    handOff.offer(visit);
    if (state.get() != RUNNING && visit.end(WheelNode.CANCELLED)) {
      return;
    }
    wakeBefore(AT_ONCE);
    awaitUninterruptibly(visit.done);
    if (visit.failure != null) {
      throw new IllegalStateException("an action failed for one of the waiting timers", visit.failure);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    try {
      work();
    } catch (Throwable e) {
      die(e);
    }
  }

  /** Makes turns until the driver is stopped. */
  void work() {
    if (stateOnceStarted() == NEW) {
      // The thread factory has started the thread, so the constructor rejects the thread.
      return;
    }
    long began = nowNanos();
    while (state.get() == RUNNING) {
      boolean more = turn(began);
      long ended = nowNanos();
      if (ended - began > longestTurnNanos.getPlain()) {
        longestTurnNanos.lazySet(ended - began);
      }
      began = more || state.get() != RUNNING ? ended : sleep(ended);
    }
    if (state.get() != STOPPED) {
      collectUnfired();
    }
    ended.countDown();
  }

  /** Returns the state, which is NEW only if the driver has not started this thread. */
  private int stateOnceStarted() {
    startLock.lock();
    try {
      return state.get();
    } finally {
      startLock.unlock();
    }
  }

  /**
   * Records the failure and leaves the waiting nodes to the next stop. Allocates nothing before the threads that wait
   * for the driver are released.
   */
  private void die(Throwable cause) {
    failure = cause;
    state.compareAndSet(RUNNING, FAILED);
    ended.countDown();
    Visit visit = pendingVisit;
    if (visit != null) {
      visit.done.countDown();
    }
    ErrorLog.log(
        () -> "the timer's thread has died; its timers do not fire, and further ones are rejected: live=" + live(),
        cause);
    try {
      // The cause may be that the nodes that fired last could not be handed over.
      owner.handOver();
      owner.died();
    } catch (Throwable e) {
      ErrorLog.log(() -> "cannot handle the death of the timer's thread; waiting tasks may never end", e);
    }
  }

  /** Makes one turn; returns whether another turn must follow without a sleep. */
  private boolean turn(long beganNanos) {
    turnNanos = beganNanos;
    boolean continues = !roundOver;
    if (roundOver) {
      // The index is read after the time, so that all nodes handed off before that time are taken first.
      roundNanos = beganNanos;
      roundHandOffs = handOff.currentProducerIndex();
    }
    boolean emptied = emptyHandOff();
    boolean complete = emptied || handOff.currentConsumerIndex() >= roundHandOffs;
    int touched = complete ? wheel.advance(placeTick(roundNanos), roundNanos, ADVANCE_LIMIT, this) : 0;
    roundOver = complete && touched < ADVANCE_LIMIT;
    wheel.sweepIfWorthwhile(live());
    int swept = wheel.sweep(MOVE_LIMIT);
    int staged = wheel.stage(MOVE_LIMIT, this);
    // Time passes during a round of several turns, so more timers may be due at its end.
    return !emptied || !roundOver || continues || swept >= MOVE_LIMIT || staged >= MOVE_LIMIT;
  }

  /** Returns the number of waiting timers, including those in the hand-off. */
  private long live() {
    return scheduled() - fired.getPlain() - cancelled.sum();
  }

  private long scheduled() {
    // In this order of reads, only hand-offs of new nodes are counted as new timers.
    long handOffs = handOff.currentProducerIndex();
    return handOffs - notNew.sum();
  }

  /** Sleeps until there is something to do, and returns the time after the sleep. */
  private long sleep(long now) {
    long wakeTick = wheel.nextWake(this);
    long dueNanos = wakeTick == TimerQueue.NEVER ? Long.MAX_VALUE : wakeTick << tickShift;
    if (Math.max(dueNanos, now) < wakeUpNotBefore) {
      return rest(now);
    }
    if (dueNanos <= now) {
      return now;
    }
    wakeAt.set(dueNanos);
    if (emptyHandOff() && wheel.nextWake(this) >= wakeTick && state.get() == RUNNING) {
      park(dueNanos == Long.MAX_VALUE ? TimerClock.FOREVER : dueNanos - now);
    }
    wakeAt.set(AWAKE);
    return woken(dueNanos);
  }

  /**
   * Sleeps until the driver may wake by itself, while due timers wait. The field wakeAt remains AWAKE, so no call of
   * {@link #wakeBefore} ends this sleep.
   */
  private long rest(long now) {
    long untilNanos = wakeUpNotBefore;
    park(untilNanos - now);
    return woken(untilNanos);
  }

  private void park(long nanos) {
    clock.park(nanos);
    wakeUps.lazySet(wakeUps.getPlain() + 1);
  }

  /** Returns the time now. If the driver woke by itself, and was not woken by a caller, delays its next wake-up. */
  private long woken(long dueNanos) {
    long now = nowNanos();
    if (now >= dueNanos) {
      // The generic cell rate algorithm of ATM, with the tolerance subtracted in advance.
      wakeUpNotBefore = Math.max(wakeUpNotBefore, now - WAKE_UP_BURST * NANOS_PER_WAKE_UP) + NANOS_PER_WAKE_UP;
    }
    return now;
  }

  /**
   * Takes nodes until the hand-off is empty, or up to a limit. Unlike a drain, a poll waits for a caller that has
   * reserved a place in the queue and not yet filled it. So no node behind that place is skipped.
   *
   * @return false if the limit was reached, so that nodes may remain
   */
  private boolean emptyHandOff() {
    for (int taken = 0; taken < DRAIN_LIMIT; taken++) {
      WheelNode node = handOff.poll();
      if (node == null) {
        return true;
      }
      take(node);
    }
    return false;
  }

  /** Places a node from the hand-off, if it is armed. */
  private void take(WheelNode node) {
    long word = node.dequeue();
    if (node instanceof Visit) {
      // The nodes that were handed off before the visit are in the wheel now.
      if (node.end(WheelNode.FIRED)) {
        node.expire();
      }
    } else if (WheelNode.isArmed(word)) {
      long deadlineNanos = WheelNode.deadlineNanos(word);
      wheel.place(node, placeTick(deadlineNanos), deadlineNanos);
    }
  }

  /** Fires a node unless it has ended or was reset to a later deadline. */
  @Override
  public long visit(WheelNode node, long dueNanos) {
    long firedBefore = fired.getPlain();
    if (firedBefore % FIRINGS_PER_CLOCK_READ == 0) {
      fireNanos = nowNanos();
    }
    while (true) {
      long word = node.word();
      if (!WheelNode.isArmed(word)) {
        return NodeWheel.GONE;
      }
      long deadlineNanos = WheelNode.deadlineNanos(word);
      if (deadlineNanos > dueNanos) {
        return deadlineNanos;
      }
      if (node.replace(word, WheelNode.FIRED | (word & WheelNode.QUEUED))) {
        lateness.record(Math.max(fireNanos, turnNanos) - deadlineNanos);
        fired.lazySet(firedBefore + 1);
        try {
          node.expire();
        } catch (Throwable e) {
          report(node, e);
        }
        return NodeWheel.GONE;
      }
    }
  }

  @Override
  public void visitsEnded() {
    owner.handOver();
  }

  private void report(WheelNode node, Throwable failure) {
    failed.lazySet(failed.getPlain() + 1);
    try {
      owner.failed(node, failure);
    } catch (Throwable e) {
      if (e != failure) {
        e.addSuppressed(failure);
      }
      ErrorLog.toUncaughtExceptionHandler(e);
    }
  }

  /** Cancels all waiting nodes and adds them to the list that {@link #stop} returns. */
  private void collectUnfired() {
    for (WheelNode node = handOff.poll(); node != null; node = handOff.poll()) {
      collect(node);
    }
    wheel.removeAll(this::collect);
    state.set(STOPPED);
  }

  /** Cancels a waiting node and adds it to the list. If this method throws, it can be called again for the node. */
  private void collect(WheelNode node) {
    if (node instanceof Visit visit) {
      if (visit.end(WheelNode.CANCELLED)) {
        visit.done.countDown();
      }
    } else if (WheelNode.isArmed(node.word())) {
      unfired.add(node);
      if (node.end(WheelNode.CANCELLED)) {
        cancelled.add(1);
      } else {
        unfired.removeLast();
      }
    }
  }

  /** Returns the first tick that begins at or after the deadline. */
  private long tick(long deadlineNanos) {
    return (deadlineNanos + (1L << tickShift) - 1) >> tickShift;
  }

  /**
   * Returns the tick at which a timer with this deadline is placed. The slack may put it after the tick of the
   * deadline.
   */
  @Override
  public long placeTick(long deadlineNanos) {
    return SlotMap.coarsen(tick(deadlineNanos), slackTicks);
  }

  TimerCounters counters() {
    // With this order of reads, the producer index includes every timer that is counted as fired or cancelled.
    long firedNow = fired.get();
    long cancelledNow = cancelled.sum();
    return new TimerCounters(
        scheduled(),
        firedNow,
        cancelledNow,
        failed.get(),
        wakeUps.get(),
        longestTurnNanos.get(),
        new TimerCounters.Lateness(lateness.snapshot()));
  }
}
