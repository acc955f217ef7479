package io.foliot.store.jdbc;

/**
 * A new record that is inserted together with the change of another record.
 *
 * @param change the insert of the new record
 * @param parent the position, in its batch, of the change of the other record
 */
record Child(Change change, int parent) {}
