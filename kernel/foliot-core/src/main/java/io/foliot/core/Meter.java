package io.foliot.core;

/**
 * Counts the events of the engine. It is called on the engine's loops and on threads of the store: an implementation is
 * quick and never throws.
 */
public interface Meter {
  /** Called when tasks were submitted, reset or touched; {@code what} is one of these words. */
  default void accepted(String queue, String what, int count) {}

  /** Called when a claimed attempt began, with the microseconds after its due time. */
  default void claimed(String queue, long lateMicros) {}

  /** Called when an attempt ended, with the outcome's word: finished, retried, failed, rearmed, cancelled, stale. */
  default void settled(String queue, String outcome, long durationMicros) {}

  /** Called when a task became a dead letter or was cancelled by the end of its lease. */
  default void leaseEnded(String queue) {}

  /**
   * Called when a task was claimed for this queue although it belongs to another queue, and was given back: a defect,
   * and nothing worse.
   */
  default void foreign(String queue) {}

  /** Called when a batch went to the store and came back. */
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

  /** Counts a claim of a task that was overdue by a second in a slot of another node or of none. */
  default void stolen(String queue) {}

  /**
   * Called when a head poll found a task that had been due for a second, and that this node should have known of: it
   * was committed late, or the slot's previous owner had left it.
   */
  default void foundLate(String queue) {}

  /** Called when a loop had a turn. */
  default void loopTurn(long durationMicros) {}

  /** Called when something of a queue's was set aside because the engine cannot use it; the engine continues. */
  default void quarantined(String queue) {}

  /** Counts nothing. */
  Meter NONE = new Meter() {};
}
