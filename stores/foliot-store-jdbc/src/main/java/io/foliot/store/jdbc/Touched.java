package io.foliot.store.jdbc;

import io.foliot.core.store.TouchResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of touches, in the order of the touches.
 *
 * @param micros a reading of the database's clock in microseconds since 1970, made when the touches were decided or
 *     shortly after that; MariaDB and MySQL return 0 if no key has a live task
 * @param results the results; null for a touch that takes the general path: its key has no waiting task, or its
 *     deadline is before the index entry of the task
 */
record Touched(long micros, List<@Nullable TouchResult> results) {}
