package io.foliot.core;

import java.util.function.Supplier;

/**
 * Counts the events of the engine. The loops of the engine and threads of the store call a meter, so its methods must
 * be fast and must not throw.
 */
public interface Meter {
  /**
   * Called with the number of submits or touches that had the same result. Touches by id are not counted. {@code what}
   * is the name of a {@link io.foliot.core.store.SubmitResult.Kind} in lower case, or {@code touch_} and the name of a
   * {@link io.foliot.core.store.TouchResult.Kind} in lower case.
   */
  default void accepted(String queue, String what, int count) {}

  /** Called when a claim has won a task, with the microseconds since the due time of the task. */
  default void claimed(String queue, long lateMicros) {}

  /**
   * Called when an attempt ended. If a delivery ended the attempt, {@code outcome} is finished, retried, failed,
   * rearmed, cancelled, stale or repeated. If the end was reported with the token of the attempt, {@code outcome} is
   * the new state of the task: finished, failed, cancelled or delayed.
   */
  default void settled(String queue, String outcome, long durationMicros) {}

  /**
   * Called when a task has failed permanently: after {@link #settled}, or after {@link #leaseEnded} if its last attempt
   * was lost.
   *
   * @param task returns the {@link TaskLabel} of the task
   */
  default void deadLetter(String queue, Supplier<String> task) {}

  /** Called when a claim found that the lease of the task's previous attempt had ended without a settle. */
  default void leaseEnded(String queue) {}

  /**
   * Called when a claim for this queue returned a task of another queue, which only a bug can cause. The task was not
   * delivered, and is claimed again later.
   */
  default void foreign(String queue) {}

  /** Called when a call of the store with a batch of items has completed. */
  default void storeCall(String call, int items, long durationMicros, boolean failed) {}

  /** Called when tasks were parked. */
  default void parked(String queue, int count) {}

  /**
   * Called with the number of tasks that were parked because this node has no delivery or no handler for their queue.
   */
  default void unserved(String queue, int count) {}

  /** Called with the number of slots that this node has gained, and the number of slots that it has given up. */
  default void slotsChanged(int gained, int lost) {}

  /**
   * Called when this node claimed a task of a slot that this node does not own. The task was overdue by at least a
   * second.
   */
  default void stolen(String queue) {}

  /**
   * Called when a head poll found an index entry that had been due for at least a second. The look-ahead of this node
   * missed the entry, for example because its task was committed late.
   */
  default void foundLate(String queue) {}

  /** Called after each turn of a loop. */
  default void loopTurn(long durationMicros) {}

  /** Called when the store has set aside a task of a queue because its record cannot be read. */
  default void quarantined(String queue) {}

  /** A meter that counts nothing. */
  Meter NONE = new Meter() {};
}
