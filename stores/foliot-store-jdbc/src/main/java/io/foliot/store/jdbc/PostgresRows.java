package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The {@link Rows} of PostgreSQL. */
final class PostgresRows extends Rows {
  static TaskId idOf(ResultSet row, int at) throws SQLException {
    return TaskId.parse(row.getString(at));
  }

  @Override
  TaskId id(ResultSet row, int at) throws SQLException {
    return idOf(row, at);
  }

  @Override
  @Nullable
  Token token(ResultSet row, int at) throws SQLException {
    UUID uuid = row.getObject(at, UUID.class);
    return uuid == null ? null : new Token(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
  }

  @Override
  String text(ResultSet row, int at) throws SQLException {
    return row.getString(at);
  }

  @Override
  @Nullable
  String textOrNull(ResultSet row, int at) throws SQLException {
    return row.getString(at);
  }

  @Override
  byte @Nullable [] bytesOrNull(ResultSet row, int at) throws SQLException {
    return row.getBytes(at);
  }
}
