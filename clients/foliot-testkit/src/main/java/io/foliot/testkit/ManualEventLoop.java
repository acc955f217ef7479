package io.foliot.testkit;

import io.foliot.core.EventLoop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EventLoop} that turns only when a test drives it, on the thread of the test. Its clock is a
 * {@link SettableClock}. Several loops that share a clock are driven together, by {@link ManualLoops}.
 *
 * <p>An exception of a turn reaches the test; the loop can be turned again afterwards.
 */
public final class ManualEventLoop implements EventLoop {
  private final SettableClock clock;
  private final ManualLoops alone;

  // any thread
  private volatile boolean woken;
  private volatile boolean closed;

  // guarded by this
  private @Nullable Duty duty;
  private long nextTurnNanos;
  private boolean turning;

  /** Creates a single loop, not yet started. */
  public ManualEventLoop(SettableClock clock) {
    this.clock = clock;
    alone = new ManualLoops(clock, this);
  }

  /** Sets the duty; the first turn is due now, and runs when the test turns the loop. */
  @Override
  public synchronized void start(Duty newDuty) {
    if (duty != null || closed) {
      throw new IllegalStateException("a loop must be started once, before it is closed");
    }
    duty = newDuty;
    woken = true;
  }

  /** Makes a turn due now. */
  @Override
  public void wake() {
    woken = true;
  }

  @Override
  public void close() {
    closed = true;
    synchronized (this) {
      // A turn holds the lock, so a call of close on another thread returns after the end of the turn.
      duty = null;
    }
  }

  /** Returns whether this loop is closed. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Returns whether a turn is due now. A turn is due after the start, after a wake, after a turn that threw an
   * exception, and once the clock has reached the time that the latest turn returned.
   */
  public synchronized boolean isDue() {
    return duty != null && !closed && (woken || nextTurnNanos - clock.monotonicNanos() <= 0);
  }

  /**
   * Returns the time until the next turn, unless a thread wakes the loop earlier: zero if a turn is due now, null if
   * the loop is not started or is closed.
   */
  public synchronized @Nullable Duration untilDue() {
    if (duty == null || closed) {
      return null;
    }
    return isDue() ? Duration.ZERO : Duration.ofNanos(nextTurnNanos - clock.monotonicNanos());
  }

  /**
   * Runs one turn, even if none is due.
   *
   * @throws IllegalStateException if the loop is not started, is closed, or is in a turn already
   */
  public synchronized void turn() {
    Duty current = duty;
    if (current == null || closed) {
      throw new IllegalStateException("the loop is not started yet, or closed: closed=" + closed);
    }
    if (turning) {
      throw new IllegalStateException("a turn of this loop is already running");
    }
    turning = true;
    woken = false;
    nextTurnNanos = clock.monotonicNanos();
    try {
      nextTurnNanos = current.turn();
    } finally {
      turning = false;
    }
  }

  /** Runs a turn if one is due. Returns whether a turn was due. */
  public boolean runDue() {
    return alone.runDue() > 0;
  }

  /** Runs turns until this loop is idle, as {@link ManualLoops#runUntilIdle()} does. Returns the number of turns. */
  public int runUntilIdle() {
    return alone.runUntilIdle();
  }

  /** Lets time pass, and turns this loop whenever it is due, as {@link ManualLoops#advance} does. */
  public void advance(Duration time) {
    alone.advance(time);
  }
}
