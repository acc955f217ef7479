package io.foliot.store.jdbc;

import io.foliot.core.store.TaskRecord;

/**
 * A record as it was read.
 *
 * @param record live or kept
 * @param version changes with every write of a live record; 0 for one that is kept
 */
record Row(TaskRecord record, long version) {}
