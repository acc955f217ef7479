package io.foliot.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A source of connections on which chosen statements fail instead of being sent. */
final class FailingSource {
  private final DataSource source;
  /** Number of matching statements that still succeed. */
  private final AtomicInteger left = new AtomicInteger();
  private volatile String text = "";
  private volatile @Nullable SQLException failure;

  FailingSource(DataSource source) {
    this.source = source;
  }

  /**
   * Lets each prepared statement with a given text fail, until {@link #heal} is called.
   *
   * @param nth the first matching execution that fails, from 1 on; all later ones fail too
   * @param with the exception that they throw
   */
  void failFrom(int nth, String statementText, SQLException with) {
    text = statementText;
    left.set(nth - 1);
    failure = with;
  }

  /** Lets all statements succeed again. */
  void heal() {
    failure = null;
  }

  DataSource wrapped() {
    return wrap(DataSource.class, source, "");
  }

  private <T> T wrap(Class<T> type, T target, String sql) {
    return type.cast(Proxy.newProxyInstance(FailingSource.class.getClassLoader(), new Class<?>[]{type},
        (proxy, method, arguments) -> {
          SQLException thrown = failure;
          if (target instanceof PreparedStatement && method.getName().startsWith("execute") && thrown != null
              && sql.contains(text) && left.getAndDecrement() <= 0) {
            throw thrown;
          }
          try {
            Object result = method.invoke(target, arguments);
            return wrapped(result, arguments != null && arguments[0] instanceof String found ? found : sql);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        }));
  }

  private @Nullable Object wrapped(@Nullable Object result, String sql) {
    return switch (result) {
      case Connection connection -> wrap(Connection.class, connection, sql);
      case PreparedStatement statement -> wrap(PreparedStatement.class, statement, sql);
      case null, default -> result;
    };
  }
}
