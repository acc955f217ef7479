package io.foliot.store.jdbc;

import io.foliot.core.store.Draft;

/**
 * A task to be inserted.
 *
 * @param draft the task as the caller submitted it
 * @param queue the number of the task's queue
 * @param slot the slot for the task's index entry
 */
record NewTask(Draft draft, int queue, int slot) {}
