package io.foliot.client;

/** The state of a task: DELAYED -> READY -> RUNNING -> FINISHED, FAILED or CANCELLED; a retry is DELAYED again. */
public enum TaskState {
  /** Due in the future. */
  DELAYED,
  /** Due, and not claimed yet. */
  READY,
  /** Claimed; its lease runs. */
  RUNNING,
  /** Done. Final. */
  FINISHED,
  /** Out of attempts, or refused permanently: a dead letter. Final until it is redriven, under a new generation. */
  FAILED,
  /** Final. */
  CANCELLED,
  /** One that this client is too old to know. */
  UNRECOGNIZED;

  static TaskState of(String name) {
    return Names.constant(values(), name, UNRECOGNIZED);
  }
}
