package io.foliot.store.jdbc;

/**
 * A database that holds a range of slots, up to the next part's.
 *
 * @param firstSlot the first of them
 * @param source the database
 */
public record JdbcPart(int firstSlot, JdbcSource source) {}
