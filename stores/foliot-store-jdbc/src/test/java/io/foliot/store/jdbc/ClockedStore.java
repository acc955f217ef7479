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
import java.util.function.Supplier;

/**
 * Wraps a store that reads the time from a row of its database. Before every call, the wrapper sets this row to the
 * time of a clock of this process. So tests that skip hours or set the clock back can run against the real server.
 */
final class ClockedStore {
  private ClockedStore() {}

  /** Executes statements that create the table from which the dialect reads the time. Called once for a database. */
  static void prepare(Database database, List<String> statements) {
    statements.forEach(statement -> Databases.execute(database, statement));
  }

  /**
   * Opens a store and returns its wrapper. Sets the clock before the store opens, because the background work of the
   * store raises the floor of generations to the time in the table.
   *
   * @param open opens a store that reads the time from the table {@code test_clock}
   */
  static TaskStore of(Supplier<TaskStore> open, Database database, TimeSource clock) {
    Ticker ticker = new Ticker(database, clock);
    ticker.tick();
    TaskStore store = open.get();
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

    synchronized void tick() {
      long now = clock.wallMicros();
      try {
        if (now != last && !connection.isClosed()) {
          update.setLong(1, now);
          int rows = update.executeUpdate();
          assert rows == 1 : rows;
          last = now;
        }
      } catch (SQLException e) {
        throw new AssertionError("the clock of the database cannot be set", e);
      }
    }

    synchronized void close() throws SQLException {
      connection.close();
    }
  }
}
