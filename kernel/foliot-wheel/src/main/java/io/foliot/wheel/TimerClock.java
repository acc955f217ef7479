package io.foliot.wheel;

import java.util.concurrent.locks.LockSupport;

/**
 * The time by which a timer's driver thread goes, and how it waits for it. Both are one thing, because a clock that a
 * test moves by hand must also end the wait.
 */
public interface TimerClock {
  /** The wait that only {@link #unpark} ends. */
  long FOREVER = Long.MAX_VALUE;

  /** {@link System#nanoTime} and {@link LockSupport}. */
  static TimerClock system() {
    return SystemTimerClock.INSTANCE;
  }

  /** Nanoseconds since some fixed origin; never goes back. Called by any thread. */
  long nanoTime();

  /**
   * Waits, on the driver thread, for at most this much of this clock's time, or until {@link #unpark}, also one that
   * came just before. May return early for no reason.
   *
   * @param nanos positive; {@link #FOREVER} for no limit
   */
  void park(long nanos);

  /** Ends the driver's wait, or its next one if it does not wait now. Called by any thread. */
  void unpark(Thread driver);
}
