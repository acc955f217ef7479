package io.foliot.store.jdbc;

import io.foliot.core.store.RecordTable;
import io.foliot.core.store.batch.RequestName;

/**
 * An answer to be remembered, together with the change of its task.
 *
 * @param name which request it answers
 * @param queue the number of its queue
 * @param answered the answer
 * @param change the place of the change it depends on, or -1 if nothing changes
 */
record NewAnswer(RequestName name, int queue, RecordTable.Answered answered, int change) {}
