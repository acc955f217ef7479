package io.foliot.core;

/** Calls a duty again and again, one call at a time. It is a thread or, in a simulation, a substitute for a thread. */
public interface EventLoop extends AutoCloseable {
  /**
   * Begins to call the duty: at once, then at the times that the duty returns, and soon after each {@link #wake}.
   *
   * @throws IllegalStateException if the loop was started or closed before
   */
  void start(Duty duty);

  /** Makes a sleeping loop call its duty soon. Any thread may call this method. Costs little if the loop is awake. */
  void wake();

  /** Stops calling the duty, and waits for a call that is under way, unless the duty itself calls this method. */
  @Override
  void close();

  /** The work of a loop. */
  interface Duty {
    /**
     * Does a bounded amount of work, without blocking.
     *
     * @return the monotonic time, in nanoseconds, by which the next call must follow; a time in the past requests a
     *     call at once
     */
    long turn();

    /**
     * Called by the loop's thread when a turn threw an exception. No turn follows. Does nothing by default.
     *
     * @param cause the exception of the turn
     */
    default void died(Throwable cause) {}
  }
}
