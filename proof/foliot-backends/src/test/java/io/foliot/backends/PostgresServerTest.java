package io.foliot.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

final class PostgresServerTest {
  private static PostgresServer server;

  @BeforeAll
  static void start() {
    server = PostgresServer.start(Map.of("max_connections", "37"));
  }

  @AfterAll
  static void close() {
    server.close();
  }

  @Test
  void defaultsSyncEachCommit() throws SQLException {
    for (String setting : new String[]{"fsync", "synchronous_commit", "full_page_writes"}) {
      assertThat(Jdbc.query(server.database(), "SHOW " + setting)).as(setting).isEqualTo("on");
    }
    assertThat(Jdbc.query(server.database(), "SHOW shared_buffers")).isEqualTo("256MB");
    assertThat(Jdbc.query(server.database(), "SHOW server_version")).startsWith("18.");
  }

  @Test
  void settingsOfTheCallerOverrideDefaults() throws SQLException {
    assertThat(Jdbc.query(server.database(), "SHOW max_connections")).isEqualTo("37");
  }

  @Test
  void databasesAreSeparate() throws SQLException {
    Database one = server.createDatabase();
    Database other = server.createDatabase();
    Jdbc.execute(one, "CREATE TABLE t (n int)");
    Jdbc.execute(other, "CREATE TABLE t (n int)");
    assertThat(one.name()).isNotEqualTo(other.name());
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
    assertThat(Jdbc.query(database, "SELECT string_agg(n::text, ',') FROM t")).isEqualTo("1");
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
  void aReplicaFollowsAndIsPromoted() throws SQLException {
    Database database = server.createDatabase();
    Jdbc.execute(database, "CREATE TABLE t (n int)");
    try (PostgresServer replica = server.replica()) {
      Jdbc.execute(database, "INSERT INTO t VALUES (1)");
      replica.awaitCaughtUpWith(server);
      Database copy = database.at(replica.port());
      assertThat(Jdbc.query(copy, "SELECT n FROM t")).isEqualTo("1");
      assertThatThrownBy(() -> Jdbc.execute(copy, "INSERT INTO t VALUES (2)")).isInstanceOf(SQLException.class);
      replica.promote();
      Jdbc.execute(copy, "INSERT INTO t VALUES (2)");
      replica.restart();
      assertThat(Jdbc.query(copy, "SELECT count(*) FROM t")).isEqualTo("2");
      assertThat(Jdbc.query(database, "SELECT count(*) FROM t")).isEqualTo("1");
    }
  }

  @Test
  void aFailedStartQuotesTheServersLog() {
    assertThatThrownBy(() -> PostgresServer.start(Map.of("no_such_setting", "1")))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("unrecognized configuration parameter");
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
      assertThat(proxy.swallowedReplies()).isEqualTo(1);
      assertThat(Jdbc.query(database, "SELECT n FROM t")).isEqualTo("1");
      assertThat(Jdbc.query(database.at(proxy.port()), "SELECT n FROM t")).as("once only").isEqualTo("1");
    }
  }
}
