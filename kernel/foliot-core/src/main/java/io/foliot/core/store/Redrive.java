package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A request to make a failed task live again.
 *
 * @param queue the queue that the task must belong to; a task of another queue is not found
 * @param id the task
 */
public record Redrive(String queue, TaskId id) {}
