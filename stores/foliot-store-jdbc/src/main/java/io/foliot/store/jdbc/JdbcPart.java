package io.foliot.store.jdbc;

/**
 * A database that holds a range of slots. The range ends before the first slot of the next part. The range of the last
 * part ends with the last slot of the store.
 *
 * @param firstSlot the first slot of the range
 * @param source the database
 */
public record JdbcPart(int firstSlot, JdbcSource source) {}
