package io.foliot.core;

/**
 * The state of a task. {@code DELAYED → READY → RUNNING → FINISHED | FAILED | CANCELLED}; a failed attempt with
 * attempts left goes back to {@code DELAYED}.
 */
public enum TaskState {
  /** Due in the future, or due and not yet claimed; stores write only this one of the two. */
  DELAYED,
  /** Due and not yet claimed. Derived from the time when a task is shown, never written. */
  READY,
  /** Claimed; its lease runs, or has expired and the task has not been claimed again. */
  RUNNING,
  /** An attempt succeeded. */
  FINISHED,
  /** A dead letter: its attempts are used up, or the receiver reported that a retry is pointless. */
  FAILED,
  /** Cancelled before an attempt succeeded. */
  CANCELLED;

  /** Returns whether the state never changes again for its generation. */
  public boolean isFinal() {
    return this == FINISHED || this == FAILED || this == CANCELLED;
  }
}
