package io.foliot.store.jdbc;

import io.foliot.core.store.RecordTable;
import io.foliot.core.store.batch.RequestName;

/**
 * The answer to a request with an idempotency key, to be stored in the transaction that changes the task.
 *
 * @param name the name of the request
 * @param queue the number of the task's queue
 * @param answered the answer
 * @param change the position of a change in the batch, from 0 on: the answer is stored only if this change is written;
 *     -1 if the answer is always stored
 */
record NewAnswer(RequestName name, int queue, RecordTable.Answered answered, int change) {}
