package io.foliot.store.jdbc;

import io.foliot.core.store.Due;

/**
 * A deadline to be pushed back.
 *
 * @param queue the number of the queue
 * @param key the key
 * @param due when
 * @param maxWaitMillis how far behind its first due time it may go
 */
record KeyTouch(int queue, String key, Due due, long maxWaitMillis) {}
