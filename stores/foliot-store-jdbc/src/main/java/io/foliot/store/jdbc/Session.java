package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A connection for one call. A connection of the store is in auto-commit mode, and the session repeats statements that
 * a conflict rolled back. In a caller's transaction, the session repeats no statement, because the conflict may have
 * ended the transaction.
 */
final class Session {
  /** Largest number of tries of a statement, if conflicts with other transactions roll it back. */
  private static final int TRIES = 12;
  /** Longest pause between two tries, apart from a tenth of a millisecond that is always added. */
  private static final long WAIT_MILLIS_MAX = 200;

  /** SQL state of a commit whose outcome is unknown. */
  private static final String OUTCOME_UNKNOWN = "08007";
  /** SQL state of a transaction that must be rolled back and repeated. */
  static final String NOT_SERIALIZABLE = "40001";

  private final Connection connection;
  private final Dialect dialect;
  /** The connection for steps outside the caller's transaction; null without such a transaction. */
  private final @Nullable Connections outside;
  private final boolean locksReads;
  private boolean mayHaveWritten;
  /** Whether a step that may write has succeeded since the latest unit began. */
  private boolean wroteSince;

  private Session(Connection connection, Dialect dialect, @Nullable Connections outside, boolean locksReads) {
    this.connection = connection;
    this.dialect = dialect;
    this.outside = outside;
    this.locksReads = locksReads;
  }

  /** Returns a session on a connection of the store. */
  static Session own(Connection connection, Dialect dialect) {
    return new Session(connection, dialect, null, false);
  }

  /**
   * Returns a session in the transaction of a caller. Steps of {@link #apart} use connections from {@code outside}.
   *
   * @param locksReads whether reads need locks to return the newest rows
   */
  static Session within(Connection transaction, Dialect dialect, Connections outside, boolean locksReads) {
    return new Session(transaction, dialect, outside, locksReads);
  }

  boolean isOwn() {
    return outside == null;
  }

  /**
   * Returns whether a read needs locks if an answer depends on the result of the read. Above the isolation level READ
   * COMMITTED, a read without locks returns the rows as they were at the first read of the transaction. A read with
   * locks returns the newest rows (MariaDB, MySQL), or fails if a row has changed since (PostgreSQL, and MariaDB with
   * {@code innodb_snapshot_isolation}).
   */
  boolean locksReads() {
    return locksReads;
  }

  /**
   * Ensures that reads of this session find a row that another transaction has inserted.
   *
   * @param duplicate the failure of the statement that tried to insert the same row
   * @throws SQLException if even reads with locks do not find the row. The caller must then repeat the transaction
   */
  void ensureVisible(SQLException duplicate) throws SQLException {
    if (locksReads && !dialect.lockingReadsFindNewRows()) {
      throw new SQLException("could not serialize access: another transaction has committed a request with this"
          + " idempotency key after the first read of this transaction; roll back and repeat the transaction",
          NOT_SERIALIZABLE, duplicate);
    }
  }

  /** One statement, or a few that belong together. */
  interface Step<R> {
    R take(Connection connection) throws SQLException;
  }

  Connection connection() {
    return connection;
  }

  /** Runs a step that may write, and that has no effect if it fails. */
  <R> R run(Step<R> step) throws SQLException {
    R result = ask(step);
    mayHaveWritten = true;
    wroteSince = true;
    return result;
  }

  /** Runs a step that reads, or that creates something that all calls share, such as the number of a queue. */
  <R> R ask(Step<R> step) throws SQLException {
    for (int tried = 1;; tried++) {
      try {
        return step.take(connection);
      } catch (SQLException e) {
        if (!isOwn() || tried == TRIES || !dialect.isRolledBack(e)) {
          throw e;
        }
        pause(tried);
      }
    }
  }

  /**
   * Begins a unit of work. If a statement fails before a step of the unit has written, the unit's items without results
   * are unchanged.
   */
  void beginUnit() {
    wroteSince = false;
  }

  /** Returns whether a step that may write has succeeded since the latest unit began. */
  boolean wroteSince() {
    return wroteSince;
  }

  /** Returns whether a step that may write has succeeded in this session. */
  boolean mayHaveWritten() {
    return mayHaveWritten;
  }

  /**
   * Runs a step outside of the caller's transaction. As a part of the transaction, the step would hold a lock that all
   * callers need, would be rolled back with the transaction, or would not see the newest rows.
   */
  <R> R apart(Step<R> step) throws SQLException {
    return outside == null ? ask(step) : outside.now(dialect, session -> session.run(step));
  }

  /** Runs a step so that its failure does not end the caller's transaction. This process handles the failure. */
  <R> R guarded(Step<R> step) throws SQLException {
    if (isOwn()) {
      return run(step);
    }
    Savepoint before = connection.setSavepoint();
    try {
      R result = step.take(connection);
      mayHaveWritten = true;
      wroteSince = true;
      connection.releaseSavepoint(before);
      return result;
    } catch (SQLException e) {
      rollBack(before, e);
      throw e;
    }
  }

  private void rollBack(Savepoint before, SQLException failure) throws SQLException {
    try {
      connection.rollback(before);
    } catch (SQLException e) {
      if (!dialect.isRolledBack(failure)) {
        throw e;
      }
      // The conflict has ended the transaction, and its savepoints with it. The caller must see the conflict.
      failure.addSuppressed(e);
    }
  }

  /**
   * Runs steps in the transaction of the caller, or else in a new transaction, which is then committed.
   *
   * @param isFull whether an exception says that the database is full, so that a statement had no effect
   */
  static <R> R together(Connection connection, Predicate<SQLException> isFull, Step<R> steps) throws SQLException {
    if (!connection.getAutoCommit()) {
      return steps.take(connection);
    }
    connection.setAutoCommit(false);
    try {
      R result = steps.take(connection);
      commit(connection, isFull);
      connection.setAutoCommit(true);
      return result;
    } catch (SQLException | RuntimeException e) {
      try {
        connection.rollback();
        connection.setAutoCommit(true);
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  /**
   * Commits. Unlike a statement, a commit that fails because the disk is full may have taken effect. So this method
   * replaces the exception by one that {@code isFull} does not recognize.
   */
  private static void commit(Connection connection, Predicate<SQLException> isFull) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw isFull.test(e)
          ? new SQLException("the commit failed, and its outcome is unknown: " + e.getMessage(), OUTCOME_UNKNOWN, e)
          : e;
    }
  }

  /**
   * Pauses for a random time, so that two calls do not conflict repeatedly. The longest possible pause doubles with
   * each try, up to {@value #WAIT_MILLIS_MAX} ms.
   */
  static void pause(int tried) {
    long maxMillis = Math.min(WAIT_MILLIS_MAX, 1L << Math.min(tried, 10));
    try {
      TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(1_000 * maxMillis) + 100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException("the store is being closed", e);
    }
  }
}
