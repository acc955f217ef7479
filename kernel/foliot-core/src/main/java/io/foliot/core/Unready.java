package io.foliot.core;

import io.foliot.core.store.StoreSeal;

/** A reason why a node is not ready. User interfaces turn it into text. */
public sealed interface Unready {
  /** The engine has failed and does not recover. */
  record Failed(Throwable cause) implements Unready {}

  /** The engine has not started. */
  record NotStarted() implements Unready {}

  /** The engine is stopping. */
  record Stopping() implements Unready {}

  /** The store is sealed. */
  record Sealed(StoreSeal seal) implements Unready {}

  /**
   * An event loop has made no turn for too long.
   *
   * @param loop the number of the loop
   * @param millis the time since its last turn
   */
  record LoopStalled(int loop, long millis) implements Unready {}

  /**
   * The clock of this node is off by more than permitted, while the clocks of other nodes are right.
   *
   * @param offsetMillis by how much the store's clock is ahead of this node's; negative if it is behind
   */
  record ClockOff(long offsetMillis) implements Unready {}

  /** The store does not respond, or refuses writes. */
  record StoreAway() implements Unready {}

  /** The store has no room for the ends of attempts or for claims, so no task is claimed. */
  record StoreFull() implements Unready {}
}
