package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A source of connections that behave as if they went through a pooler in transaction mode: in auto-commit mode, each
 * prepared statement gets a new session.
 */
final class RotatingSource implements DataSource {
  private final Database database;

  RotatingSource(Database database) {
    this.database = database;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Rotation rotation = new Rotation();
    return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(), new Class<?>[]{Connection.class},
        (proxy, method, arguments) -> rotation.invoke(method, arguments));
  }

  private final class Rotation {
    private Connection session = database.connect();

    private Rotation() throws SQLException {}

    @Nullable
    Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
      if (method.getName().equals("prepareStatement") && session.getAutoCommit()) {
        session.close();
        session = database.connect();
      }
      try {
        return method.invoke(session, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return getConnection();
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) {
    throw new UnsupportedOperationException("no log");
  }

  @Override
  public void setLoginTimeout(int seconds) {
    throw new UnsupportedOperationException("no timeout");
  }

  @Override
  public int getLoginTimeout() {
    return 0;
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("no logger");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("this source wraps nothing: type=" + type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
