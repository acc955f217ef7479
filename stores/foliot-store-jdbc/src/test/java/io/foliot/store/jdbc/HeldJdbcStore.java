package io.foliot.store.jdbc;

import io.foliot.core.store.TaskStore;
import io.foliot.testkit.HeldStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A store on a source of connections that holds the statements of the general path that write. */
final class HeldJdbcStore extends HeldStore {
  /** Texts in the statements that write only if a row is as it was read. */
  private static final List<String> WRITES = List.of("task.version = wanted.version", "wanted.was = 0");

  private final TaskStore store;

  HeldJdbcStore(DataSource source) {
    store = JdbcStore.open(JdbcOptions.builder(wrap(DataSource.class, source, "")).connections(2).build());
  }

  @Override
  public TaskStore store() {
    return store;
  }

  @Override
  protected void closeStore() {
    store.close();
  }

  private <T> T wrap(Class<T> type, T target, String sql) {
    return type.cast(Proxy.newProxyInstance(HeldJdbcStore.class.getClassLoader(), new Class<?>[]{type},
        (proxy, method, arguments) -> {
          if (target instanceof PreparedStatement && method.getName().startsWith("execute")
              && WRITES.stream().anyMatch(sql::contains)) {
            beforeWrite();
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
