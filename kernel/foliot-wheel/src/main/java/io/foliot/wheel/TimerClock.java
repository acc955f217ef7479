package io.foliot.wheel;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock of a timer's driver thread, and the way in which the thread waits. Both are one interface, because a clock
 * that a test moves by hand must also end the wait.
 */
public interface TimerClock {
  /** A wait that only {@link #unpark} ends. */
  long FOREVER = Long.MAX_VALUE;

  /** Returns the clock of {@link System#nanoTime}, which waits by {@link LockSupport}. */
  static TimerClock system() {
    return SystemTimerClock.INSTANCE;
  }

  /** Returns the nanoseconds since a fixed origin; they never go back. Any thread may call it. */
  long nanoTime();

  /**
   * Waits, on the driver thread, until this much of this clock's time has passed or {@link #unpark} is called. Returns
   * at once if it was called since the last wait. May return early for no reason.
   *
   * @param nanos positive; {@link #FOREVER} for no limit
   */
  void park(long nanos);

  /** Ends the driver's wait, or its next one if it does not wait now. Any thread may call it. */
  void unpark(Thread driver);
}
