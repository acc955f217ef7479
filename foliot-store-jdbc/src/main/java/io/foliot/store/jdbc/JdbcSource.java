package io.foliot.store.jdbc;

import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Where connections come from. */
public sealed interface JdbcSource {
  /**
   * A pool of the store's own.
   *
   * @param url {@code jdbc:postgresql:...}, {@code jdbc:mariadb:...} or {@code jdbc:mysql:...}
   * @param user who logs in, or null for what the URL says
   * @param password their password, or null
   */
  static JdbcSource of(String url, @Nullable String user, @Nullable String password) {
    return new Login(url, user, password);
  }

  /** A pool of the application's, which closes it. It must have room for the store's connections. */
  static JdbcSource of(DataSource dataSource) {
    return new Given(dataSource);
  }

  /** A pool of the store's own. */
  record Login(String url, @Nullable String user, @Nullable String password) implements JdbcSource {
    @Override
    public String toString() {
      // A URL may have a password among its parameters.
      int parameters = url.indexOf('?');
      return "Login[url=" + (parameters < 0 ? url : url.substring(0, parameters)) + ", user=" + user + "]";
    }
  }

  /** A pool of the application's. */
  record Given(DataSource dataSource) implements JdbcSource {}
}
