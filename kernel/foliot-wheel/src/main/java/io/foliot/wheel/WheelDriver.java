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
 * The thread that turns a {@link NodeWheel} for any number of callers. It sleeps until the next deadline, a little
 * longer if deadlines follow each other quickly, for ever if there is none, and is woken only for an earlier one.
 *
 * <p>One file, because the callers' half and the driver's half of each handshake are proven against each other.
 */
final class WheelDriver implements NodeWheel.Visitor, Runnable {
  /*
   * A caller writes the state of a node with one compare-and-set (see WheelNode) and puts the node into the hand-off if
   * the driver must act: to place a new one, to move one whose deadline came nearer. A cancel and a deadline that is
   * pushed back need no hand-off: the driver finds them when the wheel gets to the entry.
   *
   * Sleeping is Dekker's protocol: the driver writes wakeAt and then empties the hand-off once more; a caller writes
   * the hand-off and then reads wakeAt; both sides are sequentially consistent, so at least one sees the other. A node
   * handed off after that last read, by a caller that has seen wakeAt, may wait for the next turn. The caller whose
   * compare-and-set takes wakeAt to AWAKE unparks, so a sleep costs one unpark however many callers there are.
   *
   * Timers fire in the order of their deadlines. The driver works in rounds: it reads the time, takes all that was
   * handed off before, and then fires what is due at that time, in the order that the wheel keeps to the nanosecond, in
   * as many turns as it takes. A timer handed off later is due later, so it never has to be fired before what a round
   * fires, unless its call was under way when the round began.
   *
   * An exception of a callback is reported and the driver continues. Any other exception, such as an OutOfMemoryError
   * while an entry moves or an exception of the clock, ends the driver, because the wheel may be inconsistent then: it
   * reports the failure, rejects further timers, and leaves waiting ones to the next stop. An entry is added at its new
   * place before it is removed from its old one, so that a stop finds each of them.
   *
   * The hand-off's producer index counts the accepted timers, and the few hand-offs that were not of new ones.
   *
   * Rejected: a Treiber stack through a link in the nodes (4 bytes more a timer, and draining it is a chain of cache
   * misses); a lock around the wheel (a caller then waits while a slot is drained).
   */

  /** The last deadline, 146 years from the start; later ones are cut to it, because a word has 62 bits for them. */
  private static final long MAX_DEADLINE_NANOS = (1L << 62) - 1;

  /** Nodes that one turn takes from the hand-off: about 100 microseconds of work. */
  private static final int DRAIN_LIMIT = 4096;

  /** Timers that one turn touches before it polls the hand-off again: about 100 microseconds of work. */
  private static final int ADVANCE_LIMIT = 1024;

  /** Entries that one turn sweeps, and entries that it stages: about 100 microseconds of work each. */
  private static final int MOVE_LIMIT = 4096;

  /**
   * Number of calls after which a sleeping driver is woken although no call is urgent, so that neither the hand-off nor
   * cancelled timers pile up until the next deadline. Racing callers may miss such a call; then a later one wakes the
   * driver.
   */
  private static final int CALLS_PER_WAKE = 4096;

  /**
   * Least average interval at which the driver wakes by itself; {@link #WAKE_UP_BURST} wake-ups may follow each other
   * more quickly. A wake-up costs as much as firing dozens of timers, so beyond this rate due timers wait and fire
   * together.
   */
  private static final long NANOS_PER_WAKE_UP = 1_000_000;

  private static final int WAKE_UP_BURST = 16;

  /** Firings between two reads of the clock for the lateness of those that follow. */
  private static final int FIRINGS_PER_CLOCK_READ = 16;

  /** Nodes in one array of the hand-off. */
  private static final int HAND_OFF_CHUNK = 1024;

  private static final long AWAKE = Long.MIN_VALUE;

  /** A time before any end of the driver's sleep. */
  private static final long AT_ONCE = -1;

  private static final int NEW = 0;
  private static final int RUNNING = 1;
  private static final int FAILED = 2;
  private static final int STOPPING = 3;
  private static final int STOPPED = 4;

  /** The owner of a driver, which runs its callbacks and knows their type. */
  interface Owner {
    /**
     * Called before the driver thread starts, in the call that schedules the first timer; an exception rejects that
     * timer.
     */
    default void starting() {}

    /** Called on the driver thread when a node that has fired could not be run, or has thrown. */
    void failed(WheelNode node, Throwable failure);

    /** Called when the driver has died, on its thread. The next stop returns the waiting timers. */
    default void died() {}
  }

  private final TimerClock clock;
  private final long originNanos;
  private final int tickShift;
  private final long slackTicks;
  private final int handOffLimit;
  private final Owner owner;
  private final Thread thread;

  // Any thread.
  private final MpscUnboundedVarHandleArrayQueue<WheelNode> handOff = new MpscUnboundedVarHandleArrayQueue<>(
      HAND_OFF_CHUNK);
  /** The difference between the hand-off's producer index and the number of accepted timers. */
  private final StripedCounter notNew = new StripedCounter();

  private final StripedCounter cancelled = new StripedCounter();

  /**
   * NEW -> RUNNING -> STOPPING -> STOPPED, NEW -> STOPPED, RUNNING -> FAILED -> STOPPING. The thread starts with the
   * first timer, and is RUNNING once its start has succeeded.
   */
  private final AtomicInteger state = new AtomicInteger(NEW);

  /** Held while the thread is started, so that it first reads the state after RUNNING was set. */
  private final ReentrantLock startLock = new ReentrantLock();

  private final CountDownLatch ended = new CountDownLatch(1);

  /** The error that ended the driver. Written before FAILED, or before the latch has opened. */
  private volatile @Nullable Throwable failure;

  /** The visit that waits for the driver. */
  private volatile @Nullable Visit pendingVisit;

  /** End of the driver's sleep, in its time; AWAKE while it does not sleep, or has been woken. */
  private final AtomicLong wakeAt = new AtomicLong(AWAKE);

  // Driver thread only.
  private final NodeWheel wheel = new NodeWheel(0);
  private final List<WheelNode> unfired = new ArrayList<>();

  /** The driver does not wake by itself before this time. */
  private long wakeUpNotBefore = -WAKE_UP_BURST * NANOS_PER_WAKE_UP;

  /** Time at which this turn began. */
  private long turnNanos;

  /**
   * Time at which this round began. Everything due by then is fired, in as many turns as it takes, before the next
   * round begins.
   */
  private long roundNanos;

  /** The hand-off's producer index when this round began. */
  private long roundHandOffs;

  private boolean roundOver = true;

  /** The time as of one of the last {@link #FIRINGS_PER_CLOCK_READ} firings. */
  private long fireNanos;

  // Written by the driver thread alone, read by any.
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

  /** Returns the time now; never negative. */
  long nowNanos() {
    return clock.nanoTime() - originNanos;
  }

  /** Returns the time after a delay; a negative delay counts as none. */
  long deadlineNanos(long delayNanos) {
    return later(nowNanos(), Math.max(0, delayNanos));
  }

  /** Returns the sum of two times that are not negative, or the last deadline if that is less. */
  static long later(long timeNanos, long byNanos) {
    return timeNanos + Math.min(byNanos, MAX_DEADLINE_NANOS - timeNanos);
  }

  /**
   * Takes on a new node.
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
      // The driver may have emptied the hand-off for the last time before this node got there.
      notNew.add(1);
      throw rejection();
    }
    try {
      wakeBefore(handOff.currentProducerIndex() % CALLS_PER_WAKE == 0 ? AT_ONCE : deadlineNanos);
    } catch (Throwable e) {
      // The clock has failed. A caller whose call throws has no handle of a timer that might fire.
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
   * As {@link #schedule}, for a node that has fired. The limit of the hand-off does not apply: the node was taken on
   * before.
   */
  void scheduleAgain(WheelNode node, long deadlineNanos) {
    boolean queued = node.arm(deadlineNanos);
    if (!queued) {
      ensureRunning();
      handOff(node, deadlineNanos);
    } else {
      notNew.add(-1);
      wakeBefore(deadlineNanos);
    }
  }

  /** Returns the exception that rejects a timer, with the reason. */
  RejectedExecutionException rejection() {
    Throwable cause = failure;
    return cause == null
        ? new RejectedExecutionException("the timer has stopped, so this timer was not scheduled")
        : new RejectedExecutionException("the timer's thread has died, so this timer was not scheduled", cause);
  }

  /** Returns whether the driver has died. */
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

  /** Gives a node another deadline; returns whether it had neither fired nor been cancelled. */
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
          // Another reset, to a still earlier deadline, may have found the node queued before it was in the hand-off,
          // and have woken the driver in vain.
          long handedOff = node.word();
          wakeBefore(WheelNode.isArmed(handedOff) ? WheelNode.deadlineNanos(handedOff) : deadlineNanos);
        } else if (nearer) {
          wakeBefore(deadlineNanos);
        }
        return true;
      }
    }
  }

  /** Wakes the driver if it sleeps beyond the tick in which a deadline is handled. */
  private void wakeBefore(long deadlineNanos) {
    long sleepsUntil = wakeAt.get();
    if (deadlineNanos < sleepsUntil
        && placeTick(deadlineNanos) << tickShift < sleepsUntil
        && wakeAt.compareAndSet(sleepsUntil, AWAKE)) {
      clock.unpark(thread);
    }
  }

  /**
   * Stops the driver and waits until it has; an inline callback that runs is waited for, unless it is the caller.
   *
   * @return the nodes that were neither fired nor cancelled, to the first caller; they are cancelled now
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

  /** A node that makes the driver examine all others. */
  private final class Visit extends WheelNode {
    private final Consumer<WheelNode> action;
    final CountDownLatch done = new CountDownLatch(1);

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
      } finally {
        done.countDown();
      }
    }
  }

  /**
   * Runs an action on the driver thread for each node that waits, and returns when it has, or when the driver stops.
   */
  void forEachPending(Consumer<WheelNode> action) {
    if (state.get() != RUNNING) {
      return;
    }
    Visit visit = new Visit(action);
    pendingVisit = visit;
    handOff.offer(visit);
    if (state.get() != RUNNING && visit.end(WheelNode.CANCELLED)) {
      notNew.add(1);
      return;
    }
    wakeBefore(AT_ONCE);
    awaitUninterruptibly(visit.done);
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

  /** Runs the driver thread. */
  @Override
  public void run() {
    try {
      work();
    } catch (Throwable e) {
      die(e);
    }
  }

  /** Turns until the driver is stopped. */
  void work() {
    if (stateOnceStarted() == NEW) {
      // The factory has started the thread, so the constructor rejects it.
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

  private int stateOnceStarted() {
    startLock.lock();
    try {
      return state.get();
    } finally {
      startLock.unlock();
    }
  }

  /**
   * Leaves the waiting nodes to the next stop. Nothing is allocated before the threads that wait for the driver are
   * released.
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
      owner.died();
    } catch (Throwable e) {
      ErrorLog.log(() -> "handling the death of the timer's thread has failed", e);
    }
  }

  /** Makes one turn; returns whether it left something to do. */
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
    // Time has passed in a round of several turns, so more is due at its end.
    return !emptied || !roundOver || continues || swept >= MOVE_LIMIT || staged >= MOVE_LIMIT;
  }

  /** Returns the number of waiting timers, including those in the hand-off. */
  private long live() {
    return scheduled() - fired.getPlain() - cancelled.sum();
  }

  private long scheduled() {
    // Read in this order, a hand-off that is not of a new timer is never counted as one.
    long handOffs = handOff.currentProducerIndex();
    return handOffs - notNew.sum();
  }

  /** Sleeps until there is something to do, and returns the time. */
  private long sleep(long now) {
    long wakeTick = wheel.nextWake();
    long dueNanos = wakeTick == TimerQueue.NEVER ? Long.MAX_VALUE : wakeTick << tickShift;
    if (Math.max(dueNanos, now) < wakeUpNotBefore) {
      return rest(now);
    }
    if (dueNanos <= now) {
      return now;
    }
    wakeAt.set(dueNanos);
    if (emptyHandOff() && wheel.nextWake() >= wakeTick && state.get() == RUNNING) {
      park(dueNanos == Long.MAX_VALUE ? TimerClock.FOREVER : dueNanos - now);
    }
    wakeAt.set(AWAKE);
    return woken(dueNanos);
  }

  /**
   * Lets due timers wait until the driver may wake by itself. Callers take the driver for awake, so none of them wakes
   * it.
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

  /** Returns the time now. If the driver woke by itself, not by a caller, its next wake-up is put off. */
  private long woken(long dueNanos) {
    long now = nowNanos();
    if (now >= dueNanos) {
      // The generic cell rate algorithm of ATM, with the tolerance subtracted in advance.
      wakeUpNotBefore = Math.max(wakeUpNotBefore, now - WAKE_UP_BURST * NANOS_PER_WAKE_UP) + NANOS_PER_WAKE_UP;
    }
    return now;
  }

  /**
   * Takes all that was handed off before this call. A poll, unlike a drain, waits for a caller that has claimed its
   * place and not yet filled it, so no node behind that place is overlooked.
   *
   * @return false if the limit was reached, so that nodes may be left
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
    if (WheelNode.isArmed(word)) {
      wheel.place(node, placeTick(WheelNode.deadlineNanos(word)));
    }
  }

  @Override
  public long placeTick(WheelNode node, long deadlineNanos) {
    return placeTick(deadlineNanos);
  }

  /** Fires a node unless it has been reset to later. */
  @Override
  public long visit(WheelNode node, long dueNanos) {
    if (fired.getPlain() % FIRINGS_PER_CLOCK_READ == 0) {
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
        fire(node, deadlineNanos);
        return NodeWheel.GONE;
      }
    }
  }

  private void fire(WheelNode node, long deadlineNanos) {
    lateness.record(Math.max(fireNanos, turnNanos) - deadlineNanos);
    fired.lazySet(fired.getPlain() + 1);
    try {
      node.expire();
    } catch (Throwable e) {
      report(node, e);
    }
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

  private void collectUnfired() {
    for (WheelNode node = handOff.poll(); node != null; node = handOff.poll()) {
      collect(node);
    }
    wheel.removeAll(this::collect);
    state.set(STOPPED);
  }

  /** Collects a node, once. If it throws, the node can be collected again. */
  private void collect(WheelNode node) {
    if (node instanceof Visit visit) {
      if (visit.end(WheelNode.CANCELLED)) {
        cancelled.add(1);
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

  /** Returns the first tick that does not begin before the deadline. */
  private long tick(long deadlineNanos) {
    return (deadlineNanos + (1L << tickShift) - 1) >> tickShift;
  }

  private long placeTick(long deadlineNanos) {
    return SlotMap.coarsen(tick(deadlineNanos), slackTicks);
  }

  TimerCounters counters() {
    // Read in this order, a timer is never counted as fired that has not been counted as scheduled.
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
