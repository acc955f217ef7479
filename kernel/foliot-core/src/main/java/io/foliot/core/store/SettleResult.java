package io.foliot.core.store;

import io.foliot.api.TaskState;

/**
 * The result of a settlement.
 *
 * @param kind the effect of the call
 * @param state the task's state after the call; CANCELLED if a pending cancel took effect, DELAYED if a successor took
 *     over; undefined if there is no such task
 * @param wakeAt the time of a live task's index entry, in milliseconds since 1970; 0 if the task is final or nothing
 *     changed
 */
public record SettleResult(Kind kind, TaskState state, long wakeAt) {
  /** The effect of the call. */
  public enum Kind {
    /** The end was recorded. */
    SETTLED,
    /** The same claim recorded the same outcome before; nothing changed. */
    REPEATED,
    /** The settlement was refused, because the claim is not valid or has recorded another outcome. */
    STALE,
    /** There is no such task. */
    NOT_FOUND
  }
}
