package io.foliot.client;

/** The effect of a call on the task of a key. */
public enum KeyOutcome {
  /** There was no live task, and a new one was created. */
  CREATED,
  /** The live task has a new generation; no attempt of the replaced generation can begin. */
  RESET,
  /**
   * As {@link #RESET}, but an attempt of the replaced generation may still be running. The new generation follows it.
   */
  RESET_PENDING,
  /** The key has a live task, which was not changed. */
  KEPT,
  /** An earlier request had the same idempotency key. Nothing changed; the task of that request is returned. */
  REPEATED,
  /** The key has no live task; nothing changed. */
  NOT_FOUND
}
