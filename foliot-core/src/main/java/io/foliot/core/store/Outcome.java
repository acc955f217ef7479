package io.foliot.core.store;

/** How an attempt ended. */
public sealed interface Outcome {
  /** It succeeded. */
  record Finished() implements Outcome {}

  /**
   * It failed, and another attempt shall be made.
   *
   * @param dueAt when, in milliseconds since 1970
   */
  record RetryAt(long dueAt) implements Outcome {}

  /** It failed, and no other attempt shall be made. */
  record Failed() implements Outcome {}

  /**
   * It succeeded, and the same task shall fire again, as a new generation.
   *
   * @param dueAt when, in milliseconds since 1970
   */
  record Rearm(long dueAt) implements Outcome {}
}
