package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Binds the parameters of a statement in order, from the first. Most are arrays. Not thread-safe. */
final class PostgresArrays {
  private final Connection connection;
  private final PreparedStatement statement;
  /** The number of parameters bound so far, which is the index of the latest. */
  private int at;

  PostgresArrays(Connection connection, PreparedStatement statement) {
    this.connection = connection;
    this.statement = statement;
  }

  PostgresArrays ids(UuidArray value) throws SQLException {
    statement.setObject(++at, value);
    return this;
  }

  PostgresArrays longs(long[] value) throws SQLException {
    statement.setObject(++at, value);
    return this;
  }

  PostgresArrays longsOrNulls(@Nullable Long[] value) throws SQLException {
    statement.setArray(++at, connection.createArrayOf("int8", value));
    return this;
  }

  PostgresArrays ints(int[] value) throws SQLException {
    statement.setObject(++at, value);
    return this;
  }

  PostgresArrays flags(boolean[] value) throws SQLException {
    statement.setObject(++at, value);
    return this;
  }

  PostgresArrays texts(@Nullable String[] value) throws SQLException {
    statement.setArray(++at, connection.createArrayOf("text", value));
    return this;
  }

  PostgresArrays blobs(byte[] @Nullable [] value) throws SQLException {
    statement.setArray(++at, connection.createArrayOf("bytea", value));
    return this;
  }

  PostgresArrays value(long value) throws SQLException {
    statement.setLong(++at, value);
    return this;
  }
}
