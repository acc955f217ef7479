package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.core.store.StoreException;
import java.text.MessageFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests where the tables are created, and the reasons why they are not. */
final class SchemaTest {
  private static final String PASSWORD = "a-password-of-a-test";

  @RegisterExtension
  private static final TestDatabase<PostgresServer> POSTGRES = TestDatabase.postgres();
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> MARIA_DB = TestDatabase.mariaDb();

  private static JdbcOptions options(Database database, String parameters, String user, String password) {
    String url = database.jdbcUrl();
    return JdbcOptions.builder(url + (url.contains("?") ? "&" : "?") + parameters, user, password).connections(2)
        .build();
  }

  private static List<String> schemas(Database database) {
    return Databases.strings(database, "SELECT nspname FROM pg_namespace ORDER BY 1");
  }

  @Test
  void aSchemaThatDoesNotExistIsNotCreated() {
    Database database = POSTGRES.another();
    List<String> before = schemas(database);
    JdbcOptions mistyped = options(database, "currentSchema=pubilc", database.user(), database.password());
    assertThatThrownBy(() -> JdbcStore.open(mistyped)).isInstanceOf(StoreException.class)
        .hasMessageContainingAll("pubilc", "CREATE SCHEMA", database.name());
    assertThat(schemas(database)).isEqualTo(before);
    Databases.execute(database, "CREATE SCHEMA tasks");
    JdbcOptions asked = options(database, "currentSchema=tasks", database.user(), database.password());
    try (JdbcStore store = JdbcStore.open(asked)) {
      assertThat(store.slotCount()).isPositive();
    }
    assertThat(Databases.strings(database, "SELECT schemaname FROM pg_tables WHERE tablename = 'foliot_task'"))
        .containsExactly("tasks");
    // The tables of any schema of the search path are found.
    JdbcOptions path = options(database, "currentSchema=pubilc,public,tasks", database.user(), database.password());
    assertThat(JdbcStore.exists(path)).isTrue();
  }

  @Test
  void theCreationOfAnEmptyStoreIsLogged() {
    Database database = POSTGRES.another();
    // Other tests open stores of other databases meanwhile.
    List<String> lines = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger(Schema.class.getName());
    Handler handler = new Handler() {
      @Override
      public void publish(LogRecord line) {
        String text = MessageFormat.format(line.getMessage(), line.getParameters());
        if (text.contains(database.name())) {
          lines.add(text);
        }
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
    logger.addHandler(handler);
    try {
      JdbcStore.open(Databases.options(database)).close();
      assertThat(lines).singleElement().asString().contains("created an empty store", "schema=public",
          database.name());
      JdbcStore.open(Databases.options(database)).close();
      assertThat(lines).hasSize(1);
    } finally {
      logger.removeHandler(handler);
    }
  }

  @Test
  void aUserOfPostgreSqlWithoutTheRightToCreateTablesIsToldAtOnce() {
    Database database = POSTGRES.another();
    String role = "reader_of_" + database.name().toLowerCase(Locale.ROOT);
    Databases.execute(database, "CREATE ROLE " + role + " LOGIN PASSWORD '" + PASSWORD + "'");
    Databases.execute(database, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    assertRefusedAtOnce(options(database, "tcpKeepAlive=true", role, PASSWORD));
    Databases.execute(database, "GRANT CREATE ON SCHEMA public TO " + role);
    JdbcStore.open(options(database, "tcpKeepAlive=true", role, PASSWORD)).close();
  }

  @Test
  void aUserOfMariaDbWithoutTheRightToCreateTablesIsToldAtOnce() {
    Database database = MARIA_DB.another();
    String user = "r_" + Integer.toHexString(database.name().hashCode());
    Databases.execute(database, "CREATE USER '" + user + "'@'%' IDENTIFIED BY '" + PASSWORD + "'");
    Databases.execute(database, "GRANT SELECT, INSERT ON " + database.name() + ".* TO '" + user + "'@'%'");
    assertRefusedAtOnce(options(database, "tcpKeepAlive=true", user, PASSWORD));
  }

  private static void assertRefusedAtOnce(JdbcOptions options) {
    assertThatThrownBy(() -> JdbcStore.open(options)).isInstanceOf(StoreException.class)
        .hasMessageContainingAll("right to create tables", "tries=1");
  }
}
