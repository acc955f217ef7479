package io.foliot.backends;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A database of a server, and the user to connect as.
 *
 * @param kind the word after {@code jdbc:} in the JDBC URL, such as {@code mariadb}
 * @param host the address of the server, or of a proxy in front of it
 * @param port the port of that address
 * @param name the name of the database
 * @param options the end of the JDBC URL: empty, or {@code ?name=value}
 * @param user the owner of the database, who has all rights
 * @param password the password of the user
 */
public record Database(String kind, String host, int port, String name, String options, String user, String password) {
  /** Returns the JDBC URL, without user and password. */
  public String jdbcUrl() {
    return "jdbc:" + kind + "://" + host + ":" + port + "/" + name + options;
  }

  /** Returns a database whose server is at a port of the loopback address. */
  static Database local(String kind, int port, String name, String options, String user, String password) {
    return new Database(kind, "127.0.0.1", port, name, options, user, password);
  }

  /** Returns the same database, reached at another port. */
  public Database at(int otherPort) {
    return new Database(kind, host, otherPort, name, options, user, password);
  }

  /** Returns the same database, reached through a proxy. */
  public Database through(TcpProxy proxy) {
    return new Database(kind, proxy.host(), proxy.port(), name, options, user, password);
  }

  /** Opens a connection. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), user, password);
  }

  /** Executes a query. Throws if the database does not respond. */
  void ping() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  @Override
  public String toString() {
    return "Database[" + jdbcUrl() + "]";
  }
}
