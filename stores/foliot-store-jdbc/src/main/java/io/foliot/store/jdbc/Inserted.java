package io.foliot.store.jdbc;

/**
 * The results of inserts, in the order of the tasks.
 *
 * @param micros the time by the database's clock at which the statement began, in microseconds since 1970
 * @param generations the generation of each task; 0 for a task that was not inserted
 * @param dueAts the due time of each inserted task, in milliseconds since 1970
 * @param last the largest of the generations that are ahead of the clock; 0 if none of them is
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Inserted(long micros, long[] generations, long[] dueAts, long last) {}
