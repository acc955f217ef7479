package io.foliot.api;

/** The effect of a submit if its key already has a live task. */
public enum OnConflict {
  /** The live task gets a new generation with the new due time. A submit without a payload keeps the task's payload. */
  RESET,
  /** The live task is not changed, and the submit returns it. */
  KEEP,
  /** The submit is refused. */
  REJECT
}
