package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.MigrateResult;
import org.jspecify.annotations.Nullable;

/** The tables, which are created or updated when a store is opened. */
final class Schema {
  private static final System.Logger LOG = System.getLogger(Schema.class.getName());

  /**
   * Number of the newest migration. A database that has this number is not migrated, so its user then needs no right to
   * change tables.
   */
  private static final String NEWEST = "5";
  /** Number of the migration that creates the tables. */
  private static final String FIRST = "1";
  /** Table in which Flyway records the migrations. */
  private static final String HISTORY = "foliot_schema_history";
  /** Format of the blobs of rows, of the names of kinds of documents, and of addresses in ids. */
  private static final String FORMAT = "3";

  /** Number of tries to migrate. The pauses between them give another node the time to end its own migration. */
  private static final int TRIES = 15;
  /** Argument of {@link Session#pause} for the longest pauses. */
  private static final int LONGEST_PAUSE = 10;

  private Schema() {}

  /** Returns the dialect of a database. Throws {@link StoreException} if the database is unreachable or unsupported. */
  static Dialect dialect(DataSource source, String name, Duration timeout) {
    int seconds = Math.toIntExact(timeout.toSeconds());
    try (Connection connection = source.getConnection()) {
      DatabaseMetaData meta = connection.getMetaData();
      String product = meta.getDatabaseProductName();
      return switch (product) {
        case "PostgreSQL" -> new PostgresDialect(seconds, PostgresSource.plansByIndex(connection));
        case "MariaDB" -> new MySqlDialect(seconds, true);
        case "MySQL" -> new MySqlDialect(seconds, false);
        default -> throw new StoreException("unsupported database: expected PostgreSQL, MariaDB or MySQL: database="
            + name + ", product=" + product, null);
      };
    } catch (SQLException e) {
      throw new StoreException("the database cannot be reached: database=" + name + ", " + Connections.reason(e)
          + "; " + JdbcSource.advice(e), e);
    }
  }

  /**
   * Creates or updates the tables. Several nodes may do so at the same time. Never creates a schema: a mistyped name
   * would be an empty store, while the tasks of the right one wait.
   *
   * @throws StoreException if the tables are of another format, and then changes nothing
   */
  static void migrate(DataSource source, Dialect dialect, String name) {
    ensureOwnFormat(source, dialect, name);
    for (int tried = 1; !isCurrent(source, dialect); tried++) {
      String schema = schema(source, dialect, name);
      try {
        MigrateResult result = Flyway.configure(Schema.class.getClassLoader()).dataSource(source)
            .locations(dialect.migrations()).table(HISTORY).createSchemas(false)
            // The database may have other tables. With baseline 0, all migrations are applied nevertheless.
            .baselineOnMigrate(true).baselineVersion("0").load().migrate();
        if (result.migrations.stream().anyMatch(migration -> migration.version.equals(FIRST))) {
          LOG.log(System.Logger.Level.INFO, "created an empty store: database={0}, schema={1}", name, schema);
        }
        return;
      } catch (FlywayException e) {
        if (tried == TRIES || isDenied(e, dialect)) {
          throw new StoreException("the tables cannot be created or updated: database=" + name + ", schema=" + schema
              + ", tries=" + tried + ", error=" + e.getMessage()
              + "; the user needs the right to create tables when a new version of Foliot starts", e);
        }
        LOG.log(System.Logger.Level.INFO, "cannot create or update the tables yet: database={0}, schema={1}, error={2}",
            name, schema, e.getMessage());
        // Another node may be migrating. Its tables may become visible before its migration has ended.
        Session.pause(LONGEST_PAUSE);
      }
    }
  }

  private static void ensureOwnFormat(DataSource source, Dialect dialect, String name) {
    try (Connection connection = source.getConnection()) {
      if (find(connection, dialect, "slots") != null) {
        ensureFormat(connection, dialect, name);
      }
    } catch (SQLException e) {
      // There are no tables yet, or the database has failed. A failure is reported by the next call.
    }
  }

  private static String schema(DataSource source, Dialect dialect, String name) {
    try (Connection connection = source.getConnection()) {
      return dialect.schema(connection, name);
    } catch (SQLException e) {
      throw new StoreException("the database cannot be reached: database=" + name + ", " + Connections.reason(e), e);
    }
  }

  private static boolean isDenied(FlywayException failure, Dialect dialect) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException e && dialect.isDenied(e)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCurrent(DataSource source, Dialect dialect) {
    return NEWEST.equals(findIfTables(source, dialect, "schema"));
  }

  /** Returns whether the tables exist and a store has been opened in them. Also returns false if the database fails. */
  static boolean exists(DataSource source, Dialect dialect) {
    return findIfTables(source, dialect, "slots") != null;
  }

  private static @Nullable String findIfTables(DataSource source, Dialect dialect, String name) {
    try (Connection connection = source.getConnection()) {
      return find(connection, dialect, name);
    } catch (SQLException e) {
      // There are no tables yet, or the database has failed. A failure is reported by the next call.
      return null;
    }
  }

  /**
   * Ensures that the blobs of the database have the format that this version writes. Writes the format of a new store.
   * The number of slots is written later. So a store that has a number of slots but no format was created by an old
   * version, which did not write a format.
   */
  static void ensureFormat(Connection connection, Dialect dialect, String database) throws SQLException {
    boolean holdsStore = find(connection, dialect, "slots") != null;
    String found = find(connection, dialect, "format");
    String format = found != null ? found : holdsStore ? "1" : meta(connection, dialect, "format", FORMAT);
    if (!format.equals(FORMAT)) {
      throw new StoreException("the store was written by another version of Foliot: database=" + database + ", format="
          + format + ", known=" + FORMAT + "; use the version that wrote it, or another database", null);
    }
  }

  private static @Nullable String find(Connection connection, Dialect dialect, String name) throws SQLException {
    try (PreparedStatement select = dialect.prepare(connection, dialect.files().text("meta"))) {
      select.setString(1, name);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? row.getString(1) : null;
      }
    }
  }

  /** Returns a property of the store; if it is missing, writes the value for a new store first. */
  static String meta(Connection connection, Dialect dialect, String name, String valueIfNew) throws SQLException {
    for (int tried = 0;; tried++) {
      String value = find(connection, dialect, name);
      if (value != null) {
        return value;
      }
      try (PreparedStatement insert = dialect.prepare(connection, dialect.files().text("insert_meta"))) {
        insert.setString(1, name);
        insert.setString(2, valueIfNew);
        insert.executeUpdate();
      } catch (SQLException e) {
        if (tried > 0 || !dialect.isDuplicate(e)) {
          throw e;
        }
      }
    }
  }
}
