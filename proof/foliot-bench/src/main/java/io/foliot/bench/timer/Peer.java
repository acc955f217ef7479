package io.foliot.bench.timer;

/**
 * A timer under comparison, reduced to what all of them can do. Safe for use by any thread. A delay is rounded up to
 * the unit that the timer takes, so that no timer is made to fire early by being asked.
 */
interface Peer extends AutoCloseable {
  /** Runs a task once, after a delay, and returns what {@link #cancel} and {@link #reset} take. */
  Object schedule(Runnable task, long delayNanos);

  /**
   * Cancels a timer that waits.
   *
   * @throws IllegalStateException if the timer answers that it did not wait
   */
  void cancel(Object handle);

  /**
   * Gives a timer that waits another deadline, or, where that is not offered, does what its users do: cancels it and
   * schedules another one.
   *
   * @return the handle from now on
   */
  default Object reset(Object handle, Runnable task, long delayNanos) {
    cancel(handle);
    return schedule(task, delayNanos);
  }

  /** Stops its threads. Waiting timers never fire. */
  @Override
  void close();

  static void ensureWaited(boolean waited) {
    if (!waited) {
      throw new IllegalStateException("a timer that waits can be cancelled and reset, but this one refused");
    }
  }
}
