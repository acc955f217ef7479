package io.foliot.bench.timer;

/**
 * A timer under comparison, with the operations that all compared timers have. Safe for use by any thread. A delay is
 * rounded up to the unit of the timer, so that the rounding makes no timer fire early.
 */
interface Peer extends AutoCloseable {
  /** Schedules a task to run once, after a delay. Returns the handle for {@link #cancel} and {@link #reset}. */
  Object schedule(Runnable task, long delayNanos);

  /**
   * Cancels a timer that waits.
   *
   * @throws IllegalStateException if the cancel reports that the timer did not wait
   */
  void cancel(Object handle);

  /**
   * Gives a waiting timer another deadline. The default implementation is for timers without a reset: it cancels the
   * timer and schedules a new one.
   *
   * @return the new handle
   */
  default Object reset(Object handle, Runnable task, long delayNanos) {
    cancel(handle);
    return schedule(task, delayNanos);
  }

  /** Stops the threads of the timer. Waiting timers never fire. */
  @Override
  void close();

  static void ensureWaited(boolean waited) {
    if (!waited) {
      throw new IllegalStateException("a waiting timer refused a cancel or a reset");
    }
  }
}
