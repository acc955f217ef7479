package io.foliot.core;

import io.foliot.core.store.StoreSeal;

/** The reason why a node is not ready. User interfaces have the words. */
public sealed interface Unready {
  /** The engine has failed, for good. */
  record Failed(Throwable cause) implements Unready {}

  /** The engine has not started. */
  record NotStarted() implements Unready {}

  /** The engine is stopping. */
  record Stopping() implements Unready {}

  /** The store is sealed. */
  record Sealed(StoreSeal seal) implements Unready {}

  /** An event loop has not turned for some time. */
  record LoopStalled(int loop, long millis) implements Unready {}

  /** The store does not answer, or refuses writes. */
  record StoreAway() implements Unready {}
}
