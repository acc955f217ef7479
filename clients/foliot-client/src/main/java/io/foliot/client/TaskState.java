package io.foliot.client;

/** The state of a task. A live task is DELAYED, READY or RUNNING. */
public enum TaskState {
  /** The task is due in the future. */
  DELAYED,
  /** The task is due, and not claimed yet. */
  READY,
  /** The task is claimed, and not settled yet. */
  RUNNING,
  /** The task has succeeded. This state is final. */
  FINISHED,
  /**
   * The task has no attempts left, or has failed permanently: it is a dead letter. Only a redrive makes the task live
   * again.
   */
  FAILED,
  /** The task was cancelled. This state is final. */
  CANCELLED,
  /** A state of a newer server, which this client does not recognize. */
  UNRECOGNIZED;

  static TaskState of(String name) {
    return Names.constant(values(), name, UNRECOGNIZED);
  }
}
