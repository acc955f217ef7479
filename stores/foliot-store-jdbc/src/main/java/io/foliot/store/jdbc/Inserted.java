package io.foliot.store.jdbc;

/**
 * The results of inserts, in the order of the inserted tasks.
 *
 * @param micros the time by the database's clock at which the statement began, in microseconds since 1970
 * @param generations the generations of the inserted tasks; 0 for tasks that were not inserted
 * @param dueAts the due times of the inserted tasks, in milliseconds since 1970
 * @param last the largest generation that the clock has not passed yet; 0 if the clock has passed all generations
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Inserted(long micros, long[] generations, long[] dueAts, long last) {}
