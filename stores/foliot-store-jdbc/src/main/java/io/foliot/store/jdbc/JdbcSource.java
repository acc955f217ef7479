package io.foliot.store.jdbc;

import io.foliot.core.store.StoreAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The source of connections. */
public sealed interface JdbcSource {
  /**
   * Returns a pool of the store's own.
   *
   * @param url {@code jdbc:postgresql:...}, {@code jdbc:mariadb:...} or {@code jdbc:mysql:...}, of which the
   *     last is spoken to by MariaDB's driver
   * @param user the login, or null for the one in the URL
   * @param password their password, or null
   * @throws IllegalArgumentException if it is the URL of another kind of database, or has a user in front of the host
   */
  static JdbcSource of(String url, @Nullable String user, @Nullable String password) {
    return new Login(url, user, password);
  }

  /** Returns a pool of the application's, which closes it. It must have room for the store's connections. */
  static JdbcSource of(DataSource dataSource) {
    return new Given(dataSource);
  }

  /** A pool of the store's own. */
  record Login(String url, @Nullable String user, @Nullable String password) implements JdbcSource {
    private static final String MYSQL = "jdbc:mysql:";
    private static final List<String> KINDS = List.of("jdbc:postgresql:", "jdbc:mariadb:", MYSQL);
    private static final String LOOPBACK = "(localhost|127(\\.\\d+){3}|\\[?::1\\]?)(:\\d+)?";

    public Login {
      if (!isSupported(url)) {
        throw new IllegalArgumentException("tasks are kept in PostgreSQL, MariaDB or MySQL:"
            + " expected a URL that begins with jdbc:postgresql:, jdbc:mariadb: or jdbc:mysql:, but got "
            + StoreAddress.scheme(url));
      }
      if (url.split("[?]", 2)[0].indexOf('@') >= 0) {
        throw new IllegalArgumentException(
            "the URL of a database has no user and no password in front of the host: expected "
                + StoreAddress.scheme(url) + "//HOST/DATABASE with user and password given beside it");
      }
    }

    /** Returns whether it is the URL of a database that can keep tasks. */
    public static boolean isSupported(String url) {
      return KINDS.stream().anyMatch(url::startsWith);
    }

    boolean isPostgres() {
      return url.startsWith("jdbc:postgresql:");
    }

    /** Returns the URL as the driver takes it: MariaDB's driver connects to MySQL. */
    String driverUrl() {
      return url.startsWith(MYSQL) ? "jdbc:mariadb:" + url.substring(MYSQL.length()) : url;
    }

    /**
     * Returns the driver's properties beside the URL. MariaDB's insists on TLS with a trusted certificate, which a
     * stock server does not have; connections to this machine's own address cannot be overheard.
     */
    Properties driverProperties(Duration connectTimeout, Duration answerTimeout) {
      Properties properties = new Properties();
      if (user != null) {
        properties.setProperty("user", user);
      }
      if (password != null) {
        properties.setProperty("password", password);
      }
      properties.setProperty("connectTimeout", Long.toString(connectTimeout.toMillis()));
      properties.setProperty("socketTimeout", Long.toString(answerTimeout.toMillis()));
      if (!url.toLowerCase(Locale.ROOT).matches(".*[?&](sslmode|usessl|ssl)=.*") && isLoopback()) {
        properties.setProperty("sslMode", "disable");
      }
      return properties;
    }

    private boolean isLoopback() {
      int begin = url.indexOf("//");
      if (begin < 0) {
        return false;
      }
      String authority = url.substring(begin + 2).split("[/?]", 2)[0];
      return Arrays.stream(authority.split(",", -1)).allMatch(host -> host.matches(LOOPBACK));
    }

    /** Returns a connection by itself, as those of the pool are. */
    public Connection connect() throws SQLException {
      if (isPostgres()) {
        return new PostgresSource(this, Connections.CONNECT, Connections.CONNECT).getConnection();
      }
      return DriverManager.getConnection(driverUrl(), driverProperties(Connections.CONNECT, Connections.CONNECT));
    }

    /** Returns a text of the driver without the secrets of this login. */
    public String redacted(String text) {
      String open = text.replace(url, shown()).replace(driverUrl(), shown());
      for (String secret : secrets()) {
        open = open.replace(secret, "***");
      }
      return open;
    }

    private List<String> secrets() {
      List<String> secrets = new ArrayList<>();
      if (password != null) {
        secrets.add(password);
      }
      int parameters = url.indexOf('?');
      if (parameters >= 0) {
        for (String parameter : url.substring(parameters + 1).split("&", -1)) {
          int equals = parameter.indexOf('=');
          if (equals > 0 && parameter.substring(0, equals).toLowerCase(Locale.ROOT).contains("password")) {
            secrets.add(parameter.substring(equals + 1));
          }
        }
      }
      secrets.removeIf(String::isEmpty);
      return secrets;
    }

    /** Returns the URL without the parts that may be secret. */
    public String shown() {
      return StoreAddress.shown(url);
    }

    /** Returns the kind of database, its host and its name, which is no URL and has no secrets. */
    @Override
    public String toString() {
      String place = shown().substring(shown().indexOf(':') + 1);
      return place.replaceFirst("://?/?", " ");
    }
  }

  /** A pool of the application's. */
  record Given(DataSource dataSource) implements JdbcSource {}
}
