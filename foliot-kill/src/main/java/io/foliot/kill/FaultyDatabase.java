package io.foliot.kill;

import io.foliot.servers.Database;
import io.foliot.servers.Server;
import io.foliot.servers.TcpProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** A database with a server of its own, which can be broken in the ways in which databases break. */
interface FaultyDatabase extends AutoCloseable {
  Server server();

  /** The empty database, as Foliot shall use it. */
  Database database();

  /** The same as somebody sees it who may do everything. */
  Database owner();

  /** Ends all sessions of Foliot's, in the midst of what they do. */
  void endSessions();

  /** Refuses all that writes, or no longer. */
  void readOnly(boolean refuses);

  /** The statement that locks all of a table against everybody else until the session's end. */
  String lockTable(String table);

  /** Holds a lock for a while that a statement takes in a transaction of its own. */
  default void hold(String statement, long millis) {
    try (Connection connection = owner().connect(); Statement taking = connection.createStatement()) {
      connection.setAutoCommit(false);
      taking.execute(statement);
      Await.pause(millis);
      connection.rollback();
    } catch (SQLException e) {
      throw new AssertionError("the database refused: sql=" + statement, e);
    }
  }

  /** What can happen to it only once, at the end; asked for when all else has happened. */
  List<Trouble> atLast(TcpProxy proxy);

  @Override
  void close();
}
