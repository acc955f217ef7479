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

/** A database with a server of its own, which can be broken in the ways in which databases break. */
interface FaultyDatabase extends AutoCloseable {
  /** The time for which a lock is tried. */
  Duration LOCK_BOUND = Duration.ofSeconds(30);

  Server server();

  /** The empty database, as Foliot shall use it. */
  Database database();

  /** The same database, for a user with all rights. */
  Database owner();

  /** Ends all sessions of Foliot, in the middle of their work. */
  void endSessions();

  /** Refuses all that writes, or no longer. */
  void readOnly(boolean refuses);

  /** The statement that locks a table against all other sessions until the session's end. */
  String lockTable(String table);

  /** Holds a lock for a while that a statement takes in a transaction of its own. */
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

  /** Returns whether it was taken; it is not where the database has ended a deadlock at our cost. */
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

  /** Runs statements, one after the other, as the user with all rights. */
  default void run(String... statements) {
    try (Connection connection = owner().connect(); Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + String.join("; ", statements), e);
    }
  }

  /** The first column of all rows, as the user with all rights sees it. */
  default List<String> ask(String sql) {
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

  /** Returns the commits, each with the test that recognises its request. */
  Map<String, Predicate<String>> commits();

  /** Returns the faults that are possible only once, at the end; called when all others have happened. */
  List<InjectedFault> atLast(TcpProxy proxy);

  @Override
  void close();
}
