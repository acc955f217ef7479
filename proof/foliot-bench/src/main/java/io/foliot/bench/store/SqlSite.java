package io.foliot.bench.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.foliot.backends.Database;
import io.foliot.core.store.TaskStore;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A relational database server. It has one database at a time, and each round creates a new one. */
abstract class SqlSite implements Site {
  private @Nullable Database database;

  /** Drops the database of the previous round, creates an empty one, and returns it. */
  final Database fresh() throws SQLException {
    Database last = database;
    database = null;
    if (last != null) {
      drop(last);
    }
    Database fresh = create();
    database = fresh;
    return fresh;
  }

  /**
   * Returns the database of this round.
   *
   * @throws IllegalStateException if the round has not created it yet
   */
  final Database database() {
    if (database == null) {
      throw new IllegalStateException("a round must create its database before it uses it");
    }
    return database;
  }

  @Override
  public final TaskStore openStore() throws SQLException {
    fresh();
    return openAnother();
  }

  /** Opens a further store on this round's database, with its own connections. */
  final TaskStore openAnother() {
    Database shared = database();
    return JdbcStore.open(JdbcOptions.of(shared.jdbcUrl(), shared.user(), shared.password()));
  }

  abstract Database create();

  abstract void drop(Database last) throws SQLException;

  /** Returns the properties that make the driver send batches fastest. */
  abstract Map<String, String> driverProperties();

  /** Opens a pool that keeps this number of connections to this round's database, even if they are idle. */
  final HikariDataSource pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database().jdbcUrl());
    config.setUsername(database().user());
    config.setPassword(database().password());
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(connections);
    driverProperties().forEach(config::addDataSourceProperty);
    return new HikariDataSource(config);
  }

  /** Runs statements in this round's database. */
  final void execute(String... statements) throws SQLException {
    try (Connection connection = database().connect(); Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Runs a query in this round's database and returns the one number of its result. */
  final long number(String sql) throws SQLException {
    return Long.parseLong(text(database(), sql));
  }

  /** Runs a query and returns the first column of the first row. */
  static String text(Database database, String sql) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new IllegalStateException("a query must return a row: sql=" + sql);
      }
      return row.getString(1);
    }
  }
}
