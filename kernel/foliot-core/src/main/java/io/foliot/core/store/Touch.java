package io.foliot.core.store;

import io.foliot.core.TaskRef;

/**
 * A deadline to be moved.
 *
 * @param ref the task
 * @param due its new due time
 */
public record Touch(TaskRef ref, Due due) {}
