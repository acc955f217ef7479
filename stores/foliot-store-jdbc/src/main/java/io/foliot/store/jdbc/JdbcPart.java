package io.foliot.store.jdbc;

/**
 * A database that holds a range of slots, which ends where that of the next part begins.
 *
 * @param firstSlot the first slot of the range
 * @param source the database
 */
public record JdbcPart(int firstSlot, JdbcSource source) {}
