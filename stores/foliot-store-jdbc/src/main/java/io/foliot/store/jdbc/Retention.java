package io.foliot.store.jdbc;

/**
 * How long a queue keeps what finished.
 *
 * @param queue the number of the queue
 * @param millis how long
 */
record Retention(int queue, long millis) {}
