package io.foliot.store.jdbc;

import io.foliot.core.Body;
import io.foliot.core.store.Due;
import org.jspecify.annotations.Nullable;

/**
 * A deadline to be pushed back.
 *
 * @param queue the number of the queue
 * @param key the key
 * @param due when
 * @param maxWaitMillis the longest time by which it may be later than its first due time
 * @param body the payload from now on; null for the present one
 * @param maxAttempts instead of those it has, or 0
 */
record KeyTouch(int queue, String key, Due due, long maxWaitMillis, @Nullable Body body, int maxAttempts) {
  /** Returns how much there is to be written, roughly. */
  long bytes() {
    return body == null ? 0 : body.payload().length;
  }
}
