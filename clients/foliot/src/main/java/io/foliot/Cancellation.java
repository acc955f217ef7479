package io.foliot;

/** The effect of a cancel. */
public enum Cancellation {
  /** No attempt begins any more, and none is running. */
  CANCELLED,
  /** An attempt that has begun may still end; no other begins. */
  RUNNING,
  /** The task has ended already; nothing changed. */
  ENDED,
  /** There is no task of this key; nothing changed. */
  NOT_FOUND
}
