package io.foliot.store.jdbc;

import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * A store that changes tasks in a transaction of the caller. This interface is a capability of a store, see
 * {@link TaskStore#capability}.
 *
 * <p>A call takes effect if the transaction commits, and has no effect if the transaction rolls back. Calls block.
 * Their results are in the order of the items, and are valid once the transaction commits. Rows that a call changed
 * stay locked until the transaction ends, so the transaction should be short. Above the isolation level READ COMMITTED,
 * rows that a call only reads are locked as well. PostgreSQL, and MariaDB with {@code innodb_snapshot_isolation}, then
 * refuse a call with the SQL state 40001 if another transaction has changed such a row since the first read of the
 * caller's transaction. The caller can roll back and repeat the transaction.
 *
 * <p>Each method throws {@link SQLException} if a statement fails; the caller must then roll back. Each method throws
 * {@link IllegalArgumentException}, and writes nothing, if the connection is in auto-commit mode, or if its database
 * does not hold the slots of all items. Each method throws {@link StoreAwayException}, and writes nothing, if the store
 * is sealed. A migration seals the store only after all transactions that have called these methods have ended.
 */
public interface TransactionalStore {
  /** Submits tasks. The next head poll finds a task that is already due when the transaction commits. */
  List<SubmitResult> submit(Connection transaction, List<Draft> drafts) throws SQLException;

  /** Touches tasks as {@link TaskStore#touch} does. */
  List<TouchResult> touch(Connection transaction, List<Touch> touches) throws SQLException;

  /** Cancels tasks as {@link TaskStore#cancel} does. */
  List<CancelResult> cancel(Connection transaction, List<TaskRef> refs) throws SQLException;
}
