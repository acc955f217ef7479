package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.RedisServer;
import io.foliot.server.FoliotServer;
import io.foliot.server.StartException;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests servers and commands with stores in PostgreSQL, MariaDB and Redis. One test opens a MariaDB with a URL that
 * begins with {@code jdbc:mysql:}.
 */
@Tag("long")
final class RemoteStoresTest {
  @TempDir
  private Path folder = Path.of("");

  private static final Duration BOUND = Duration.ofSeconds(30);

  private static FoliotServer start(Map<String, String> flags) {
    Map<String, String> all = new HashMap<>(flags);
    all.put("port", "0");
    all.put("log-level", "error");
    return FoliotServer.start(FoliotConfig.load(all, Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static Map<String, String> flags(Database database) {
    return Map.of("store", database.jdbcUrl(), "store-user", database.user(), "store-password", database.password());
  }

  private static Outcome run(FoliotServer server, String... words) {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome;
  }

  private static void submit(FoliotServer server) {
    run(server, "queues", "put", "orders", "--pull");
    run(server, "submit", "orders", "--key", "order-7", "--delay", "1h");
  }

  /** Returns the first number with this name in the output of {@code cluster --json}. */
  private static int number(FoliotServer server, String name) {
    Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*(\\d+)").matcher(run(server, "cluster", "--json").out());
    assertThat(found.find()).isTrue();
    return Integer.parseInt(found.group(1));
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      LockSupport.parkNanos(50_000_000);
    }
  }

  /** Asserts that two servers with the same store serve the same tasks. */
  private static void assertShared(Map<String, String> flags, String durability) {
    try (FoliotServer first = start(flags)) {
      submit(first);
      assertThat(run(first, "cluster").out()).contains(durability);
      try (FoliotServer second = start(flags)) {
        assertThat(run(second, "get", "orders", "order-7").out()).contains("DELAYED");
        run(second, "touch", "orders", "order-7", "--delay", "2h");
        await("the servers share the slots",
            () -> number(first, "count") > 0 && number(first, "owned") == number(second, "owned")
                && 2 * number(first, "owned") == number(first, "count"));
      }
      await("the remaining server owns all slots", () -> number(first, "owned") == number(first, "count"));
      run(first, "cancel", "orders", "order-7");
    }
  }

  @Test
  void serversShareAPostgreSql() {
    try (PostgresServer postgres = PostgresServer.start()) {
      assertShared(flags(postgres.createDatabase()), "durability D");
    }
  }

  @Test
  void serversShareAMariaDb() {
    try (MariaDbServer mariadb = MariaDbServer.start()) {
      assertShared(flags(mariadb.createDatabase()), "durability D");
    }
  }

  @Test
  void aMySqlUrlWorksWithoutOptionsOnThisMachine() {
    try (MariaDbServer mariadb = MariaDbServer.start()) {
      Database database = mariadb.createDatabase();
      Map<String, String> flags = new HashMap<>(flags(database));
      flags.put("store", "jdbc:mysql://127.0.0.1:" + database.port() + "/" + database.name());
      assertShared(flags, "durability D");
    }
  }

  @Test
  void serversShareARedisWhoseSlotsDouble() {
    try (RedisServer redis = RedisServer.start()) {
      Map<String, String> flags = Map.of("store", redis.uri().toString());
      assertShared(flags, "durability B");
      try (FoliotServer server = start(flags)) {
        submit(server);
        JobAccount.put(server, "orders");
        Outcome doubled = Outcome.of(Map.of(), "slots", "double", "--store", redis.uri().toString());
        assertThat(doubled.exitCode()).as(doubled.err()).isEqualTo(ExitCode.OK);
        assertThat(doubled.out()).contains("the store has 128 slots");
        assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
        JobAccount.assertContinues(server);
      }
      try (FoliotServer server = start(flags)) {
        assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
        JobAccount.assertContinues(server);
      }
    }
  }

  @Test
  void aMissingSourceIsNotCreated() throws SQLException {
    try (PostgresServer postgres = PostgresServer.start(); RedisServer redis = RedisServer.start()) {
      Database database = postgres.createDatabase();
      Map<String, String> login = Map.of("FOLIOT_FROM_USER", database.user(), "FOLIOT_FROM_PASSWORD",
          database.password());
      String target = "rocksdb:" + folder.resolve("target");
      for (String source : List.of(database.jdbcUrl(), redis.uri().toString())) {
        for (int i = 0; i < 2; i++) {
          Outcome outcome = Outcome.of(source.startsWith("jdbc:") ? login : Map.of(), "migrate", "--from", source,
              "--to", target);
          assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
          assertThat(outcome.err()).contains("there is no store at", "nothing was created");
        }
      }
      try (Connection connection = DriverManager.getConnection(database.jdbcUrl(), database.user(),
          database.password()); ResultSet tables = connection.getMetaData().getTables(null, "public", "%", null)) {
        assertThat(tables.next()).isFalse();
      }
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aMissingDatabaseIsReportedInTheDriversWords() {
    try (PostgresServer postgres = PostgresServer.start()) {
      Database database = postgres.createDatabase();
      Map<String, String> flags = new HashMap<>(flags(database));
      flags.put("store", database.jdbcUrl().replace(database.name(), "nope"));
      assertThatThrownBy(() -> start(flags)).isInstanceOf(StartException.class)
          .hasMessageContaining("database \"nope\" does not exist").hasMessageContaining("CREATE DATABASE");
      Outcome doctor = Outcome.of(Map.of("FOLIOT_STORE_USER", database.user(), "FOLIOT_STORE_PASSWORD",
          database.password()), "doctor", "--port", "0", "--store", flags.get("store"));
      assertThat(doctor.out()).contains("CREATE DATABASE").doesNotContain("check that");
      flags.putAll(flags(database));
      flags.put("store-user", "ux_role");
      assertThatThrownBy(() -> start(flags)).isInstanceOf(StartException.class).hasMessageContaining("ux_role")
          .hasMessageContaining("the user does not exist, has another password");
    }
  }

  @Test
  void tasksMoveFromAFolderToADatabaseAndBack() {
    String data = folder.resolve("data").toString();
    try (FoliotServer server = start(Map.of("data", data))) {
      submit(server);
    }
    try (PostgresServer postgres = PostgresServer.start()) {
      Database database = postgres.createDatabase();
      Outcome moved = Outcome.of(Map.of("FOLIOT_TO_USER", database.user(), "FOLIOT_TO_PASSWORD", database.password()),
          "migrate", "--from", "rocksdb:" + data, "--to", database.jdbcUrl());
      assertThat(moved.exitCode()).as(moved.err()).isEqualTo(ExitCode.OK);
      assertThat(moved.out() + moved.err()).contains("moved 1 task ").doesNotContain(database.password());
      try (FoliotServer server = start(flags(database))) {
        assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
        String back = "rocksdb:" + folder.resolve("back");
        Outcome live = Outcome.of(Map.of("FOLIOT_FROM_USER", database.user(), "FOLIOT_FROM_PASSWORD",
            database.password()), "migrate", "--from", database.jdbcUrl(), "--to", back);
        assertThat(live.exitCode()).as(live.err()).isEqualTo(ExitCode.OK);
        Outcome refused = Outcome.of(Map.of("FOLIOT_URL", server.url()), "submit", "orders", "--delay", "1h");
        assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(refused.err()).contains("were moved to another store").doesNotContain("rocksdb:");
      }
    }
    try (FoliotServer server = start(Map.of("data", folder.resolve("back").toString()))) {
      assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
    }
  }
}
