package io.foliot.store.jdbc;

/**
 * The results of inserts, by their place in the list.
 *
 * @param micros the database's clock when the statement began
 * @param generations the generations of the inserted tasks; 0 for tasks that were not inserted
 * @param dueAts the due times of the inserted tasks, in milliseconds
 * @param last the largest generation that the clock has not passed yet; 0 if it has passed all of them
 */
@SuppressWarnings("ArrayRecordComponent") // made, read, and dropped
record Inserted(long micros, long[] generations, long[] dueAts, long last) {}
