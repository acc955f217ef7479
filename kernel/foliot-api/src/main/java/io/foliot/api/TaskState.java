package io.foliot.api;

/**
 * The state of a task. {@code DELAYED → READY → RUNNING → FINISHED | FAILED | CANCELLED}; after a failed attempt, a
 * task with attempts left is {@code DELAYED} again.
 */
public enum TaskState {
  /** Due in the future. Stores also write this state for a task that is {@link #READY}. */
  DELAYED,
  /** Due and not yet claimed. Computed from the clock when a task is read; never written. */
  READY,
  /** Claimed. The lease is valid, or the lease has ended and no new claim has followed. */
  RUNNING,
  /** An attempt succeeded. */
  FINISHED,
  /** A dead letter: its attempts are used up, the receiver said that a retry is pointless, or its record is damaged. */
  FAILED,
  /** Cancelled before an attempt succeeded. */
  CANCELLED;

  /** Returns whether the state is final: only a redrive can change it. */
  public boolean isFinal() {
    return this == FINISHED || this == FAILED || this == CANCELLED;
  }
}
