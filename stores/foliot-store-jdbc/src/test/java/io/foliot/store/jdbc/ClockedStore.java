package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * A store on a database whose clock is a row of a table, which is set to a clock of this process before every call: so
 * the whole kit, with its hours and its clock set back, runs against the real server, and what is random is compared
 * with the model step by step.
 */
final class ClockedStore {
  private ClockedStore() {}

  /** Makes the function that the dialect asks for the time, once for a database. */
  static void prepare(Database database, List<String> statements) {
    statements.forEach(statement -> Databases.execute(database, statement));
  }

  /**
   * The store with its clock set before every call.
   *
   * @param store that reads the time from the table {@code test_clock}
   */
  static TaskStore of(TaskStore store, Database database, TimeSource clock) {
    Ticker ticker = new Ticker(database, clock);
    return (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(), new Class<?>[]{TaskStore.class},
        (proxy, method, arguments) -> {
          ticker.tick();
          try {
            Object result = method.invoke(store, arguments);
            if (method.getName().equals("close")) {
              ticker.close();
            }
            return result;
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  private static final class Ticker {
    private final TimeSource clock;
    // guarded by this
    private final Connection connection;
    private final PreparedStatement update;
    private long last;

    Ticker(Database database, TimeSource clock) {
      this.clock = clock;
      try {
        connection = database.connect();
        update = connection.prepareStatement("UPDATE test_clock SET micros = ?");
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
    }

    synchronized void tick() throws SQLException {
      long now = clock.wallMicros();
      if (now != last && !connection.isClosed()) {
        update.setLong(1, now);
        int rows = update.executeUpdate();
        assert rows == 1 : rows;
        last = now;
      }
    }

    synchronized void close() throws SQLException {
      connection.close();
    }
  }
}
