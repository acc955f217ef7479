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

/** The source of connections to one database. */
public sealed interface JdbcSource {
  /**
   * Returns a source for this URL. The store opens a pool for the source, and closes the pool.
   *
   * @param url {@code jdbc:postgresql:...}, {@code jdbc:mariadb:...} or {@code jdbc:mysql:...}; MariaDB's driver is
   *     used for MySQL too
   * @param user the user, or null for the user in the URL
   * @param password the password of the user, or null for the password in the URL, if any
   * @throws IllegalArgumentException if the URL begins differently, or has a user in front of the host
   */
  static JdbcSource of(String url, @Nullable String user, @Nullable String password) {
    return new Login(url, user, password);
  }

  /**
   * Returns a source that uses the application's pool. The application closes the pool after it has closed the store.
   * The pool must have room for {@link JdbcOptions#connections} connections and one more for background work.
   */
  static JdbcSource of(DataSource dataSource) {
    return new Given(dataSource);
  }

  /** The login of a pool that the store opens. */
  record Login(String url, @Nullable String user, @Nullable String password) implements JdbcSource {
    private static final String MYSQL = "jdbc:mysql:";
    private static final List<String> KINDS = List.of("jdbc:postgresql:", "jdbc:mariadb:", MYSQL);
    /** Error codes of MariaDB and MySQL: no such database, and no rights to it. */
    private static final int UNKNOWN_DATABASE = 1049;
    private static final int NO_RIGHTS = 1044;
    /** Length of the shortest secret that {@link #redacted} replaces. */
    private static final int SHORTEST_MASKED = 4;
    private static final String LOOPBACK = "(localhost|127(\\.\\d+){3}|\\[?::1\\]?)(:\\d+)?";

    public Login {
      if (!isSupported(url)) {
        throw new IllegalArgumentException("tasks are kept in PostgreSQL, MariaDB or MySQL:"
            + " expected a URL that begins with jdbc:postgresql:, jdbc:mariadb: or jdbc:mysql:, but got "
            + StoreAddress.scheme(url));
      }
      if (url.split("[?]", 2)[0].indexOf('@') >= 0) {
        throw new IllegalArgumentException(
            "the URL of a database must have no user and no password in front of the host: expected "
                + StoreAddress.scheme(url) + "//HOST/DATABASE, with user and password as separate settings");
      }
    }

    /** Returns whether this is the URL of a database that can keep tasks. */
    public static boolean isSupported(String url) {
      return KINDS.stream().anyMatch(url::startsWith);
    }

    boolean isPostgres() {
      return url.startsWith("jdbc:postgresql:");
    }

    /** Returns the URL for the driver. MariaDB's driver also connects to MySQL, so its prefix replaces MySQL's. */
    String driverUrl() {
      return url.startsWith(MYSQL) ? "jdbc:mariadb:" + url.substring(MYSQL.length()) : url;
    }

    /**
     * Returns the driver's properties, which complement the URL. MariaDB's driver requires TLS with a trusted
     * certificate, which a server does not have by default. Connections to the loopback address need no TLS, because no
     * other machine can read them.
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

    /** Opens a connection outside the pool, with connect and socket timeouts of 5 s. The caller closes it. */
    public Connection connect() throws SQLException {
      if (isPostgres()) {
        return new PostgresSource(this, Connections.CONNECT, Connections.CONNECT).getConnection();
      }
      return DriverManager.getConnection(driverUrl(), driverProperties(Connections.CONNECT, Connections.CONNECT));
    }

    /** Returns a message of the driver, with {@code ***} in place of the secrets of this login and of its URL. */
    public String redacted(String text) {
      String message = text.replace(url, shown()).replace(driverUrl(), shown());
      for (String secret : secrets()) {
        // Every message contains each short text somewhere, so to replace it would show it.
        if (secret.length() >= SHORTEST_MASKED) {
          message = message.replace(secret, "***");
        }
      }
      return message;
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

    /** Returns the kind, the host and the name of the database, such as {@code postgresql db:5432/foliot}. */
    @Override
    public String toString() {
      String place = shown().substring(shown().indexOf(':') + 1);
      return place.replaceFirst("://?/?", " ");
    }
  }

  /** Returns what to do if a database refuses a connection. */
  static String advice(SQLException failure) {
    String state = String.valueOf(failure.getSQLState());
    int code = failure.getErrorCode();
    String reason = Connections.reason(failure).toLowerCase(Locale.ROOT);
    if (reason.contains("ssl") || reason.contains("tls") || reason.contains("certif")) {
      return "MariaDB's driver requires TLS with a trusted certificate, except for the loopback address: give the server"
          + " a certificate and add serverSslCert=FILE to the URL, or add sslMode=trust (encrypted, not verified) or"
          + " sslMode=disable (not encrypted); PostgreSQL accepts sslmode=require, verify-full or disable";
    }
    if (state.equals("3D000") || code == Login.UNKNOWN_DATABASE) {
      return "create the database (CREATE DATABASE), or correct its name in the URL";
    }
    if (code == Login.NO_RIGHTS) {
      return "give the user the rights to the database (GRANT), or correct its name in the URL";
    }
    return state.startsWith("28")
        ? "the user does not exist, has another password, or may not connect from here: create the user, or correct the"
            + " user and the password"
        : "check that the database server runs, and that its host and port in the URL are right";
  }

  /** The pool of the application. */
  record Given(DataSource dataSource) implements JdbcSource {}
}
