package io.foliot.store.jdbc;

import io.foliot.core.store.RecordTable;
import io.foliot.core.store.batch.RequestName;

/**
 * The answer to a request with an idempotency key, to be stored in the transaction that changes the task.
 *
 * @param name the name of the request
 * @param queue the number of the task's queue
 * @param answered the answer
 * @param change the answer is stored only with the change at this position of the batch, from 0 on; -1 if the answer is
 *     always stored
 */
record NewAnswer(RequestName name, int queue, RecordTable.Answered answered, int change) {}
