package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a server starts, keeps its data, and stops. */
class StartTest {
  @TempDir
  private Path folder;

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() {
    client.close();
  }

  private FoliotServer start(String... flags) {
    Map<String, String> all = new HashMap<>(Map.of("port", "0", "data", folder.toString(), "stop-timeout", "2s",
        "stop-grace", "0s"));
    for (int i = 0; i < flags.length; i += 2) {
      all.put(flags[i], flags[i + 1]);
    }
    return FoliotServer.start(FoliotConfig.load(all, Map.of(), null), new PrintStream(printed, true, UTF_8));
  }

  private HttpResponse<String> send(FoliotServer server, String method, String path, String body,
      @Nullable String key) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .header("Content-Type", "application/json").timeout(Duration.ofSeconds(20))
        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (key != null) {
      request.header("Authorization", "Bearer " + key);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void aTaskSurvivesARestartAndIsNotCalledBackEarly() throws Exception {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext("/", exchange -> {
      calls.add(exchange.getRequestHeaders().getFirst("foliot-key") + " "
          + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
    });
    receiver.start();
    Instant dueAt;
    try (FoliotServer first = start()) {
      assertThat(
          send(first, "PUT", "/v1/queues/hooks", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:"
              + receiver.getAddress().getPort() + "/hook\"}}", null).statusCode())
          .isEqualTo(201);
      HttpResponse<String> task = send(first, "PUT", "/v1/queues/hooks/keys/k1",
          "{\"delay\": \"1s\", \"payload\": {\"n\": 1.0}}", null);
      assertThat(task.statusCode()).isEqualTo(201);
      dueAt = Instant.parse((String) JsonTree.at(JsonTree.parse(task.body()), "dueAt"));
    }
    try (FoliotServer second = start()) {
      assertThat(calls.poll(20, TimeUnit.SECONDS)).isEqualTo("k1 {\"n\": 1.0}");
      assertThat(Instant.now()).isAfterOrEqualTo(dueAt);
      assertThat(send(second, "GET", "/v1/cluster", "", null).body()).contains("\"durability\":\"D\"");
    } finally {
      receiver.stop(0);
    }
  }

  @Test
  void aPortInUseIsReportedInOneLine() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> start("port", Integer.toString(taken.getLocalPort())))
          .isInstanceOfSatisfying(StartException.class, e -> {
            assertThat(e.reason()).isEqualTo(StartException.Reason.PORT_IN_USE);
            assertThat(e.getMessage()).contains("port " + taken.getLocalPort(), "--port").doesNotContain("\n");
          });
    }
    start().close();
  }

  @Test
  void aFolderInUseIsReportedWithItsPath() {
    try (FoliotServer first = start()) {
      assertThat(first.port()).isPositive();
      assertThatThrownBy(this::start).isInstanceOfSatisfying(StartException.class, e -> {
        assertThat(e.reason()).isEqualTo(StartException.Reason.STORE);
        assertThat(e.getMessage()).contains(folder.toString(), "in use");
      });
    }
  }

  @Test
  void anInvalidAddressIsReportedWithItsFlag() {
    assertThatThrownBy(() -> start("host", "203.0.113.7")).isInstanceOfSatisfying(StartException.class,
        e -> assertThat(e.getMessage()).contains("203.0.113.7", "--host"));
    assertThatThrownBy(() -> start("host", "")).isInstanceOf(ConfigException.class).hasMessageContaining("--host");
    assertThatThrownBy(() -> start("host", "no.such.host.invalid")).isInstanceOf(StartException.class)
        .hasMessageContaining("--host");
    assertThatThrownBy(() -> start("allow-network", "10.0.0.0/99")).isInstanceOf(StartException.class)
        .hasMessageContaining("--allow-network");
  }

  @Test
  void beyondLoopbackTheFirstStartCreatesAKeyAndShowsItOnce() throws Exception {
    String key;
    try (FoliotServer first = start("host", "0.0.0.0")) {
      key = printed.toString(UTF_8).lines().map(String::strip).filter(line -> line.startsWith("flt_")).findFirst()
          .orElseThrow();
      assertThat(send(first, "GET", "/v1/queues", "", null).statusCode()).isEqualTo(401);
      assertThat(send(first, "GET", "/v1/queues", "", key).statusCode()).isEqualTo(200);
      // The id of a key follows the prefix flt_.
      assertThat(send(first, "DELETE", "/v1/keys/" + key.substring(4, 16), "", key).statusCode()).isEqualTo(409);
    }
    printed.reset();
    try (FoliotServer second = start("host", "0.0.0.0")) {
      assertThat(printed.toString(UTF_8)).isEmpty();
      assertThat(send(second, "GET", "/v1/queues", "", key).statusCode()).isEqualTo(200);
      assertThat(send(second, "GET", "/v1/queues", "", null).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void withAConfiguredKeyTheFirstStartCreatesNone() throws Exception {
    // The output of: printf %s secret | sha256sum
    String hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    try (FoliotServer server = start("host", "0.0.0.0", "admin-key-hash", hash, "store", "memory")) {
      assertThat(printed.toString(UTF_8)).isEmpty();
      assertThat(send(server, "GET", "/v1/queues", "", "secret").statusCode()).isEqualTo(200);
      assertThat(send(server, "GET", "/v1/queues", "", "secreT").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void aBackupIsWrittenOnlyIntoTheFolderForBackups() throws Exception {
    try (FoliotServer server = start()) {
      send(server, "PUT", "/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}}", null);
      HttpResponse<String> backup = send(server, "POST", "/v1/backups", "{\"directory\": \"first\"}", null);
      assertThat(backup.statusCode()).as(backup.body()).isEqualTo(201);
      assertThat(folder.resolve("backups").resolve("first")).isNotEmptyDirectory();
      for (String outside : new String[]{"../x", "/tmp/x", "a/b", "..", ".", "", "a/../..", "\\u0000",
          "x".repeat(300)}) {
        HttpResponse<String> refused = send(server, "POST", "/v1/backups", "{\"directory\": \"" + outside + "\"}",
            null);
        assertThat(refused.statusCode()).as(outside + refused.body()).isEqualTo(400);
      }
      String figures = send(server, "GET", "/metrics", "", null).body();
      assertThat(figures).contains("foliot_store_free_bytes", "foliot_store_commits_total");
    }
  }

  @Test
  void aNodeKeepsItsName() throws Exception {
    Object name;
    try (FoliotServer first = start()) {
      name = JsonTree.at(JsonTree.parse(send(first, "GET", "/v1/cluster", "", null).body()), "node");
    }
    try (FoliotServer second = start()) {
      assertThat(JsonTree.at(JsonTree.parse(send(second, "GET", "/v1/cluster", "", null).body()), "node")).isEqualTo(
          name);
    }
  }

  @Test
  void aStopDoesNotWaitForTheEndOfLongPolls() throws Exception {
    FoliotServer server = start("store", "memory", "stop-timeout", "20s");
    send(server, "PUT", "/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}}", null);
    var poll = client.sendAsync(HttpRequest.newBuilder(URI.create(server.url() + "/v1/queues/q/claims"))
        .header("Content-Type", "application/json").POST(BodyPublishers.ofString("{\"wait\": \"60s\"}")).build(),
        BodyHandlers.ofString());
    Instant begun = Instant.now();
    server.stop();
    assertThat(Duration.between(begun, Instant.now())).isLessThan(Duration.ofSeconds(15));
    poll.handle((answer, failure) -> null).get(10, TimeUnit.SECONDS);
  }
}
