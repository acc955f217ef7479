package io.foliot.backends;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Statements for tests, on a given connection or on a new connection. */
final class Jdbc {
  private Jdbc() {}

  static void execute(Database database, String... statements) throws SQLException {
    try (Connection connection = database.connect()) {
      for (String sql : statements) {
        execute(connection, sql);
      }
    }
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Returns the first column of the first row as text. The query must return a row. */
  static String query(Database database, String sql) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }
}
