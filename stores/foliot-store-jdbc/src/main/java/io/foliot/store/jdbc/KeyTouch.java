package io.foliot.store.jdbc;

import io.foliot.api.Body;
import io.foliot.api.Due;
import org.jspecify.annotations.Nullable;

/**
 * A new deadline for the live task of a key, usually later than the present deadline.
 *
 * @param queue the number of the key's queue
 * @param key the key
 * @param due the new deadline
 * @param maxWaitMillis the longest time from the first due time of the task to the deadline, in milliseconds;
 *     {@link Long#MAX_VALUE} for no limit
 * @param body the new payload, or null to keep the present one
 * @param maxAttempts the new maximum number of attempts, or 0 to keep the present one
 */
record KeyTouch(int queue, String key, Due due, long maxWaitMillis, @Nullable Body body, int maxAttempts) {
  /** Returns the size of the new payload, in bytes; 0 if the present payload is kept. */
  long bytes() {
    return body == null ? 0 : body.payload().length;
  }
}
