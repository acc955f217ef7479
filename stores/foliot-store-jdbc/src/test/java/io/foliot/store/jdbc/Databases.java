package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Direct access of tests to databases, not through the store. */
final class Databases {
  private static final List<String> TABLES = List.of("foliot_task", "foliot_final", "foliot_request", "foliot_queue",
      "foliot_document");

  private Databases() {}

  static JdbcOptions options(Database database) {
    return JdbcOptions.builder(database.jdbcUrl(), database.user(), database.password()).connections(4).build();
  }

  /**
   * Deletes all rows of the store's tables and resets the floor of generations, if the tables exist. This is cheaper
   * than to create a new database.
   */
  static void empty(Database database) {
    try (Connection connection = database.connect(); Statement statement = connection.createStatement()) {
      List<String> tables = tables(connection);
      for (String table : tables) {
        if (TABLES.contains(table)) {
          statement.addBatch("DELETE FROM " + table);
        }
      }
      if (!tables.isEmpty()) {
        statement.addBatch("UPDATE foliot_clock SET floor = 0");
        statement.addBatch("UPDATE foliot_meta SET value = 'no' WHERE name = 'sealed'");
        int[] rows = statement.executeBatch();
        assert rows.length > 0;
      }
    } catch (SQLException e) {
      throw new AssertionError("the tables cannot be emptied", e);
    }
  }

  /**
   * Lets each statement fail that inserts a row into a table of tasks, as on a server without space; or lets such
   * statements succeed again. Changes and deletions of rows succeed all the time.
   */
  static void setFull(Database database, boolean isFull) {
    boolean postgres = database.jdbcUrl().startsWith("jdbc:postgresql:");
    try (Connection connection = database.connect(); Statement statement = connection.createStatement()) {
      if (postgres && isFull) {
        statement.execute("CREATE OR REPLACE FUNCTION test_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            + " RAISE EXCEPTION 'no space left in this test' USING ERRCODE = '53100'; END $$");
      }
      for (String table : List.of("foliot_task", "foliot_final", "foliot_request", "foliot_queue")) {
        if (!isFull) {
          statement.execute("DROP TRIGGER " + (postgres ? "test_full ON " + table : "test_full_" + table));
        } else if (postgres) {
          statement.execute(
              "CREATE TRIGGER test_full BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION test_full()");
        } else {
          // A statement that replaces bodies inserts rows that exist, and so needs no space.
          String exists = table.equals("foliot_task")
              ? "EXISTS (SELECT 1 FROM foliot_task WHERE id = NEW.id)"
              : "FALSE";
          statement.execute("CREATE TRIGGER test_full_" + table + " BEFORE INSERT ON " + table
              + " FOR EACH ROW IF NOT " + exists + " THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114,"
              + " MESSAGE_TEXT = 'no space left in this test'; END IF");
        }
      }
    } catch (SQLException e) {
      throw new AssertionError("the database cannot be made full, or empty: full=" + isFull, e);
    }
  }

  /** Returns the names of the Foliot tables in this database only. A server may have several databases. */
  private static List<String> tables(Connection connection) throws SQLException {
    List<String> tables = new ArrayList<>();
    try (ResultSet rows = connection.getMetaData().getTables(connection.getCatalog(), null, "foliot%", null)) {
      while (rows.next()) {
        tables.add(rows.getString("TABLE_NAME"));
      }
    }
    return tables;
  }

  static void execute(Database database, String sql) {
    try (Connection connection = database.connect(); Statement statement = connection.createStatement()) {
      boolean rows = statement.execute(sql);
      assert !rows : sql;
    } catch (SQLException e) {
      throw new AssertionError(sql, e);
    }
  }

  /** Returns the first column of all rows of a query. */
  static List<String> strings(Database database, String sql) {
    try (Connection connection = database.connect()) {
      return strings(connection, sql);
    } catch (SQLException e) {
      throw new AssertionError(sql, e);
    }
  }

  static List<String> strings(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql); ResultSet row = statement.executeQuery()) {
      List<String> found = new ArrayList<>();
      while (row.next()) {
        found.add(row.getString(1));
      }
      return found;
    }
  }

  static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }
}
