package io.foliot.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of tasks.
 *
 * @param tasks what was found
 * @param cursor where to go on, or null at the end
 */
public record TaskPage(List<TaskRecord> tasks, @Nullable String cursor) {}
