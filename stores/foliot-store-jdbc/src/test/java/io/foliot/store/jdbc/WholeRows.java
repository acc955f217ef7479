package io.foliot.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A source of connections on which a read fails if a column of Foliot's tables is NULL. */
final class WholeRows {
  private WholeRows() {}

  static DataSource of(DataSource source) {
    return wrap(DataSource.class, source, "");
  }

  private static <T> T wrap(Class<T> type, T target, String sql) {
    return type.cast(Proxy.newProxyInstance(WholeRows.class.getClassLoader(), new Class<?>[]{type},
        (proxy, method, arguments) -> {
          try {
            Object result = method.invoke(target, arguments);
            if (target instanceof ResultSet row && method.getName().startsWith("get") && arguments != null
                && sql.contains("foliot_") && row.wasNull()) {
              throw new AssertionError("a column is NULL: column=" + arguments[0] + ", sql=" + sql);
            }
            return wrapped(result, arguments != null && arguments[0] instanceof String text ? text : sql);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        }));
  }

  private static @Nullable Object wrapped(@Nullable Object result, String sql) {
    return switch (result) {
      case Connection connection -> wrap(Connection.class, connection, sql);
      case PreparedStatement statement -> wrap(PreparedStatement.class, statement, sql);
      case ResultSet row -> wrap(ResultSet.class, row, sql);
      case null, default -> result;
    };
  }
}
