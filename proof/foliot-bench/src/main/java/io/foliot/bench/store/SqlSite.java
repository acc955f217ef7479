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

/** A relational database server. There is one database on it at a time, which each round makes anew. */
abstract class SqlSite implements Site {
  private @Nullable Database database;

  /** Makes an empty database and drops the last one. */
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

  /** The database of this round. */
  final Database database() {
    if (database == null) {
      throw new IllegalStateException("a round makes its database before it uses it");
    }
    return database;
  }

  @Override
  public final TaskStore openStore() throws SQLException {
    fresh();
    return openAnother();
  }

  /** One more store on this round's database, with connections of its own. */
  final TaskStore openAnother() {
    Database shared = database();
    return JdbcStore.open(JdbcOptions.of(shared.jdbcUrl(), shared.user(), shared.password()));
  }

  abstract Database create();

  abstract void drop(Database last) throws SQLException;

  /** Returns the driver's properties with which it sends batches as fast as it can. */
  abstract Map<String, String> driverProperties();

  /** Connections to this round's database, all of them open. */
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

  /** The number that a query of this round's database answers. */
  final long number(String sql) throws SQLException {
    return Long.parseLong(text(database(), sql));
  }

  /** The first column of the first row. */
  static String text(Database database, String sql) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new IllegalStateException("a query must answer a row: sql=" + sql);
      }
      return row.getString(1);
    }
  }
}
