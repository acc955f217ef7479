package io.foliot.core;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EventLoop} on a thread of its own, which sleeps between turns.
 *
 * <p>A turn costs as much as the handling of many messages, and the wake-up before it costs more. The rate of turns is
 * therefore limited: after a burst there is one turn per quarter of a millisecond, which handles everything that
 * arrived since the previous turn. A loop that was idle makes its next turn at once.
 */
public final class ThreadEventLoop implements EventLoop {
  // The handshake of sleep and wake: the loop changes AWAKE to SLEEPS and then parks. A caller that finds SLEEPS writes
  // WOKEN and unparks the loop. A wake while the loop is awake leaves WOKEN, which makes the loop skip one sleep.
  private static final int AWAKE = 0;
  private static final int WOKEN = 1;
  private static final int SLEEPS = 2;

  /** Time between two turns under load. It is short because a task waits for two turns before it fires. */
  private static final long PACE_NANOS = 250_000;
  /**
   * Number of turns that the loop may make ahead of the pace. A loop that was idle makes these turns without pauses.
   */
  private static final long BURST = 16;

  private final TimeSource clock;
  private final ThreadFactory threads;
  private final AtomicInteger state = new AtomicInteger();

  // guarded by this
  private @Nullable Thread thread;
  // any thread
  private volatile boolean closed;

  /** Creates a loop that is not yet started. */
  public ThreadEventLoop(TimeSource clock, ThreadFactory threads) {
    this.clock = clock;
    this.threads = threads;
  }

  @Override
  public synchronized void start(Duty duty) {
    if (thread != null || closed) {
      throw new IllegalStateException("a loop must be started once, before it is closed");
    }
    thread = threads.newThread(() -> run(duty));
    thread.start();
  }

  private void run(Duty duty) {
    try {
      turns(duty);
    } catch (Throwable e) {
      duty.died(e);
      // The thread's handler of uncaught exceptions decides whether the process continues.
      throw e;
    }
  }

  private void turns(Duty duty) {
    // Each turn advances paidUntilNanos by the pace. The next turn waits while paidUntilNanos is more than a burst
    // ahead of the clock.
    long paidUntilNanos = clock.monotonicNanos();
    while (!closed) {
      state.set(AWAKE);
      paidUntilNanos = pace(paidUntilNanos);
      // This turn handles everything that woke the loop until now.
      state.set(AWAKE);
      long wakeNanos = duty.turn();
      long waitNanos = wakeNanos - clock.monotonicNanos();
      if (waitNanos > 0 && !closed && state.compareAndSet(AWAKE, SLEEPS)) {
        LockSupport.parkNanos(this, waitNanos);
      }
    }
  }

  /**
   * Waits until the pace permits the next turn, and returns the new {@code paidUntilNanos}. A wake does not end this
   * wait.
   */
  private long pace(long paidUntilNanos) {
    long nowNanos = clock.monotonicNanos();
    while (paidUntilNanos - nowNanos > BURST * PACE_NANOS && !closed) {
      LockSupport.parkNanos(this, paidUntilNanos - nowNanos - BURST * PACE_NANOS);
      nowNanos = clock.monotonicNanos();
    }
    return (paidUntilNanos - nowNanos < 0 ? nowNanos : paidUntilNanos) + PACE_NANOS;
  }

  @Override
  public void wake() {
    if (state.get() != WOKEN && state.getAndSet(WOKEN) == SLEEPS) {
      Thread sleeper = current();
      if (sleeper != null) {
        LockSupport.unpark(sleeper);
      }
    }
  }

  private synchronized @Nullable Thread current() {
    return thread;
  }

  @Override
  public void close() {
    closed = true;
    Thread runner = current();
    if (runner == null || runner == Thread.currentThread()) {
      return;
    }
    LockSupport.unpark(runner);
    boolean interrupted = false;
    while (runner.isAlive()) {
      try {
        runner.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
