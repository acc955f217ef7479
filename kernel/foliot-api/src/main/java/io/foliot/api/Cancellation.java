package io.foliot.api;

/** The effect of a cancel. */
public enum Cancellation {
  /** No attempt is running, and none will begin. */
  CANCELLED,
  /** An attempt has begun, and may still run and succeed. No other attempt will begin. */
  CANCEL_PENDING,
  /** The task had ended already; nothing changed. */
  ALREADY_FINISHED,
  /** There is no such task; nothing changed. */
  NOT_FOUND
}
