package io.foliot.store.jdbc;

/**
 * The time for which a queue keeps finished tasks.
 *
 * @param queue the number of the queue
 * @param millis the time, in milliseconds
 */
record Retention(int queue, long millis) {}
