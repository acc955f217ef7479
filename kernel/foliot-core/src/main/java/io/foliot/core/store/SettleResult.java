package io.foliot.core.store;

import io.foliot.core.TaskState;

/**
 * The result of a settlement.
 *
 * @param kind the effect of the call
 * @param state the task's new state; CANCELLED if a pending cancel took effect, DELAYED if a successor took over
 * @param wakeAt when a live task must be examined again; 0 for a final one, or if nothing changed
 */
public record SettleResult(Kind kind, TaskState state, long wakeAt) {
  /** The effect of the call. */
  public enum Kind {
    /** The end was recorded. */
    SETTLED,
    /** The same claim recorded the same outcome before; nothing changed. */
    REPEATED,
    /** Refused: the claim is not valid, or recorded another outcome. */
    STALE,
    /** There is no such task. */
    NOT_FOUND
  }
}
