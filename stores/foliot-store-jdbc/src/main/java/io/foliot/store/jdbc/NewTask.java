package io.foliot.store.jdbc;

import io.foliot.core.store.Draft;

/**
 * A draft to be inserted.
 *
 * @param draft the request
 * @param queue the number of its queue
 * @param slot where its entry goes
 */
record NewTask(Draft draft, int queue, int slot) {}
