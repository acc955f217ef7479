package io.foliot.core.store.batch;

import org.jspecify.annotations.Nullable;

/**
 * An idempotency key and its scope: the queue and, if the task has a key, that key as well.
 *
 * @param queue the queue
 * @param key the key of the task, or null
 * @param request the idempotency key
 */
public record RequestName(String queue, @Nullable String key, String request) {
  /** Returns the key of the task, or the empty string if there is none. No task has the empty string as its key. */
  public String keyOrEmpty() {
    return key == null ? "" : key;
  }
}
