package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.core.store.StoreAddress;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests logins to databases. */
final class LoginTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static @Nullable String sslMode(String url) {
    return new JdbcSource.Login(url, "u", "p").driverProperties(SECOND, SECOND).getProperty("sslMode");
  }

  @Test
  void tlsIsDisabledForMariaDbOnLoopbackOnly() {
    for (String host : new String[]{"localhost", "127.0.0.1:3306", "127.1.2.3", "[::1]:3306",
        "localhost,127.0.0.1:1"}) {
      assertThat(sslMode("jdbc:mariadb://" + host + "/foliot")).as(host).isEqualTo("disable");
    }
    for (String host : new String[]{"db", "10.0.0.1", "localhost.example", "127.0.0.1.example", "localhost,db"}) {
      assertThat(sslMode("jdbc:mariadb://" + host + "/foliot")).as(host).isNull();
    }
    for (String option : new String[]{"sslMode=trust", "a=b&SSLMODE=trust", "useSSL=true"}) {
      assertThat(sslMode("jdbc:mysql://localhost/foliot?" + option)).as(option).isNull();
    }
  }

  @Test
  void refusalsDoNotRepeatTheUrl() {
    for (String url : new String[]{"jdbc:oracle:thin:u/secret@db", "jdbc:h2:mem:secret", "postgresql://u:secret@db",
        "jdbc:mysql://u:secret@db/x"}) {
      assertThatThrownBy(() -> JdbcOptions.of(url, null, null)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected").hasMessageNotContaining("secret");
    }
  }

  @Test
  void secretsOfAUrlAreNotShown() {
    String url = "jdbc:postgresql://db:1/foliot?user=u&password=secret1&sslpassword=secret2";
    JdbcSource.Login login = new JdbcSource.Login(url, "u", "secret3");
    assertThat(login.toString()).isEqualTo("postgresql db:1/foliot");
    assertThat(login.redacted("cannot use " + url + " with secret3, secret1 and secret2")).doesNotContain("secret");
    assertThat(StoreAddress.shown("redis://u:se@c/ret@h:1#n")).isEqualTo("redis://h:1#n");
    assertThat(StoreAddress.shown("jdbc:oracle:thin:u/secret@db:1")).isEqualTo("jdbc:oracle://db:1");
    assertThat(StoreAddress.shown("jdbc:sqlserver://db;password=secret")).isEqualTo("jdbc:sqlserver://db");
    assertThat(StoreAddress.shown("rocksdb")).isEqualTo("rocksdb");
  }

  @Test
  void mariaDbSessionsHaveAnIdleTransactionTimeout() throws SQLException {
    try (MariaDbServer server = MariaDbServer.start()) {
      Database database = server.database();
      JdbcSource source = JdbcSource.of("jdbc:mysql://127.0.0.1:" + database.port() + "/" + database.name(),
          database.user(), database.password());
      try (Connections connections = Connections.open(source, 1, Duration.ofSeconds(5));
          Connection connection = connections.source().getConnection();
          Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT @@idle_transaction_timeout")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getInt(1)).isEqualTo(20);
      }
    }
  }
}
