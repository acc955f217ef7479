package io.foliot.store.jdbc;

/**
 * A new record that is inserted together with the change of another record.
 *
 * @param change the insert of the new record
 * @param parent the position of the other record's change in its batch, from 0 on
 */
record Child(Change change, int parent) {}
