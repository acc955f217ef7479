package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.Server;
import io.foliot.backends.TcpProxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A database on a server of its own, with operations that make it fail as databases do. */
interface FaultyDatabase extends AutoCloseable {
  /** Longest time for which {@link #hold} tries to take a lock. */
  Duration LOCK_BOUND = Duration.ofSeconds(30);

  Server server();

  /** Returns the database, which is empty at first, for the user of Foliot. */
  Database database();

  /** Returns the same database for a user with all rights. */
  Database owner();

  /** Ends all sessions of Foliot, in the middle of their work. */
  void endSessions();

  /**
   * Makes the database refuse writes, or accept them again.
   *
   * @param refuses whether the database refuses writes from now on
   */
  void readOnly(boolean refuses);

  /** Returns a statement that locks a table against all other sessions. The lock ends no later than the session. */
  String lockTable(String table);

  /** Takes a lock by a statement, in a transaction of its own, and holds the lock for {@code millis} milliseconds. */
  default void hold(String statement, long millis) {
    try (Connection connection = owner().connect(); Statement taking = connection.createStatement()) {
      connection.setAutoCommit(false);
      Await.until("a lock is taken: " + statement, LOCK_BOUND, () -> takes(taking, statement));
      Await.pause(millis);
      connection.rollback();
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + statement, e);
    }
  }

  /** Returns whether a statement took its lock. Returns false if it was rolled back because of a deadlock. */
  private static boolean takes(Statement taking, String statement) {
    try {
      taking.execute(statement);
      return true;
    } catch (SQLTransactionRollbackException e) {
      return false;
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + statement, e);
    }
  }

  /** Runs statements in order, as the user with all rights. */
  default void run(String... statements) {
    try (Connection connection = owner().connect(); Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + String.join("; ", statements), e);
    }
  }

  /** Runs a query as the user with all rights. Returns the first column of all rows, in the order of the rows. */
  default List<String> query(String sql) {
    try (Connection connection = owner().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> found = new ArrayList<>();
      while (row.next()) {
        found.add(row.getString(1));
      }
      return found;
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + sql, e);
    }
  }

  /** Returns the kinds of commits by name, each with a predicate that recognises the text of requests of this kind. */
  Map<String, Predicate<String>> commits();

  /** Returns the faults that can happen only once, at the end of a run. Called after all other faults. */
  List<InjectedFault> atLast(TcpProxy proxy);

  @Override
  void close();
}
