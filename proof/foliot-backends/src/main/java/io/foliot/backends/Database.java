package io.foliot.backends;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A database of a server, and its users.
 *
 * @param kind what the JDBC URL says after {@code jdbc:}
 * @param host the address it is reached at: the server's, or that of a proxy before it
 * @param port the port of that address
 * @param name its name
 * @param options what the JDBC URL ends with: nothing, or {@code ?name=value}
 * @param user its owner, who has all rights
 * @param password the user's
 */
public record Database(String kind, String host, int port, String name, String options, String user, String password) {
  /** The JDBC URL, without user and password. */
  public String jdbcUrl() {
    return "jdbc:" + kind + "://" + host + ":" + port + "/" + name + options;
  }

  /** One whose server is at a port of the loopback address. */
  static Database local(String kind, int port, String name, String options, String user, String password) {
    return new Database(kind, "127.0.0.1", port, name, options, user, password);
  }

  /** The same database, reached at another port. */
  public Database at(int otherPort) {
    return new Database(kind, host, otherPort, name, options, user, password);
  }

  /** The same database, reached through a proxy. */
  public Database through(TcpProxy proxy) {
    return new Database(kind, proxy.host(), proxy.port(), name, options, user, password);
  }

  /** A new connection. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), user, password);
  }

  /** Fails if it does not answer. */
  void ask() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  @Override
  public String toString() {
    return "Database[" + jdbcUrl() + "]";
  }
}
