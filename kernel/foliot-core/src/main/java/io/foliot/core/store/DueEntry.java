package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * An index entry, of a slot or of the parked tasks of a queue.
 *
 * @param wakeAt when a scheduler must claim or move the task, in milliseconds since 1970
 * @param id the task
 * @param queue its queue
 */
public record DueEntry(long wakeAt, TaskId id, String queue) {}
