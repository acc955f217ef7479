package io.foliot.core.store;

import io.foliot.api.Due;
import io.foliot.core.TaskRef;

/**
 * A request to move a deadline.
 *
 * @param ref the task
 * @param due the task's new due time
 */
public record Touch(TaskRef ref, Due due) {}
