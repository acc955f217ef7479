package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.RedisServer;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Starts servers that have secrets in the settings of the store, the admin key and the coordinator, and provokes
 * failures. The operator must get the reason that the database or Redis gives. No log line, message or response may
 * contain a secret.
 */
@Tag("long")
final class SecretsTest {
  /** The secret that no output may contain. */
  private static final String CANARY = "c4n4ry";
  /** An address at which no server listens. */
  private static final String NOWHERE = "127.0.0.1:1";

  private static PostgresServer postgres;
  private static MariaDbServer mariadb;
  private static RedisServer redis;

  private final Lines lines = new Lines();

  /** Records all log lines, with the messages of all causes. */
  private static final class Lines extends AppenderBase<ILoggingEvent> {
    final List<String> texts = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      IThrowableProxy thrown = event.getThrowableProxy();
      texts.add(event.getFormattedMessage() + " " + event.getKeyValuePairs()
          + (thrown == null ? "" : ThrowableProxyUtil.asString(thrown)));
    }
  }

  @BeforeAll
  static void startServers() {
    postgres = PostgresServer.start();
    mariadb = MariaDbServer.start();
    redis = RedisServer.start();
    assertThat(redis.command("CONFIG", "SET", "requirepass", "another")).isEqualTo("OK");
  }

  @AfterAll
  static void stopServers() {
    postgres.close();
    mariadb.close();
    redis.close();
  }

  @BeforeEach
  void startRecording() {
    lines.setContext((LoggerContext) LoggerFactory.getILoggerFactory());
    lines.start();
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.addAppender(lines);
    for (String name : List.of("com.zaxxer", "org.mariadb", "org.postgresql", "io.lettuce", "io.foliot",
        "org.flywaydb")) {
      ((Logger) LoggerFactory.getLogger(name)).setLevel(Level.DEBUG);
    }
  }

  @AfterEach
  void stopRecording() {
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).detachAppender(lines);
    for (String name : List.of("com.zaxxer", "org.mariadb", "org.postgresql", "io.lettuce", "io.foliot",
        "org.flywaydb")) {
      ((Logger) LoggerFactory.getLogger(name)).setLevel(null);
    }
    lines.stop();
  }

  private static String jdbc(Database database, String name, String options) {
    return "jdbc:" + database.kind() + "://127.0.0.1:" + database.port() + "/" + name + options;
  }

  /** Asserts that a start fails with a reason, and that no output contains the secret. */
  private void assertRefused(int exitCode, String reason, String... words) {
    lines.texts.clear();
    List<String> all = new ArrayList<>(List.of("server", "--port", "0"));
    all.addAll(Arrays.asList(words));
    Outcome outcome = Outcome.of(Map.of(), all.toArray(String[]::new));
    assertThat(outcome.err()).as("%s", String.join(" ", words)).contains(reason).doesNotContain(CANARY)
        .doesNotContain("\tat ").doesNotContain("bug");
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(exitCode);
    assertThat(outcome.out()).doesNotContain(CANARY);
    assertThat(lines.texts).noneMatch(line -> line.contains(CANARY));
    all.set(0, "doctor");
    Outcome checked = Outcome.of(Map.of(), all.toArray(String[]::new));
    assertThat(checked.out() + checked.err()).doesNotContain(CANARY).doesNotContain("\tat ");
  }

  @Test
  void aPostgreSqlFailureShowsTheServersReason() {
    Database database = postgres.createDatabase();
    assertRefused(ExitCode.FAILURE, "database \"nope\" does not exist", "--store", jdbc(database, "nope", ""),
        "--store-user",
        database.user(), "--store-password", database.password());
    assertRefused(ExitCode.FAILURE, "nobody", "--store", jdbc(database, database.name(), "?sslpassword=" + CANARY),
        "--store-user", "nobody", "--store-password", CANARY);
    assertRefused(ExitCode.FAILURE, "refused", "--store",
        "jdbc:postgresql://" + NOWHERE + "/foliot?password=" + CANARY);
    assertRefused(ExitCode.USAGE, "no user and no password in front of the host", "--store",
        "jdbc:postgresql://foliot:" + CANARY + "@" + NOWHERE + "/foliot");
    assertRefused(ExitCode.USAGE, "no user and no password in front of the host", "--store",
        "jdbc:postgresql://foliot:" + CANARY + "/@?" + CANARY + "@" + NOWHERE + "/foliot");
    assertRefused(ExitCode.FAILURE, "cannot be", "--store",
        "jdbc:postgresql://127.0.0.1:port/foliot?password=" + CANARY);
  }

  @Test
  void aMariaDbFailureShowsTheServersReason() {
    Database database = mariadb.createDatabase();
    assertRefused(ExitCode.FAILURE, "Unknown database 'nope'", "--store", jdbc(database, "nope", ""), "--store-user",
        database.user(), "--store-password", database.password());
    assertRefused(ExitCode.FAILURE, "Access denied", "--store", jdbc(database, database.name(), "?password=" + CANARY),
        "--store-user", database.user());
    assertRefused(ExitCode.FAILURE, "Access denied", "--store", jdbc(database, database.name(), "").replace("mariadb",
        "mysql"), "--store-user", database.user(), "--store-password", CANARY);
    assertRefused(ExitCode.FAILURE, "sslMode=disable", "--store",
        jdbc(database, database.name(), "?sslMode=verify-full&keyStorePassword=" + CANARY), "--store-user",
        database.user(), "--store-password", database.password());
    assertRefused(ExitCode.USAGE, "no user and no password in front of the host", "--store",
        "jdbc:mariadb://foliot:" + CANARY + "@" + NOWHERE + "/foliot");
    assertRefused(ExitCode.FAILURE, "sslMode", "--store",
        "jdbc:mariadb://" + NOWHERE + "/foliot?sslMode=never&password=" + CANARY);
  }

  @Test
  void anUnsupportedUrlIsRefusedWithTheSupportedOnes() {
    for (String url : List.of("jdbc:oracle:thin:foliot/" + CANARY + "@db:1521:x",
        "jdbc:sqlserver://db;password=" + CANARY,
        "jdbc:h2:mem:" + CANARY, "jdbc:postgres://u:" + CANARY + "@db/foliot", "jdbc:" + CANARY,
        "postgresql://u:" + CANARY + "@db/foliot", "mysql://u:" + CANARY + "@db/foliot")) {
      lines.texts.clear();
      Outcome outcome = Outcome.of(Map.of(), "server", "--port", "0", "--store", url);
      assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
      assertThat(outcome.err()).contains("jdbc:postgresql:", "jdbc:mariadb:", "jdbc:mysql:").doesNotContain("\tat ");
      assertThat(outcome.err().replace("jdbc:" + CANARY, "")).doesNotContain(CANARY);
    }
  }

  @Test
  void aRedisFailureShowsTheServersReason() {
    String host = "127.0.0.1:" + redis.port();
    assertRefused(ExitCode.FAILURE, "WRONGPASS", "--store", "redis://" + host, "--store-password", CANARY);
    assertRefused(ExitCode.FAILURE, "WRONGPASS", "--store", "redis://:" + CANARY + "@" + host);
    assertRefused(ExitCode.FAILURE, "WRONGPASS", "--store", "redis://user:" + CANARY + "@" + host);
    assertRefused(ExitCode.FAILURE, "NOAUTH", "--store", "redis://" + host);
    assertRefused(ExitCode.FAILURE, "refused", "--store", "redis://:" + CANARY + "@" + NOWHERE);
    assertRefused(ExitCode.FAILURE, "Redis", "--store",
        "redis://:" + CANARY + "@" + NOWHERE + ",redis://:" + CANARY + "@"
            + NOWHERE);
    assertRefused(ExitCode.FAILURE, "Redis", "--store", "redis-sentinel://" + CANARY + "@" + NOWHERE + "#main");
    assertRefused(ExitCode.FAILURE, "Redis", "--store", "rediss://:" + CANARY + "@" + host);
    assertRefused(ExitCode.USAGE, "redis://host", "--store", "redis://:" + CANARY + "@");
  }

  @Test
  void secretsOfKeysAndCoordinatorsAreNotRepeated() {
    Database database = postgres.createDatabase();
    assertRefused(ExitCode.USAGE, "64 hexadecimal digits", "--admin-key-hash", "flt_" + CANARY);
    String[] store = {"--store", jdbc(database, database.name(), ""), "--store-user", database.user(),
        "--store-password", database.password()};
    for (String cluster : List.of("zookeeper://user:" + CANARY + "@:x", "zk://user:" + CANARY + "@" + NOWHERE)) {
      List<String> words = new ArrayList<>(Arrays.asList(store));
      words.addAll(List.of("--cluster", cluster));
      assertRefused(ExitCode.USAGE, "cluster", words.toArray(String[]::new));
    }
  }

  private static String answer(FoliotServer server, String method, String path, String body)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response = client.send(HttpRequest.newBuilder(URI.create(server.url() + path))
          .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body)).build(),
          HttpResponse.BodyHandlers.ofString());
      return response.statusCode() + " " + response.body();
    }
  }

  @Test
  void responsesDoNotRevealTheAddressOfTheStore() throws IOException, InterruptedException {
    try (PostgresServer killed = PostgresServer.start()) {
      Database database = killed.createDatabase();
      Map<String, String> flags = new HashMap<>(Map.of("port", "0", "store", database.jdbcUrl(), "store-user",
          database.user(), "store-password", database.password(), "stop-timeout", "0s"));
      try (FoliotServer server = FoliotServer.start(FoliotConfig.load(flags, Map.of(), null),
          new PrintStream(new ByteArrayOutputStream(), true, UTF_8))) {
        assertThat(answer(server, "PUT", "/v1/queues/orders", "{\"delivery\":{\"type\":\"pull\"}}")).startsWith("20");
        killed.kill();
        List<String> answers = new ArrayList<>();
        answers.add(answer(server, "POST", "/v1/queues/orders/tasks", "{\"delay\":\"1h\"}"));
        answers.add(answer(server, "GET", "/v1/tasks/00000000-0000-7000-8000-000000000000", ""));
        answers.add(answer(server, "GET", "/health/ready", ""));
        answers.add(answer(server, "GET", "/v1/cluster", ""));
        assertThat(answers).noneMatch(text -> text.contains("jdbc:") || text.contains("127.0.0.1:" + database.port())
            || text.contains("user=") || text.contains("Login") || text.contains(database.password()));
        assertThat(answers)
            .anyMatch(text -> text.startsWith("503") && text.contains("The server's log has the reason"));
      }
      assertThat(lines.texts)
          .noneMatch(line -> line.contains("jdbc:postgresql://") || line.contains(database.password()))
          .anyMatch(line -> line.contains("refused"));
    }
  }
}
