package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.StoreException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

final class ConnectionsTest {
  /**
   * The calls of {@code close}, each with the auto-commit mode at that time. The pool of the application returns the
   * connection without auto-commit.
   */
  private final List<String> calls = new ArrayList<>();
  private boolean autoCommit;

  private final Connection connection = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[]{Connection.class}, (proxy, method, arguments) -> switch (method.getName()) {
        case "getAutoCommit" -> autoCommit;
        case "setAutoCommit" -> {
          autoCommit = (boolean) arguments[0];
          yield null;
        }
        case "close" -> {
          calls.add("closed with autoCommit=" + autoCommit);
          yield null;
        }
        default -> throw new AssertionError(method.getName());
      });
  private final DataSource pool = (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[]{DataSource.class}, (proxy, method, arguments) -> method.getName().equals("isWrapperFor")
          ? false
          : connection);
  private final Dialect dialect = new PostgresDialect(5, false, "now()");
  private final Connections connections = Connections.open(new JdbcSource.Given(pool), 1, Duration.ofSeconds(5));

  @Test
  void theAutoCommitModeOfTheCallersPoolIsRestored() {
    assertThat(connections.<Boolean>now(dialect, session -> autoCommit)).isTrue();
    assertThat(calls).containsExactly("closed with autoCommit=false");
  }

  @Test
  void theAutoCommitModeIsRestoredAfterAFailure() {
    assertThatThrownBy(() -> connections.now(dialect, session -> {
      throw new SQLException("broken");
    })).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> connections.now(dialect, session -> {
      throw new IllegalStateException("a bug");
    })).isInstanceOf(IllegalStateException.class);
    assertThat(calls).containsExactly("closed with autoCommit=false", "closed with autoCommit=false");
  }
}
