package io.foliot.core.store;

import io.foliot.core.TaskRef;

/**
 * A deadline to be moved.
 *
 * @param ref the task
 * @param dueAt its new due time in milliseconds since 1970
 */
public record Touch(TaskRef ref, long dueAt) {}
