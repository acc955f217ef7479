package io.foliot.core;

/**
 * Counts the events of the engine. The engine's loops and threads of the store call it, so an implementation must be
 * fast and must not throw.
 */
public interface Meter {
  /**
   * Called with the number of submits or touches that had one result. {@code what} is the name of a
   * {@link io.foliot.core.store.SubmitResult.Kind} in lower case, or {@code touch_} and the name of a
   * {@link io.foliot.core.store.TouchResult.Kind} in lower case.
   */
  default void accepted(String queue, String what, int count) {}

  /** Called when a claimed attempt began, with the microseconds after its due time. */
  default void claimed(String queue, long lateMicros) {}

  /**
   * Called when an attempt ended. {@code outcome} of an attempt that a delivery ended: finished, retried, failed,
   * rearmed, cancelled, stale, repeated. {@code outcome} of an attempt that was reported with its token is the new
   * state of the task: finished, failed, cancelled, delayed.
   */
  default void settled(String queue, String outcome, long durationMicros) {}

  /** Called when a task became a dead letter or was cancelled by the end of its lease. */
  default void leaseEnded(String queue) {}

  /**
   * Called when a task of another queue was claimed for this queue. The task was not delivered, and will be tried
   * again. The cause is a defect.
   */
  default void foreign(String queue) {}

  /** Called when a call of the store with a batch of items has completed. */
  default void storeCall(String call, int items, long durationMicros, boolean failed) {}

  /** Called when tasks were parked. */
  default void parked(String queue, int count) {}

  /**
   * Called with the number of parked tasks that were parked because this node has no delivery or no handler for their
   * queue.
   */
  default void unserved(String queue, int count) {}

  /** Called with the number of slots that this node has gained, and the number that it has given up. */
  default void slotsChanged(int gained, int lost) {}

  /** Counts a claim of a task that was overdue by at least a second, in a slot that this node does not own. */
  default void stolen(String queue) {}

  /**
   * Called when a head poll found a task that had been due for at least a second. This node should have known of it:
   * the task was committed late, or the previous owner of the slot had left it.
   */
  default void foundLate(String queue) {}

  /** Called when a loop had a turn. */
  default void loopTurn(long durationMicros) {}

  /** Called when the store has set aside a task of a queue because its record cannot be read. */
  default void quarantined(String queue) {}

  /** Counts nothing. */
  Meter NONE = new Meter() {};
}
