package io.foliot.core.store;

/** The end of an attempt. */
public sealed interface Outcome {
  /** It succeeded. */
  record Finished() implements Outcome {}

  /**
   * It failed, and another attempt shall be made.
   *
   * @param due when
   */
  record Retry(Due due) implements Outcome {}

  /** It failed, and no other attempt shall be made. */
  record Failed() implements Outcome {}

  /**
   * It succeeded, and the same task shall fire again, as a new generation.
   *
   * @param due when
   */
  record Rearm(Due due) implements Outcome {}
}
