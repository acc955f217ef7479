package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the queues of two servers that share a PostgreSQL. A new queue is usable immediately through both servers, and
 * a deletion through one server is effective on both.
 */
@Tag("long")
final class SharedQueuesOfServersTest {
  private static final String PULL = "{\"delivery\": {\"type\": \"pull\"}}";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private static PostgresServer postgres;
  private static FoliotServer first;
  private static FoliotServer second;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.start();
    Database database = postgres.createDatabase();
    first = server(database);
    second = server(database);
  }

  private static FoliotServer server(Database database) {
    Map<String, String> flags = Map.of("store", database.jdbcUrl(), "store-user", database.user(), "store-password",
        database.password(), "port", "0", "log-level", "error", "stop-timeout", "1s");
    return FoliotServer.start(FoliotConfig.load(flags, Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  @AfterAll
  static void stop() {
    second.close();
    first.close();
    postgres.close();
  }

  private static HttpResponse<String> call(FoliotServer server, String method, String path, String json) {
    HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
        .method(method, json.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(json))
        .header("Content-Type", "application/json").build();
    try {
      return CLIENT.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Test
  void aNewQueueIsUsableOnBothServersAtOnce() {
    for (int i = 0; i < 20; i++) {
      String queue = "/v1/queues/new-" + i;
      assertThat(call(first, "PUT", queue, PULL).statusCode()).isEqualTo(201);
      HttpResponse<String> submitted = call(second, "POST", queue + "/tasks", "{\"delay\": \"1h\"}");
      assertThat(submitted.statusCode()).as(submitted.body()).isEqualTo(201);
    }
    String[][] uses = {{"PUT", "", PULL}, {"GET", "", ""}, {"POST", "/pause", ""}, {"POST", "/redrive", "{}"},
        {"POST", "/tasks:batch", "[{\"delay\": \"1h\"}]"}, {"GET", "/tasks", ""},
        {"PUT", "/keys/k", "{\"delay\": \"1h\"}"}, {"POST", "/keys:touch", "{\"keys\": [\"k\"], \"delay\": \"1h\"}"},
        {"POST", "/claims", "{}"}, {"DELETE", "", ""}};
    for (int i = 0; i < uses.length; i++) {
      String queue = "/v1/queues/used-" + i;
      assertThat(call(first, "PUT", queue, PULL).statusCode()).isEqualTo(201);
      HttpResponse<String> answer = call(second, uses[i][0], queue + uses[i][1], uses[i][2]);
      assertThat(answer.statusCode()).as(uses[i][0] + " " + uses[i][1] + ": " + answer.body()).isIn(200, 201);
    }
    call(first, "PUT", "/v1/queues/keyed", PULL);
    assertThat(call(second, "GET", "/v1/queues/keyed/keys/k", "").body()).contains("unknown-task");
  }

  @Test
  void aQueueWithATaskThatWasNotCountedYetIsNotDeleted() {
    call(first, "PUT", "/v1/queues/counted", PULL);
    // For ten seconds, both servers use their cached count of tasks, which is 0.
    assertThat(call(first, "GET", "/v1/queues", "").body()).contains("counted");
    assertThat(call(second, "GET", "/v1/queues", "").statusCode()).isEqualTo(200);
    HttpResponse<String> submitted = call(first, "POST", "/v1/queues/counted/tasks", "{\"delay\": \"1s\"}");
    assertThat(submitted.statusCode()).isEqualTo(201);
    for (FoliotServer server : new FoliotServer[]{first, second}) {
      HttpResponse<String> deleted = call(server, "DELETE", "/v1/queues/counted", "");
      assertThat(deleted.statusCode()).as(deleted.body()).isEqualTo(409);
      assertThat(deleted.body()).contains("queue-in-use");
    }
    HttpResponse<String> claimed = call(second, "POST", "/v1/queues/counted/claims", "{\"wait\": \"10s\"}");
    assertThat(claimed.body()).contains("\"token\"");
  }

  @Test
  void anEmptyQueueIsDeletedOnBothServers() {
    call(first, "PUT", "/v1/queues/empty", PULL);
    HttpResponse<String> deleted = call(second, "DELETE", "/v1/queues/empty", "");
    assertThat(deleted.statusCode()).as(deleted.body()).isEqualTo(200);
    // Until the first server has read the deletion, it may still report that the queue is being deleted.
    assertThat(call(first, "POST", "/v1/queues/empty/tasks", "{\"delay\": \"1s\"}").statusCode()).isIn(404, 503);
    assertThat(call(second, "DELETE", "/v1/queues/empty", "").statusCode()).isEqualTo(404);
  }
}
