package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The clock of a database, and the floor of its generations. Thread-safe. */
final class StoreClock {
  private final Dialect dialect;
  private final String micros;
  private final String floor;
  private final String raiseFloor;

  StoreClock(Dialect dialect) {
    this.dialect = dialect;
    micros = dialect.files().text("clock");
    floor = dialect.files().text("floor");
    raiseFloor = dialect.files().text("raise_floor");
  }

  /** Returns the time by the database's clock, in microseconds since 1970. */
  long micros(Connection connection) throws SQLException {
    return number(connection, micros);
  }

  /**
   * Returns the floor. A new generation is usually the time of the clock in microseconds. If the task has a key, the
   * generation is never below the floor, even if the clock was set back.
   */
  long floor(Connection connection) throws SQLException {
    return number(connection, floor);
  }

  private long number(Connection connection, String sql) throws SQLException {
    try (PreparedStatement select = dialect.prepare(connection, sql); ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Raises the floor to this value if the floor is lower. Returns the number of changed rows: 0 or 1. */
  int raiseFloor(Connection connection, long least) throws SQLException {
    try (PreparedStatement update = dialect.prepare(connection, raiseFloor)) {
      update.setLong(1, least);
      update.setLong(2, least);
      return update.executeUpdate();
    }
  }
}
