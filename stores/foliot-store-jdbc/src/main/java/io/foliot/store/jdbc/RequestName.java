package io.foliot.store.jdbc;

import org.jspecify.annotations.Nullable;

/** An idempotency key, within its queue and key. */
record RequestName(String queue, @Nullable String key, String request) {
  /** The key as it is written: a task without a key has the empty one. */
  String keyOrEmpty() {
    return key == null ? "" : key;
  }
}
