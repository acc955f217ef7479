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
 * a conflict rolled back. In a caller's transaction, the session repeats no statement, because the conflict may have
 * ended the transaction.
 */
final class Session {
  /** Largest number of tries of a statement, if conflicts with other transactions roll it back. */
  private static final int TRIES = 12;
  /** Longest pause between two tries, apart from a tenth of a millisecond that is always added. */
  private static final long WAIT_MILLIS_MAX = 200;

  private final Connection connection;
  private final Dialect dialect;
  /** The connection for steps outside the caller's transaction; null without such a transaction. */
  private final @Nullable Connections outside;
  private boolean mayHaveWritten;
  /** Whether a step that may write has succeeded since the latest unit began. */
  private boolean wroteSince;

  private Session(Connection connection, Dialect dialect, @Nullable Connections outside) {
    this.connection = connection;
    this.dialect = dialect;
    this.outside = outside;
  }

  /** Returns a session on a connection of the store. */
  static Session own(Connection connection, Dialect dialect) {
    return new Session(connection, dialect, null);
  }

  /** Returns a session in the transaction of a caller. Steps of {@link #apart} use connections from {@code outside}. */
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
   * callers need, or would be rolled back with the transaction.
   */
  <R> R apart(Step<R> step) throws SQLException {
    return outside == null ? ask(step) : outside.now(dialect, session -> session.run(step));
  }

  /** Runs a step whose failure this process handles. The failure does not end the caller's transaction. */
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
