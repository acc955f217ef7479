package io.foliot.store.jdbc;

import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * A store that changes tasks in a transaction of the caller. A capability: see {@link TaskStore#capability}.
 *
 * <p>The effects of a call exist if the transaction commits, and never existed if it rolls back. Calls block; their
 * results hold once the transaction commits. Rows that a call changed stay locked until then, so the transaction should
 * be short. Above the isolation level READ COMMITTED, the database may refuse to change rows that another transaction
 * has changed meanwhile.
 *
 * <p>Each method throws {@link SQLException} if a statement fails, after which the caller rolls back; and
 * {@link IllegalArgumentException}, with nothing written, if the connection is in auto-commit mode or leads to a
 * database that does not hold the slots of all items.
 */
public interface TransactionalStore {
  /** Submits tasks. A task that is already due when the transaction commits is found by the next head poll. */
  List<SubmitResult> submit(Connection transaction, List<Draft> drafts) throws SQLException;

  /** As {@link TaskStore#touch}. */
  List<TouchResult> touch(Connection transaction, List<Touch> touches) throws SQLException;

  /** As {@link TaskStore#cancel}. */
  List<CancelResult> cancel(Connection transaction, List<TaskRef> refs) throws SQLException;
}
