package io.foliot.store.jdbc;

import io.foliot.core.store.TouchResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of touches, by their place in the list.
 *
 * @param micros the database's clock when the touches were decided
 * @param results the results; null for a touch that takes the general path, because it does not only push back a task
 *     that waits
 */
record Touched(long micros, List<@Nullable TouchResult> results) {}
