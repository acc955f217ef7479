package io.foliot.store.jdbc;

/**
 * A new record that is inserted together with the change of another one.
 *
 * @param change the record
 * @param parent the place of the other change
 */
record Child(Change change, int parent) {}
