package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection for one call. A connection of the store is in auto-commit mode, and the session repeats statements that
 * a conflict rolled back. In a caller's transaction it repeats none, because the failure has ended the transaction.
 */
final class Session {
  /** Most tries of a statement that conflicts with other transactions roll back. */
  private static final int TRIES = 12;
  private static final long WAIT_MILLIS_MAX = 200;

  private final Connection connection;
  private final Dialect dialect;
  /** The connection for steps outside the caller's transaction; null without such a transaction. */
  private final @Nullable Connections outside;
  private boolean mayHaveWritten;
  private boolean wroteSince;

  private Session(Connection connection, Dialect dialect, @Nullable Connections outside) {
    this.connection = connection;
    this.dialect = dialect;
    this.outside = outside;
  }

  static Session own(Connection connection, Dialect dialect) {
    return new Session(connection, dialect, null);
  }

  /** Returns a session in the transaction of a caller. */
  static Session within(Connection transaction, Dialect dialect, Connections outside) {
    return new Session(transaction, dialect, outside);
  }

  boolean isOwn() {
    return outside == null;
  }

  /** One statement, or a few that belong together. */
  interface Step<R> {
    R take(Connection connection) throws SQLException;
  }

  Connection connection() {
    return connection;
  }

  /** Takes a step that may write, and that has no effect if it fails. */
  <R> R run(Step<R> step) throws SQLException {
    R result = ask(step);
    mayHaveWritten = true;
    wroteSince = true;
    return result;
  }

  /** Takes a step that reads, or that creates something once for all calls. */
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
   * Begins a unit of work: until the next step that writes, a failed statement has not changed the items that have no
   * result yet.
   */
  void beginUnit() {
    wroteSince = false;
  }

  /** Returns whether a step that may write was taken since the last unit began. */
  boolean wroteSince() {
    return wroteSince;
  }

  /** Returns whether a step that may write was taken. */
  boolean mayHaveWritten() {
    return mayHaveWritten;
  }

  /**
   * Takes a step that must not be a part of the caller's transaction: it would hold a lock that all callers need, or be
   * rolled back.
   */
  <R> R apart(Step<R> step) throws SQLException {
    return outside == null ? ask(step) : outside.now(dialect, session -> session.run(step));
  }

  /** Takes a step whose failure the caller can handle, so that it must not end the caller's transaction. */
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
      connection.rollback(before);
      throw e;
    }
  }

  /**
   * Pauses for a random time, at most 200 ms, whose bound grows with each try, so that two calls do not conflict
   * repeatedly.
   */
  static void pause(int tried) {
    long most = Math.min(WAIT_MILLIS_MAX, 1L << Math.min(tried, 10));
    try {
      TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(1_000 * most) + 100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException("the store is being closed", e);
    }
  }
}
