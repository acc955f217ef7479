package io.foliot.servers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A database of a server, and who may use it.
 *
 * @param kind what the JDBC URL says after {@code jdbc:}
 * @param port the port of the loopback address it is reached at: the server's, or that of a proxy before it
 * @param name its name
 * @param options what the JDBC URL ends with: nothing, or {@code ?name=value}
 * @param user who owns it, and may do everything
 * @param password the user's
 */
public record Database(String kind, int port, String name, String options, String user, String password) {
  /** The JDBC URL, without user and password. */
  public String jdbcUrl() {
    return "jdbc:" + kind + "://127.0.0.1:" + port + "/" + name + options;
  }

  /** The same database, reached at another port, as that of a {@link TcpProxy}. */
  public Database at(int otherPort) {
    return new Database(kind, otherPort, name, options, user, password);
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
