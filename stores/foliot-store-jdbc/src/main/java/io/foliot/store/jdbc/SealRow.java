package io.foliot.store.jdbc;

import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The row of {@code foliot_meta} that says whether the store is sealed. Thread-safe.
 *
 * <p>Engines read the document of the seal each second, but a caller's transaction may commit long after its last call.
 * If such a transaction committed after a migration had read the tasks, the changes of the transaction would be lost.
 * So each call in a caller's transaction takes a shared lock until the transaction ends. A change of the seal takes an
 * exclusive lock. MariaDB and MySQL lock this row, and PostgreSQL locks the table. Other calls do not use the row.
 */
final class SealRow {
  private static final String SEALED = "yes";
  private static final String OPEN = "no";

  private final Dialect dialect;
  private final String sealed;
  private final String lockSeal;
  private final String setSealed;

  SealRow(Dialect dialect) {
    this.dialect = dialect;
    sealed = dialect.files().text("sealed");
    lockSeal = dialect.files().text("lock_seal");
    setSealed = dialect.files().text("set_sealed");
  }

  /**
   * Ensures that the store is open, and stays open until the transaction ends. Returns whether reads of the transaction
   * need locks to return the newest rows.
   *
   * @throws StoreAwayException if the store is sealed
   */
  boolean ensureOpen(Connection transaction) throws SQLException {
    try (PreparedStatement select = dialect.prepare(transaction, sealed); ResultSet row = dialect.rows(select)) {
      if (!row.next() || !row.getString(1).equals(OPEN)) {
        throw new StoreAwayException(
            "the store is sealed: its tasks were moved or are being moved to another store, or the tasks of another"
                + " store are being moved into it; roll back, and call a server of the store that has the tasks",
            null);
      }
      return row.getBoolean(2);
    }
  }

  /** A write of the document of the seal. */
  interface Write {
    /** Writes the document, and returns whether it had the expected version. */
    boolean with(Connection transaction) throws SQLException;
  }

  /**
   * Waits until all callers' transactions that may have changed tasks have ended. Then writes the document. If the
   * document had the expected version, also writes the row, in the same transaction.
   */
  boolean change(Session session, boolean seals, Write document) throws SQLException {
    return session.run(connection -> Session.together(connection, dialect::isFull, transaction -> {
      lock(transaction);
      boolean written = document.with(transaction);
      if (written) {
        set(transaction, seals);
      }
      return written;
    }));
  }

  private void lock(Connection transaction) throws SQLException {
    try (PreparedStatement lock = dialect.prepare(transaction, lockSeal)) {
      lock.execute();
    } catch (SQLException e) {
      if (dialect.isRolledBack(e)) {
        throw e;
      }
      throw new StoreException("the seal was not changed; first, all callers' transactions that have changed tasks must"
          + " end: " + Connections.reason(e), e);
    }
  }

  private void set(Connection transaction, boolean seals) throws SQLException {
    try (PreparedStatement update = dialect.prepare(transaction, setSealed)) {
      update.setString(1, seals ? SEALED : OPEN);
      int rows = update.executeUpdate();
      assert rows <= 1 : rows;
    }
  }
}
