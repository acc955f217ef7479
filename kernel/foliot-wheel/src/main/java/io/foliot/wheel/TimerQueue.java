package io.foliot.wheel;

/**
 * A passive set of timers: no thread, no clock. Time is an argument, and due timers are handed to a {@link Sink}.
 *
 * <p>A tick is any unit that the owner counts in; all {@code long} values are valid ticks. A timer is due once
 * {@link #advance} is called with a tick at or after its deadline. Implementations belong to a single owner: no method
 * may be called from two threads at a time, but every method except {@code advance} may be called from inside the sink.
 */
public interface TimerQueue {
  /** Result of {@link #nextWake} when there is no timer. */
  long NEVER = Long.MAX_VALUE;

  /**
   * Adds a timer.
   *
   * @param deadlineTick the first tick at which it may expire; one at or before {@link #currentTick} is due at once,
   *     that is, at the next call of {@code advance}
   * @param payload given back on expiry
   * @return a handle, never 0, that names this timer and no other one, ever
   * @throws IllegalStateException if the queue cannot hold one more timer
   */
  long schedule(long deadlineTick, long payload);

  /**
   * Removes a timer.
   *
   * @return whether it was there: false if it has expired or been cancelled, and for a handle that was never given out
   */
  boolean cancel(long handle);

  /**
   * Gives a timer another deadline.
   *
   * @return whether it was there, as for {@link #cancel}
   */
  boolean reschedule(long handle, long deadlineTick);

  /**
   * Returns the next tick at which {@link #advance} has something to do: never later than the earliest deadline, and
   * later than {@link #currentTick} unless something is due already. Returns {@link #NEVER} if there is no timer; this
   * is also the deadline of timers at {@link Long#MAX_VALUE}.
   */
  long nextWake();

  /**
   * Moves time forward and hands each timer that has become due to the sink, in the order of their deadlines. A timer
   * that the sink schedules is handed out in the same call if its deadline lies after the tick being handled and at or
   * before {@code nowTick}. If it is due at once, it is handed out in the next call, so that no sink can keep time from
   * moving on.
   *
   * <p>The timer is gone when the sink is called: its handle is stale. An exception of the sink leaves this method; the
   * timer counts as expired, all others remain, and the next call continues from there.
   *
   * @param nowTick the current tick; one before {@link #currentTick} (a clock that went back) does nothing
   * @param limit how many timers may be touched, that is, handed out or moved inside the queue; at least 1
   * @return how many were touched; if fewer than {@code limit}, time has come to {@code nowTick}, and nothing is due
   *     except timers that the sink has scheduled. {@link #nextWake} returns when to call again
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
   * Visits every timer once, in no particular order. The visitor may cancel and reschedule any timer; one that it
   * schedules may or may not be visited.
   */
  void forEach(Sink visitor);

  /** Receives timers. */
  @FunctionalInterface
  interface Sink {
    /**
     * Takes one timer.
     *
     * @param handle the handle that {@link #schedule} returned
     * @param deadlineTick the deadline as last set
     * @param payload the payload that was given to {@code schedule}
     */
    void accept(long handle, long deadlineTick, long payload);
  }
}
