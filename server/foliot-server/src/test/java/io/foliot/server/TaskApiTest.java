package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the answers to calls about tasks and keys. */
class TaskApiTest {
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start().withQueue("orders");
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static String submit(String json) {
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks", json);
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    return answer.text("id");
  }

  @Test
  void aSubmittedTaskIsFoundByItsIdAndItsKey() {
    Instant before = Instant.now();
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks", """
        {"key": "a1", "delay": "30m", "payload": {"order": 17}, "headers": {"x-shop": "7"}, "maxAttempts": 3}""");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.text("queue")).isEqualTo("orders");
    assertThat(answer.text("key")).isEqualTo("a1");
    assertThat(answer.text("state")).isEqualTo("DELAYED");
    assertThat(Instant.parse(answer.text("dueAt"))).isBetween(before.plus(Duration.ofMinutes(30)).minusSeconds(1),
        Instant.now().plus(Duration.ofMinutes(30)).plusSeconds(1));
    assertThat(answer.headers().get("location")).isEqualTo("/v1/tasks/" + answer.text("id"));
    Rig.Answer found = rig.get("/v1/tasks/" + answer.text("id"));
    assertThat(found.at("payload", "order")).isEqualTo(new BigDecimal(17));
    assertThat(found.text("headers", "x-shop")).isEqualTo("7");
    assertThat(found.at("maxAttempts")).isEqualTo(new BigDecimal(3));
    assertThat(rig.get("/v1/queues/orders/keys/a1").body()).isEqualTo(found.body());
  }

  @Test
  void aJsonPayloadIsReturnedUnchanged() {
    for (String payload : List.of("{\"z\":1.50,\"a\":[1,2,  3],\"n\":123456789012345678901234567890.10}", "12.50",
        "true",
        "null", "\"\\u00e9\\ud83d\\ude00 é\"", "[]", "-0", "1e400", "{\"a\":{\"a\":{}}}")) {
      String id = submit("{\"payload\" :  " + payload + "  , \"delay\":\"1h\"}");

      assertThat(rig.get("/v1/tasks/" + id).body()).contains("\"payload\":" + payload + ",");
    }
  }

  @Test
  void payloadsOtherThanJsonAreReturnedInBase64() {
    byte[] bytes = {0, 1, (byte) 0xFF, 13};
    String id = submit("{\"delay\": \"1h\", \"payloadBase64\": \"" + Base64.getEncoder().encodeToString(bytes) + "\"}");
    Rig.Answer found = rig.get("/v1/tasks/" + id);
    assertThat(Base64.getDecoder().decode(found.text("payloadBase64"))).isEqualTo(bytes);
    assertThat(found.text("contentType")).isEqualTo("application/octet-stream");

    String text = submit("{\"delay\": \"1h\", \"payload\": \"hello\", \"contentType\": \"text/plain\"}");
    assertThat(Base64.getDecoder().decode(rig.get("/v1/tasks/" + text).text("payloadBase64")))
        .isEqualTo("\"hello\"".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void bytesMislabelledAsJsonDoNotBreakTheAnswer() {
    for (String bytes : List.of("{\"a\":", "1 2", "\"\",\"state\":\"FINISHED\"", "", "\u00ff")) {
      String id = submit("{\"delay\": \"1h\", \"contentType\": \"application/json\", \"payloadBase64\": \""
          + Base64.getEncoder().encodeToString(bytes.getBytes(StandardCharsets.ISO_8859_1)) + "\"}");

      assertThat(rig.get("/v1/tasks/" + id).text("state")).isEqualTo("DELAYED");
    }
  }

  @Test
  void aDueTimeInThePastMeansNow() {
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks", "{\"dueAt\": \"2001-01-01T00:00:00+01:00\"}");
    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.text("state")).isEqualTo("READY");
    assertThat(rig.post("/v1/queues/orders/tasks", "{\"dueAt\": \"0044-03-15T12:00:00Z\"}").status()).isEqualTo(201);
  }

  @Test
  void aResetWithoutAPayloadKeepsThePayload() {
    assertThat(rig.put("/v1/queues/orders/keys/k1", "{\"delay\": \"1h\", \"payload\": [1]}").status()).isEqualTo(201);
    Rig.Answer first = rig.get("/v1/queues/orders/keys/k1");

    Rig.Answer reset = rig.put("/v1/queues/orders/keys/k1", "{\"delay\": \"2h\"}");

    assertThat(reset.status()).isEqualTo(200);
    assertThat(reset.text("result")).isEqualTo("RESET");
    assertThat(reset.text("id")).isEqualTo(first.text("id"));
    assertThat((BigDecimal) reset.at("generation")).isGreaterThan((BigDecimal) first.at("generation"));
    assertThat(rig.get("/v1/queues/orders/keys/k1").body()).contains("\"payload\":[1]");
  }

  @Test
  void aKeyMayContainReservedCharacters() {
    for (String encoded : List.of("a%2Fb", "%2E%2E", "%C3%A9%20%25", "a:touch", "a;b=c", "%3Fx%23", "+")) {
      String path = "/v1/queues/orders/keys/" + encoded;
      assertThat(rig.put(path, "{\"delay\": \"1h\"}").status()).as(encoded).isEqualTo(201);
      assertThat(rig.get(path).text("key"))
          .isEqualTo(URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8));
      assertThat(rig.delete(path).text("result")).isEqualTo("CANCELLED");
    }
  }

  @Test
  void onConflictKeepsRejectsOrResets() {
    String task = "{\"key\": \"c1\", \"delay\": \"1h\", \"onConflict\": \"%s\"}";
    String id = submit(task.formatted("reject"));

    Rig.Answer rejected = rig.post("/v1/queues/orders/tasks", task.formatted("reject"));
    assertThat(rejected.status()).isEqualTo(409);
    assertThat(rejected.problem()).isEqualTo("key-in-use");
    assertThat(rejected.text("id")).isEqualTo(id);
    Rig.Answer kept = rig.post("/v1/queues/orders/tasks", task.formatted("keep"));
    assertThat(kept.status()).isEqualTo(200);
    assertThat(kept.text("id")).isEqualTo(id);
    Rig.Answer reset = rig.post("/v1/queues/orders/tasks", task.formatted("reset"));
    assertThat(reset.status()).isEqualTo(201);
    assertThat(reset.text("id")).isEqualTo(id);
  }

  @Test
  void aRepeatIsAnsweredAsRepeatedAndAnotherBodyIsRefused() {
    Map<String, String> headers = Map.of("Idempotency-Key", "req-1", "Content-Type", "application/json");
    Rig.Answer first = rig.call("POST", "/v1/queues/orders/tasks", "{\"delay\": \"1h\", \"payload\": 1}", headers);
    Rig.Answer again = rig.call("POST", "/v1/queues/orders/tasks", "{\"delay\": \"1h\", \"payload\": 1}", headers);
    Rig.Answer other = rig.call("POST", "/v1/queues/orders/tasks", "{\"delay\": \"1h\", \"payload\": 2}", headers);

    assertThat(again.status()).isEqualTo(201);
    assertThat(first.text("result")).isEqualTo("CREATED");
    assertThat(again.text("result")).isEqualTo("REPEATED");
    assertThat(again.body().replace("REPEATED", "CREATED")).isEqualTo(first.body());
    assertThat(other.status()).isEqualTo(422);
    assertThat(other.problem()).isEqualTo("idempotency-mismatch");
  }

  @Test
  void aSubmitUnderALiveKeyShowsItsResult() {
    assertThat(rig.post("/v1/queues/orders/tasks", "{\"key\": \"shown\", \"delay\": \"1h\"}").text("result"))
        .isEqualTo("CREATED");
    assertThat(rig.post("/v1/queues/orders/tasks", "{\"key\": \"shown\", \"delay\": \"2h\"}").text("result"))
        .isEqualTo("RESET");
    assertThat(rig.post("/v1/queues/orders/tasks", "{\"key\": \"shown\", \"delay\": \"3h\", \"onConflict\": \"keep\"}")
        .text("result")).isEqualTo("KEPT");
  }

  @Test
  void aCancelShowsItsResult() {
    String id = submit("{\"delay\": \"1h\"}");
    assertThat(rig.delete("/v1/tasks/" + id).text("result")).isEqualTo("CANCELLED");
    assertThat(rig.delete("/v1/tasks/" + id).text("result")).isEqualTo("ALREADY_FINISHED");
    assertThat(rig.get("/v1/tasks/" + id).text("state")).isEqualTo("CANCELLED");
    Rig.Answer unknown = rig.delete("/v1/tasks/00000000-0000-7000-8000-000000000000");
    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.problem()).isEqualTo("unknown-task");
    assertThat(rig.delete("/v1/queues/orders/keys/absent").status()).isEqualTo(404);
  }

  @Test
  void aTouchReportsEachKeyInOrder() {
    rig.put("/v1/queues/orders/keys/t1", "{\"delay\": \"1h\"}");
    rig.put("/v1/queues/orders/keys/t2", "{\"delay\": \"1h\"}");

    Rig.Answer answer = rig.post("/v1/queues/orders/keys:touch",
        "{\"delay\": \"2h\", \"keys\": [\"t2\", \"none\", \"t1\"]}");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text("results", 0, "key")).isEqualTo("t2");
    assertThat(answer.text("results", 0, "result")).isEqualTo("RESET");
    assertThat(answer.text("results", 1, "result")).isEqualTo("NOT_FOUND");
    assertThat(answer.text("results", 2, "key")).isEqualTo("t1");
    assertThat(rig.get("/v1/queues/orders/keys/t1").text("dueAt")).isEqualTo(answer.text("results", 2, "dueAt"));
  }

  @Test
  void runNowMakesATaskDue() {
    String id = submit("{\"delay\": \"1h\"}");
    Rig.Answer run = rig.call("POST", "/v1/tasks/" + id + "/run", null, Map.of());
    assertThat(run.status()).isEqualTo(200);
    assertThat(Instant.parse(run.text("dueAt"))).isBefore(Instant.now().plusSeconds(1));
    rig.delete("/v1/tasks/" + id);
    assertThat(rig.call("POST", "/v1/tasks/" + id + "/run", null, Map.of()).problem()).isEqualTo("already-finished");
  }

  @Test
  void explainGivesReasons() {
    String id = submit("{\"delay\": \"1h\"}");
    Rig.Answer explanation = rig.get("/v1/tasks/" + id + "/explain");
    assertThat(explanation.status()).isEqualTo(200);
    assertThat(explanation.list("reasons")).isNotEmpty();
  }

  @Test
  void aListIsPagedAndFilteredByState() {
    rig.withQueue("paged");
    for (int i = 0; i < 5; i++) {
      rig.put("/v1/queues/paged/keys/p" + i, "{\"delay\": \"1h\"}");
    }
    rig.delete("/v1/queues/paged/keys/p0");
    int tasks = 0;
    String path = "/v1/queues/paged/tasks?state=delayed&limit=2";
    for (Object cursor = ""; cursor != null;) {
      Rig.Answer page = rig.get(path + (cursor.equals("")
          ? ""
          : "&cursor=" + URLEncoder.encode((String) cursor, StandardCharsets.UTF_8)));
      assertThat(page.status()).as(page.body()).isEqualTo(200);
      tasks += page.list("tasks").size();
      cursor = page.at("nextCursor");
    }
    assertThat(tasks).isEqualTo(4);
    assertThat(rig.get("/v1/queues/paged/tasks?state=CANCELLED").list("tasks")).hasSize(1);
  }

  @Test
  void aPageWithLargePayloadsEndsEarly() {
    rig.withQueue("large");
    String payload = "\"" + "x".repeat(200_000) + "\"";
    for (int i = 0; i < 60; i++) {
      rig.post("/v1/queues/large/tasks", "{\"delay\": \"1h\", \"payload\": " + payload + "}");
    }
    Rig.Answer page = rig.get("/v1/queues/large/tasks?limit=1000");
    assertThat(page.list("tasks")).hasSizeBetween(20, 59);
    Rig.Answer rest = rig.get("/v1/queues/large/tasks?limit=1000&cursor="
        + URLEncoder.encode(page.text("nextCursor"), StandardCharsets.UTF_8));
    assertThat(page.list("tasks").size() + rest.list("tasks").size()).isEqualTo(60);
  }

  @Test
  void aBatchReportsEachItemAndSubmitsTheValidOnes() {
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks:batch",
        """
            [{"delay": "1h", "key": "b1", "payload": {"n": 1}}, {"delay": "-1s"}, 7, {"dely": {"x": [1, {}]}, "delay": "1h"},
             {"delay": "1h", "key": ["x"], "payload": 1}, [[1]], {"delay": "1h", "key": "b2", "idempotencyKey": "i1"}]""");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.list()).hasSize(7);
    assertThat(answer.text(0, "key")).isEqualTo("b1");
    assertThat(answer.text(1, "error", "type")).endsWith("invalid-field");
    assertThat(answer.text(2, "error", "type")).endsWith("invalid-field");
    assertThat(answer.text(3, "error", "type")).endsWith("unknown-field");
    assertThat(answer.text(3, "error", "nearest")).isEqualTo("delay");
    assertThat(answer.text(4, "error", "field")).isEqualTo("key");
    assertThat(answer.text(5, "error", "expected")).isEqualTo("an object");
    assertThat(answer.text(6, "key")).isEqualTo("b2");
    assertThat(rig.get("/v1/queues/orders/keys/b2").status()).isEqualTo(200);
  }

  @Test
  void aBatchOfLinesIsAnsweredInLines() {
    Rig.Answer answer = rig.call("POST", "/v1/queues/orders/tasks:batch",
        "{\"delay\":\"1h\",\"key\":\"l1\"}\n\n{\"delay\":\"1h\",\"key\":\"l2\",\"payload\":\"a\\nb\"}\r\n{\"delay\":true}",
        Map.of("Content-Type", "application/x-ndjson; charset=utf-8"));

    assertThat(answer.status()).isEqualTo(200);
    List<String> lines = answer.body().lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(JsonTree.at(JsonTree.parse(lines.get(1)), "key")).isEqualTo("l2");
    assertThat(JsonTree.at(JsonTree.parse(lines.get(2)), "error", "field")).isEqualTo("delay");
  }

  @Test
  void aBatchThatIsNotJsonIsRefusedAsAWhole() {
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks:batch",
        "[{\"delay\": \"1h\", \"key\": \"whole\"},\n {\"delay\" \"1h\"}]");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.problem()).isEqualTo("malformed-json");
    assertThat(answer.at("line")).isEqualTo(new BigDecimal(2));
    assertThat(rig.get("/v1/queues/orders/keys/whole").status()).isEqualTo(404);
  }

  @Test
  void aBatchKeepsTheOrderOfItsItemsUnderOneKey() {
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks:batch", """
        [{"delay": "1h", "key": "same", "payload": 1}, {"delay": "2h", "key": "same", "payload": 2}]""");
    assertThat(answer.at(1, "id")).isEqualTo(answer.at(0, "id"));
    assertThat(rig.get("/v1/queues/orders/keys/same").body()).contains("\"payload\":2");
  }

  @Test
  void aTaskContinuesTheTraceOfItsSubmit() {
    rig.withQueue("traced");
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    String body = "{\"delay\": \"1h\", \"payload\": 1}";
    Rig.Answer task = rig.send("POST", "/v1/queues/traced/tasks", body,
        Map.of("traceparent", trace, "tracestate", "a=b", "Idempotency-Key", "once"));
    assertThat(rig.get("/v1/tasks/" + task.text("id")).text("headers", "traceparent")).isEqualTo(trace);
    assertThat(rig.get("/v1/tasks/" + task.text("id")).text("headers", "tracestate")).isEqualTo("a=b");
    Rig.Answer again = rig.send("POST", "/v1/queues/traced/tasks", body,
        Map.of("traceparent", trace.replace("b7ad", "aaaa"), "Idempotency-Key", "once"));
    assertThat(again.text("result")).as("another span of the same request").isEqualTo("REPEATED");
    Rig.Answer own = rig.send("PUT", "/v1/queues/traced/keys/k", "{\"delay\": \"1h\", \"payload\": 1, \"headers\":"
        + " {\"Traceparent\": \"00-11111111111111111111111111111111-1111111111111111-00\"}}",
        Map.of("traceparent", trace));
    assertThat(rig.get("/v1/tasks/" + own.text("id")).body()).contains("00-1111").doesNotContain("0af7651");
    Rig.Answer invalid = rig.send("POST", "/v1/queues/traced/tasks", body, Map.of("traceparent", "nonsense"));
    assertThat(rig.get("/v1/tasks/" + invalid.text("id")).body()).doesNotContain("nonsense");
  }

  @Test
  void headersThatFoliotOrHttpSetsAreRefused() {
    for (String header : List.of("", "a b", "user-agent", "Proxy-Authorization", "proxy-authenticate", "http2-settings",
        "Host", "transfer-encoding", "te", "webhook-id", "foliot-attempt")) {
      Rig.Answer answer = rig.post("/v1/queues/orders/tasks", "{\"delay\": \"1h\", \"headers\": {\"" + header
          + "\": \"x\"}}");
      assertThat(answer.status()).as(header).isEqualTo(400);
    }
  }
}
