package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tasks found among a bounded number of rows.
 *
 * @param micros the time of the read by the database's clock, in microseconds since 1970
 * @param rows the rows in the order of their ids, including expired rows
 * @param end the next page begins after this id; null if no rows follow
 */
record Page(long micros, List<Row> rows, @Nullable TaskId end) {}
