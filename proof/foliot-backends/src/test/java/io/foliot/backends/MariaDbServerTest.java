package io.foliot.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

final class MariaDbServerTest {
  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    server = MariaDbServer.start(Map.of("max-connections", "37"));
  }

  @AfterAll
  static void close() {
    server.close();
  }

  @Test
  void defaultsSyncEachCommit() throws SQLException {
    assertThat(Jdbc.query(server.database(), "SELECT @@innodb_flush_log_at_trx_commit")).isEqualTo("1");
    assertThat(Jdbc.query(server.database(), "SELECT @@innodb_doublewrite")).isEqualTo("ON");
    assertThat(Jdbc.query(server.database(), "SELECT @@log_bin")).isEqualTo("0");
    assertThat(Jdbc.query(server.database(), "SELECT @@innodb_buffer_pool_size")).isEqualTo("268435456");
    assertThat(Jdbc.query(server.database(), "SELECT @@innodb_log_file_size")).isEqualTo("268435456");
    assertThat(Jdbc.query(server.database(), "SELECT version()")).startsWith("11.4.");
  }

  @Test
  void settingsOfTheCallerOverrideDefaults() throws SQLException {
    assertThat(Jdbc.query(server.database(), "SELECT @@max_connections")).isEqualTo("37");
  }

  @Test
  void connectionsRequireThePassword() {
    for (String user : new String[]{"root", server.user()}) {
      assertThatThrownBy(() -> DriverManager.getConnection(server.jdbcUrl(), user, "")).isInstanceOf(SQLException.class)
          .hasMessageContaining("Access denied");
    }
  }

  @Test
  void onlyCommittedDataOutlivesAKill() throws SQLException {
    Database database = server.createDatabase();
    int port = server.port();
    Jdbc.execute(database, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)");
    try (Connection open = database.connect()) {
      open.setAutoCommit(false);
      Jdbc.execute(open, "INSERT INTO t VALUES (2)");
      server.kill();
      assertThat(server.isAlive()).isFalse();
      assertThatThrownBy(database::connect).isInstanceOf(SQLException.class);
      server.restart();
      assertThatThrownBy(open::commit).isInstanceOf(SQLException.class);
    }
    assertThat(server.port()).isEqualTo(port);
    assertThat(Jdbc.query(database, "SELECT group_concat(n) FROM t")).isEqualTo("1");
  }

  @Test
  void aStoppedServerStartsAgainWithItsData() throws SQLException {
    Database database = server.createDatabase();
    Jdbc.execute(database, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)");
    server.stop();
    assertThat(server.isAlive()).isFalse();
    server.restart();
    assertThat(Jdbc.query(database, "SELECT n FROM t")).isEqualTo("1");
  }

  @Test
  void aCommitTakesEffectThoughItsReplyIsLost() throws SQLException {
    Database database = server.createDatabase();
    Jdbc.execute(database, "CREATE TABLE t (n int)");
    try (TcpProxy proxy = TcpProxy.to(server); Connection connection = database.at(proxy.port()).connect()) {
      connection.setAutoCommit(false);
      Jdbc.execute(connection, "INSERT INTO t VALUES (1)");
      proxy.cutBeforeReply();
      assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
      assertThat(Jdbc.query(database, "SELECT n FROM t")).isEqualTo("1");
    }
  }

  @Test
  void aFailedStartQuotesTheServersLog() {
    assertThatThrownBy(() -> MariaDbServer.start(Map.of("no-such-setting", "1")))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("unknown variable");
  }
}
