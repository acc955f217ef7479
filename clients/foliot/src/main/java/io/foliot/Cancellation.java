package io.foliot;

/** The effect of a cancel. */
public enum Cancellation {
  /** No attempt is running, and none will begin. */
  CANCELLED,
  /** An attempt has begun, and may still be running. No other attempt will begin. */
  RUNNING,
  /** The task has ended already; nothing changed. */
  ENDED,
  /** There is no task of this key; nothing changed. */
  NOT_FOUND
}
