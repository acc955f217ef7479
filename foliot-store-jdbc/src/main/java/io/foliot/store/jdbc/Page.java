package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was found among a bounded number of rows.
 *
 * @param micros the database's clock
 * @param tasks in the order of their ids, those included that may be forgotten
 * @param end the last id that was looked at; null if there are no rows behind
 */
record Page(long micros, List<TaskRecord> tasks, @Nullable TaskId end) {}
