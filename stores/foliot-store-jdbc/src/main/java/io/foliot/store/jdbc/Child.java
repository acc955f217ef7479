package io.foliot.store.jdbc;

/**
 * A new record that is inserted together with the change of another record.
 *
 * @param change the record
 * @param parent the position of the other change in its batch
 */
record Child(Change change, int parent) {}
