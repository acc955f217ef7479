package io.foliot.wheel;

/**
 * A passive set of timers, without a thread and without a clock. The caller passes the time as an argument, and due
 * timers are handed to a {@link Sink}.
 *
 * <p>A tick is any unit of time that the caller chooses; all {@code long} values are valid ticks. A timer is due once
 * {@link #advance} is called with a tick at or after its deadline. Implementations are not thread-safe. A sink may call
 * every method except {@code advance}.
 */
public interface TimerQueue {
  /** Result of {@link #nextWake} when there is no timer. */
  long NEVER = Long.MAX_VALUE;

  /**
   * Adds a timer.
   *
   * @param deadlineTick the first tick at which the timer may expire. A timer whose deadline is at or before
   *     {@link #currentTick} expires at the next call of {@code advance}
   * @param payload a value that the sink gets when the timer expires
   * @return the handle of the timer, never 0; no other timer of this queue ever has the same handle
   * @throws IllegalStateException if the queue cannot hold one more timer
   */
  long schedule(long deadlineTick, long payload);

  /**
   * Removes a timer.
   *
   * @return true if the timer was waiting; false if the timer has expired or been cancelled, or if {@link #schedule}
   *     has never returned this handle
   */
  boolean cancel(long handle);

  /**
   * Changes the deadline of a timer.
   *
   * @return as for {@link #cancel}
   */
  boolean reschedule(long handle, long deadlineTick);

  /**
   * Returns the next tick at which {@link #advance} has something to do. This is {@link #currentTick} if timers wait to
   * be handed out or moved. Otherwise it is a later tick, at or before the earliest deadline. Returns {@link #NEVER} if
   * there is no timer, and also if each timer has the deadline {@link Long#MAX_VALUE}.
   */
  long nextWake();

  /**
   * Moves time forward and hands the sink the due timers, in the order of their deadlines. Some timers are already due
   * when their deadlines are set. These timers are handed out in the order in which their deadlines were set. But a
   * timer that is rescheduled to a later tick may keep its place.
   *
   * <p>A timer that the sink schedules is handed out in the same call if its deadline is after {@link #currentTick} and
   * at or before {@code nowTick}. If the deadline is at or before {@code currentTick}, the timer is handed out in the
   * next call, so that no sink can stop time.
   *
   * <p>The timer is removed, and its handle is stale, before the sink is called. If the sink throws, this method throws
   * the same exception. That timer has expired, all others remain, and the next call continues from there.
   *
   * @param nowTick the new tick; a tick before {@link #currentTick}, from a clock that went back, does nothing
   * @param limit the maximum number of timers to touch, that is, to hand out or to move inside the queue; at least 1
   * @return the number of touched timers. If this number is less than {@code limit}, time has reached {@code nowTick},
   *     and the only timers that may still be due are those that the sink has scheduled or rescheduled. {@link
   *     #nextWake} returns when to call again
   * @throws IllegalArgumentException if {@code limit} is not positive
   * @throws IllegalStateException if called from inside the sink
   */
  int advance(long nowTick, int limit, Sink sink);

  /** Returns the number of timers that have neither expired nor been cancelled. */
  int size();

  /** Returns whether there is no timer. */
  default boolean isEmpty() {
    return size() == 0;
  }

  /** Returns the tick that time has reached. It never goes back. */
  long currentTick();

  /**
   * Visits every timer once, in no particular order. The visitor may cancel and reschedule any timer. A timer that the
   * visitor schedules may or may not be visited.
   */
  void forEach(Sink visitor);

  /** Receives timers. */
  @FunctionalInterface
  interface Sink {
    /**
     * Takes one timer.
     *
     * @param handle the handle that {@link #schedule} returned
     * @param deadlineTick the deadline that the latest schedule or reschedule set
     * @param payload the payload that was given to {@code schedule}
     */
    void accept(long handle, long deadlineTick, long payload);
  }
}
