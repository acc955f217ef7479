package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Rows} of MariaDB and MySQL. Texts are read as bytes. Statements return an empty value instead of NULL. The
 * methods with a nullable result return null for an empty value.
 */
final class MySqlRows extends Rows {
  static TaskId idOf(ResultSet row, int at) throws SQLException {
    ByteBuffer bytes = ByteBuffer.wrap(row.getBytes(at));
    return new TaskId(bytes.getLong(), bytes.getLong());
  }

  @Override
  TaskId id(ResultSet row, int at) throws SQLException {
    return idOf(row, at);
  }

  @Override
  @Nullable
  Token token(ResultSet row, int at) throws SQLException {
    byte[] bytes = bytesOrNull(row, at);
    if (bytes == null) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new Token(buffer.getLong(), buffer.getLong());
  }

  @Override
  String text(ResultSet row, int at) throws SQLException {
    return new String(row.getBytes(at), StandardCharsets.UTF_8);
  }

  @Override
  @Nullable
  String textOrNull(ResultSet row, int at) throws SQLException {
    byte[] bytes = bytesOrNull(row, at);
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  byte @Nullable [] bytesOrNull(ResultSet row, int at) throws SQLException {
    byte[] bytes = row.getBytes(at);
    return bytes.length == 0 ? null : bytes;
  }
}
