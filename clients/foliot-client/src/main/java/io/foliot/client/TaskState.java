package io.foliot.client;

/** The state of a task: DELAYED -> READY -> RUNNING -> FINISHED, FAILED or CANCELLED; a retry is DELAYED again. */
public enum TaskState {
  /** Due in the future. */
  DELAYED,
  /** Due, and not claimed yet. */
  READY,
  /** Claimed, and not settled yet. */
  RUNNING,
  /** Succeeded. Final. */
  FINISHED,
  /**
   * Out of attempts, or failed permanently: a dead letter. Final, unless it is redriven, which gives it a new
   * generation.
   */
  FAILED,
  /** Cancelled. Final. */
  CANCELLED,
  /** A state that this client is too old to know. */
  UNRECOGNIZED;

  static TaskState of(String name) {
    return Names.constant(values(), name, UNRECOGNIZED);
  }
}
