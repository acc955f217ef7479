package io.foliot.wheel;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock of a timer's driver thread, and the way in which the thread waits. Both are one interface, because a clock
 * that a test sets must also end the wait.
 */
public interface TimerClock {
  /** Argument of {@link #park} for a wait that only {@link #unpark} ends. */
  long FOREVER = Long.MAX_VALUE;

  /** Returns the clock of {@link System#nanoTime}, which waits by {@link LockSupport}. */
  static TimerClock system() {
    return SystemTimerClock.INSTANCE;
  }

  /** Returns the nanoseconds since a fixed origin. The value never decreases. Any thread may call this method. */
  long nanoTime();

  /**
   * Waits on the driver thread until the given time of this clock has passed or {@link #unpark} is called. Returns at
   * once if {@code unpark} was called since the previous wait. May return early for no reason.
   *
   * @param nanos a positive number of nanoseconds; {@link #FOREVER} for no limit
   */
  void park(long nanos);

  /**
   * Ends the wait of the driver thread, or its next wait if the thread does not wait now. Any thread may call this
   * method.
   */
  void unpark(Thread driver);
}
