package io.foliot.store.jdbc;

/**
 * The results of inserts, by their place in the list.
 *
 * @param micros the database's clock when it began
 * @param generations the generations of the inserted tasks; 0 for tasks that were not inserted
 * @param dueAts when they are due
 * @param last the largest of their generations if the clock has not passed one of them, else 0
 */
@SuppressWarnings("ArrayRecordComponent") // made, read, and dropped
record Inserted(long micros, long[] generations, long[] dueAts, long last) {}
