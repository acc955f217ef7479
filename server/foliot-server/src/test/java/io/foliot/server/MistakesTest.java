package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the answers to invalid requests. Each answer names the mistake and its remedy. */
class MistakesTest {
  private static final String TASKS = "/v1/queues/orders/tasks";
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start().withQueue("orders");
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  /** Asserts that an answer has this status and problem, and that its detail contains the words. Returns the answer. */
  private static Rig.Answer refused(Rig.Answer answer, int status, String problem, String... words) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().get("content-type")).isEqualTo("application/problem+json");
    assertThat(answer.problem()).isEqualTo(problem);
    for (String word : words) {
      assertThat(answer.text("detail")).contains(word);
    }
    return answer;
  }

  @Test
  void anUnknownPathNamesTheNearest() {
    assertThat(rig.get("/v1/queue/orders").text("detail")).contains("did you mean /v1/queues/orders?");
    assertThat(rig.get("/v1/jobs/report/run").text("detail")).contains("did you mean /v1/jobs/report/runs?");
    assertThat(rig.get("/v2/everything").text("detail")).doesNotContain("did you mean");
  }

  @Test
  void aMistakeInACronExpressionNamesTheFieldOfTheRequest() {
    Rig.Answer answer = rig.put("/v1/jobs/x", "{\"queue\": \"orders\", \"schedule\": {\"cron\": \"0 2 * * 9\"}}");
    assertThat(answer.text("field")).isEqualTo("schedule.cron");
    assertThat(answer.text("detail")).startsWith("schedule.cron: day of week: expected");
  }

  @Test
  void theAnswerAboutAnUnknownQueueShowsHowToCreateIt() {
    for (Rig.Answer answer : List.of(rig.post("/v1/queues/nope/tasks", "{\"delay\": \"1s\"}"),
        rig.post("/v1/queues/nope/tasks:batch", "[]"), rig.get("/v1/queues/nope"), rig.get("/v1/queues/nope/tasks"),
        rig.put("/v1/queues/nope/keys/k", "{\"delay\": \"1s\"}"), rig.get("/v1/queues/nope/keys/k"),
        rig.post("/v1/queues/nope/keys:touch", "{\"keys\": [\"k\"], \"delay\": \"1s\"}"),
        rig.post("/v1/queues/nope/claims", "{}"), rig.post("/v1/queues/nope/redrive", "{}"),
        rig.call("POST", "/v1/queues/nope/pause", null, Map.of()))) {
      refused(answer, 404, "unknown-queue", "create it first: PUT /v1/queues/nope");
    }
  }

  @Test
  void theAnswerAboutMalformedJsonNamesTheLine() {
    Rig.Answer answer = refused(rig.post(TASKS, "{\"delay\": \"1s\",\n  \"payload\": {]}"), 400, "malformed-json",
        "line=2");
    assertThat(answer.at("line")).isEqualTo(new BigDecimal(2));
    refused(rig.post(TASKS, "{\"delay\": \"1s\""), 400, "malformed-json");
    refused(rig.post(TASKS, "{\"delay\": \"1s\"} x"), 400, "malformed-json");
    refused(rig.post(TASKS, "{\"delay\": \"1s\"}{}"), 400, "malformed-json", "follows");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"delay\": \"2s\"}"), 400, "malformed-json", "delay");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": {\"a\": 1, \"a\": 2}}"), 400, "malformed-json");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": " + "[".repeat(70) + "]".repeat(70) + "}"), 400,
        "malformed-json", "64 levels");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": NaN}"), 400, "malformed-json");
  }

  @Test
  void theAnswerAboutMalformedJsonHidesTheParser() {
    for (String body : List.of("{\"delay\": \"1s\"", "{\"delay\": \"1s", "{\"payload\": [1, {\"a\": ", "{,}",
        "nul")) {
      Rig.Answer answer = refused(rig.post(TASKS, body), 400, "malformed-json");
      assertThat(answer.text("detail")).as(body).doesNotContain("Source", "REDACTED", "StreamReadFeature", "UNKNOWN");
    }
  }

  @Test
  void theAnswerAboutABatchNamesTheLineThatIsNotJson() {
    for (String line : List.of("{\"delay\": \"1s\"", "{\"delay\": \"1s", "{]}", "nonsense")) {
      Rig.Answer answer = rig.call("POST", "/v1/queues/orders/tasks:batch",
          "{\"delay\": \"1h\"}\n" + line + "\n{\"delay\": \"1h\"}\n", Map.of("Content-Type", "application/x-ndjson"));
      refused(answer, 400, "malformed-json", "line=2");
      assertThat(answer.at("line")).as(line).isEqualTo(new BigDecimal(2));
    }
  }

  @Test
  void anUnknownChoiceIsShownUnchanged() {
    Rig.Answer answer = refused(rig.post(TASKS, "{\"delay\": \"1s\", \"onConflict\": \"replace\"}"), 400,
        "invalid-field", "onConflict: expected one of reset, keep, reject, but got \"replace\"");
    assertThat(answer.text("found")).isEqualTo("replace");
    Rig.Answer near = refused(rig.post(TASKS, "{\"delay\": \"1s\", \"onConflict\": \"rest\"}"), 400, "invalid-field");
    assertThat(near.text("nearest")).isEqualTo("reset");
  }

  @Test
  void anInvalidNameIsAnsweredWithItsField() {
    Map<String, Rig.Answer> answers = Map.of("queue", rig.put("/v1/queues/-q", "{\"delivery\": {\"type\": \"pull\"}}"),
        "key", rig.put("/v1/queues/orders/keys/%00", "{\"delay\": \"1s\"}"),
        "cursor", rig.get(TASKS + "?cursor=nonsense"), "id", rig.get("/v1/tasks/17"),
        "idempotencyKey", rig.call("POST", TASKS, "{\"delay\": \"1s\"}", Map.of("Content-Type", "application/json",
            "Idempotency-Key", "k".repeat(257))));
    answers.forEach((field, answer) -> {
      assertThat(answer.status()).as(field).isEqualTo(400);
      assertThat(answer.text("field")).isEqualTo(field);
    });
    assertThat(rig.post(TASKS, "{\"delay\": \"1s\", \"key\": \"\"}").text("field")).isEqualTo("key");
  }

  @Test
  void anIdempotencyKeyThatWouldBeIgnoredIsRefused() {
    Map<String, String> headers = Map.of("Content-Type", "application/json", "Idempotency-Key", "once");
    refused(rig.call("POST", "/v1/queues/orders/tasks:batch", "[{\"delay\": \"1h\"}]", headers), 400, "invalid-request",
        "idempotencyKey");
    refused(rig.call("PUT", "/v1/queues/orders/keys/k", "{\"delay\": \"1h\"}", headers), 400, "invalid-request",
        "POST");
  }

  @Test
  void aCompressedBodyIsRefused() {
    Rig.Answer answer = rig.call("POST", TASKS, "{\"delay\": \"1h\"}",
        Map.of("Content-Type", "application/json", "Content-Encoding", "gzip"));
    refused(answer, 415, "unsupported-media-type", "gzip");
  }

  @Test
  void aNumberOutOfItsRangeIsAnsweredWithItsField() {
    Map<String, String> fields = Map.of("rate", "\"rate\": 0", "retry.multiplier", "\"retry\": {\"multiplier\": 0.5}",
        "retry.jitter", "\"retry\": {\"jitter\": 2}", "priority", "\"priority\": 11");
    fields.forEach((field, json) -> assertThat(refused(rig.put("/v1/queues/q",
        "{\"delivery\": {\"type\": \"pull\"}, " + json + "}"), 400, "invalid-field", field + ": expected", "but got")
        .text("field")).isEqualTo(field));
    refused(rig.get(TASKS + "?limit=0"), 400, "invalid-parameter",
        "limit: expected a whole number from 1 to 1000, but got \"0\"");
  }

  @Test
  void aBackoffBeyondItsMaximumIsRefused() {
    Rig.Answer answer = refused(rig.put("/v1/queues/q",
        "{\"delivery\": {\"type\": \"pull\"}, \"retry\": {\"backoff\": \"1h\", \"maxBackoff\": \"1m\"}}"), 400,
        "invalid-field", "at most retry.maxBackoff, 1m, but got \"1h\"");
    assertThat(answer.text("field")).isEqualTo("retry.backoff");
  }

  @Test
  void anUnknownSettingOfADeliveryIsAnUnknownField() {
    Rig.Answer answer = refused(rig.put("/v1/queues/q",
        "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\", \"method\": \"PUT\"}}"), 400,
        "unknown-field", "delivery.method");
    assertThat(answer.text("field")).isEqualTo("delivery.method");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\","
        + " \"secrt\": \"x\"}}"), 400, "unknown-field", "did you mean secret");
  }

  @Test
  void textThatIsNotUtf8IsRefused() {
    byte[] latin = "{\"delay\": \"1s\", \"payload\": \"\u00e9\"}".getBytes(StandardCharsets.ISO_8859_1);
    Rig.Answer answer = rig.sendBytes("POST", TASKS, latin, JSON);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.text("detail")).contains("UTF-8");
    assertThat(rig.sendBytes("POST", TASKS, "{\"delay\": \"1s\"}".getBytes(StandardCharsets.UTF_16), JSON).status())
        .isEqualTo(400);
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"key\": \"\\ud800\"}"), 400, "invalid-field", "surrogate");
  }

  @Test
  void theAnswerAboutAnEmptyBodyNamesTheMissingFields() {
    refused(rig.post(TASKS, ""), 400, "missing-field", "dueAt");
    refused(rig.post(TASKS, "[]"), 400, "invalid-field", "an object", "an array");
    refused(rig.post(TASKS, "{}"), 400, "missing-field", "\"delay\": \"30m\"");
    Rig.Answer both = refused(rig.post(TASKS, "{\"delay\": \"1s\", \"dueAt\": \"2030-01-01T00:00:00Z\"}"), 400,
        "conflicting-fields", "dueAt: expected either delay or dueAt, not both");
    assertThat(both.text("field")).isEqualTo("dueAt");
  }

  @Test
  void aDelayOutOfRangeIsRefused() {
    refused(rig.post(TASKS, "{\"delay\": \"-1s\"}"), 400, "invalid-field",
        "delay: expected a duration such as \"30m\", but got \"-1s\"");
    refused(rig.post(TASKS, "{\"delay\": \"PT-1S\"}"), 400, "invalid-field", "PT-1S");
    refused(rig.post(TASKS, "{\"delay\": \"36526d\"}"), 400, "delay-out-of-range", "100 years");
    refused(rig.post(TASKS, "{\"dueAt\": \"2199-01-01T00:00:00Z\"}"), 400, "delay-out-of-range", "100 years");
    refused(rig.post(TASKS, "{\"dueAt\": \"+999999999-01-01T00:00:00Z\"}"), 400, "delay-out-of-range");
    refused(rig.post(TASKS, "{\"delay\": \"999999999999999999999d\"}"), 400, "invalid-field", "a duration");
    refused(rig.post("/v1/queues/orders/keys:touch", "{\"keys\": [\"k\"], \"delay\": \"-1s\"}"), 400,
        "invalid-field");
    refused(rig.put("/v1/queues/orders/keys/k", "{\"delay\": \"-1s\"}"), 400, "invalid-field");
  }

  @Test
  void theAnswerAboutAWrongTypeNamesExpectedAndFound() {
    Rig.Answer answer = refused(rig.post(TASKS, "{\"delay\": 30}"), 400, "invalid-field", "delay", "\"30m\"",
        "number 30");
    assertThat(answer.text("field")).isEqualTo("delay");
    assertThat(answer.text("expected")).isEqualTo("a duration such as \"30m\"");
    assertThat(answer.text("found")).isEqualTo("the number 30");
    refused(rig.post(TASKS, "{\"delay\": \"30\"}"), 400, "invalid-field", "30m");
    refused(rig.post(TASKS, "{\"delay\": \"30 minutes\"}"), 400, "invalid-field");
    refused(rig.post(TASKS, "{\"dueAt\": \"tomorrow\"}"), 400, "invalid-field", "2026-11-21T09:30:00Z");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"maxAttempts\": \"3\"}"), 400, "invalid-field", "whole number");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"maxAttempts\": 0}"), 400, "invalid-field", "from 1 to 10000");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"maxAttempts\": 99999999999999}"), 400, "invalid-field");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"onConflict\": \"rest\"}"), 400, "invalid-field", "mean reset");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payloadBase64\": \"*\"}"), 400, "invalid-field", "Base64");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"headers\": {\"a\": 1}}"), 400, "invalid-field", "headers.a");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"headers\": {\"a\": \"b\\nc: d\"}}"), 400, "invalid-field");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"headers\": {\"Content-Length\": \"1\"}}"), 400, "invalid-field");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": 1, \"contentType\": \"a\\r\\nb\"}"), 400,
        "invalid-field");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": 1, \"payloadBase64\": \"\"}"), 400,
        "conflicting-fields", "not both");
    refused(rig.put("/v1/queues/orders/keys/k", "{\"delay\": \"1s\", \"headers\": {\"a\": \"b\"}}"), 400,
        "missing-field", "payload");
    refused(rig.post("/v1/queues/orders/keys:touch", "{\"keys\": \"k\", \"delay\": \"1s\"}"), 400, "invalid-field");
    refused(rig.post("/v1/queues/orders/keys:touch", "{\"keys\": [1], \"delay\": \"1s\"}"), 400, "invalid-field",
        "keys[0]");
    refused(rig.post("/v1/queues/orders/keys:touch", "{\"keys\": [\"a\", \"\"], \"delay\": \"1s\"}"), 400,
        "invalid-field", "keys[1]");
    refused(rig.post("/v1/queues/orders/keys:touch", "{\"delay\": \"1s\"}"), 400, "missing-field", "keys");
    refused(rig.post("/v1/queues/orders/claims", "{\"wait\": \"61s\"}"), 400, "invalid-field", "60s");
    refused(rig.post("/v1/queues/orders/claims", "{\"max\": 1001}"), 400, "invalid-field", "1000");
    refused(rig.post("/v1/queues/orders/redrive", "{\"limit\": 1, \"ids\": []}"), 400, "conflicting-fields",
        "not both");
    refused(rig.post("/v1/queues/orders/redrive", "{\"ids\": [\"x\"]}"), 400, "invalid-field", "ids[0]");
  }

  @Test
  void theAnswerAboutAnUnknownFieldNamesTheNearestOne() {
    Rig.Answer answer = refused(rig.post(TASKS, "{\"dealy\": \"1s\"}"), 400, "unknown-field", "dealy",
        "did you mean delay");
    assertThat(answer.text("nearest")).isEqualTo("delay");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"pay_load\": 1}"), 400, "unknown-field", "payload");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"zzz\": 1}"), 400, "unknown-field", "known are key, delay");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"idempotencyKey\": \"a\"}"), 400, "unknown-field", "header");
    refused(rig.put("/v1/queues/orders/keys/k", "{\"delay\": \"1s\", \"key\": \"k\"}"), 400, "unknown-field", "path");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}, \"retries\": {}}"), 400, "unknown-field",
        "retry");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}, \"retry\": {\"backof\": \"1s\"}}"), 400,
        "unknown-field", "backoff");
    refused(rig.post("/v1/tasks/00000000-0000-7000-8000-000000000000/ack", "{\"tokn\": \"1\"}"), 400, "unknown-field",
        "token");
  }

  @Test
  void aQueueWithInvalidSettingsIsRefused() {
    refused(rig.put("/v1/queues/q", "{}"), 400, "missing-field", "delivery");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"url\": \"http://x\"}}"), 400, "missing-field", "type");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\", \"url\": \"http://x\"}}"), 400,
        "invalid-field",
        "pull");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"carrier-pigeon\"}}"), 400, "invalid-request", "http");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"http\", \"url\": \"ftp://x/\"}}"), 400,
        "invalid-request");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://169.254.169.254/\"}}"), 400,
        "invalid-request");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}, \"priority\": 11}"), 400, "invalid-field");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}, \"rate\": 0}"), 400, "invalid-field", "rate");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\", \"timeout\": \"25h\"}}"), 400,
        "invalid-field");
    refused(rig.put("/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}, \"queue\": \"p\"}"), 400, "invalid-field");
    refused(rig.put("/v1/queues/-q", "{\"delivery\": {\"type\": \"pull\"}}"), 400, "invalid-request",
        "letter or digit");
    refused(rig.put("/v1/queues/" + "q".repeat(129), "{\"delivery\": {\"type\": \"pull\"}}"), 400, "invalid-request",
        "128");
  }

  @Test
  void aQueueMayHaveAReceiverWhoseNameDoesNotResolve() {
    Rig.Answer answer = rig.put("/v1/queues/early",
        "{\"delivery\": {\"type\": \"http\", \"url\": \"http://no.such.host.invalid/\"}}");
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
  }

  @Test
  void anInvalidKeyIsRefused() {
    refused(rig.put("/v1/queues/orders/keys/" + "k".repeat(257), "{\"delay\": \"1s\"}"), 400, "invalid-request", "256");
    refused(rig.put("/v1/queues/orders/keys/%00", "{\"delay\": \"1s\"}"), 400, "invalid-request", "control");
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"key\": \"\"}"), 400, "invalid-request", "256 bytes");
    assertThat(rig.send("GET", "/v1/queues/orders/keys/%ff", null, Map.of()).status()).isEqualTo(400);
    refused(rig.get("/v1/tasks/17"), 400, "invalid-request", "UUID");
  }

  @Test
  void theAnswerToARequestBeyondALimitNamesTheLimit() {
    String large = "\"" + "x".repeat(300_000) + "\"";
    Rig.Answer answer = refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": " + large + "}"), 413, "too-large",
        "262144");
    assertThat(answer.at("limit")).isEqualTo(new BigDecimal(262_144));
    refused(rig.post(TASKS, "{\"delay\": \"1s\", \"payload\": \"" + "x".repeat(2 << 20) + "\"}"), 413, "too-large",
        "262144");
    refused(rig.post(TASKS, "x".repeat(10 << 20)), 413, "too-large");
    StringBuilder keys = new StringBuilder("{\"delay\": \"1s\", \"keys\": [\"k\"");
    keys.append(",\"k\"".repeat(10_000));
    refused(rig.post("/v1/queues/orders/keys:touch", keys + "]}"), 413, "too-large", "10000");
    refused(rig.post("/v1/queues/orders/tasks:batch", "[" + "{\"delay\":\"1h\"},".repeat(10_000) + "{}]"), 413,
        "too-large", "10000");
    Rig.Answer batch = rig.post("/v1/queues/orders/tasks:batch", "[{\"delay\": \"1s\", \"payload\": " + large + "}]");
    assertThat(batch.text(0, "error", "type")).endsWith("too-large");
  }

  @Test
  void aBodyTooLargeForAnyCallIsRefusedUnread() {
    Rig.Answer answer = rig.send("POST", TASKS, null, Map.of());
    assertThat(answer.status()).isEqualTo(400);
    try (RawClient raw = new RawClient(rig.server.port())) {
      String refusal = raw
          .exchange("POST " + TASKS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + "Content-Length: 99999999999\r\n\r\n");
      assertThat(refusal).startsWith("HTTP/1.1 413").contains("application/problem+json", "limits.batch-body");
    }
  }

  @Test
  void requestsThatAreNotHttpAreRefused() {
    for (String request : List.of("GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET " + "/".repeat(9_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "y".repeat(20_000) + "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "NONSENSE\r\n\r\n")) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        assertThat(raw.exchange(request)).as(request.substring(0, 10)).startsWith("HTTP/1.1 4");
      }
    }
  }

  @Test
  void aWrongMethodIsAnsweredWithTheMethodsOfThePath() {
    Rig.Answer answer = refused(rig.delete(TASKS), 405, "method-not-allowed", "GET, POST");
    assertThat(answer.headers().get("allow")).isEqualTo("GET, POST, HEAD");
    refused(rig.get("/v1/queues/orders/pause"), 405, "method-not-allowed", "POST");
    assertThat(rig.send("OPTIONS", TASKS, null, Map.of()).status()).isEqualTo(405);
    assertThat(rig.send("HEAD", "/health/live", null, Map.of()).status()).isEqualTo(200);
  }

  @Test
  void theAnswerAboutAnUnknownPathNamesTheApiDescription() {
    for (String path : List.of("/v1", "/v1/queue", "/v1/queues/", "/v1/queues/orders/task", "/v2/queues",
        "/favicon.ico",
        "//", "/v1/queues//tasks", "/health")) {
      refused(rig.get(path), 404, "unknown-route", "/openapi.json");
    }
  }

  @Test
  void aBodyOfAnotherContentTypeIsRefused() {
    Rig.Answer answer = rig.call("POST", TASKS, "delay=1s", Map.of("Content-Type",
        "application/x-www-form-urlencoded"));
    refused(answer, 415, "unsupported-media-type", "-H 'Content-Type: application/json'");
    refused(rig.call("POST", "/v1/queues/orders/tasks:batch", "a,b", Map.of("Content-Type", "text/csv")), 415,
        "unsupported-media-type", "x-ndjson");
    refused(rig.call("POST", "/v1/queues/orders/tasks:batch", "[]", Map.of("Content-Type", "application/x-ndjson")),
        400,
        "invalid-request", "application/json");
    refused(rig.post("/v1/queues/orders/tasks:batch", "{\"delay\": \"1s\"}"), 400, "invalid-request", "x-ndjson");
    assertThat(rig.call("POST", TASKS, "{\"delay\": \"1h\"}", Map.of()).status()).isEqualTo(201);
  }

  @Test
  void anUnknownOrInvalidParameterIsRefused() {
    refused(rig.get(TASKS + "?sate=FAILED"), 400, "invalid-parameter", "did you mean state");
    refused(rig.get(TASKS + "?state=FAILD"), 400, "invalid-parameter", "FAILED");
    refused(rig.get(TASKS + "?limit=0"), 400, "invalid-parameter", "1000");
    refused(rig.get(TASKS + "?limit=x"), 400, "invalid-parameter");
    refused(rig.get(TASKS + "?limit=1&limit=2"), 400, "invalid-parameter", "once");
    refused(rig.get("/v1/queues?a=b"), 400, "invalid-parameter", "it has none");
    assertThat(rig.get(TASKS + "?cursor=nonsense").status()).isEqualTo(400);
  }

  @Test
  void aBodyIsRefusedByACallThatTakesNone() {
    refused(rig.post("/v1/queues/orders/pause", "{\"until\": \"tomorrow\"}"), 400, "invalid-request", "no body");
  }

  @Test
  void noMutilatedRequestMakesTheServerFail() {
    List<String> bodies = List.of(
        "{\"key\":\"a\\u00e9\",\"delay\":\"1h\",\"payload\":{\"a\":[1,2.5e3,true,null,\"x\"]},\"headers\":{\"h\":\"v\"}}",
        "[{\"delay\":\"1h\",\"payloadBase64\":\"AAEC\"},{\"dueAt\":\"2030-01-01T00:00:00Z\",\"maxAttempts\":3}]",
        "{\"keys\":[\"a\",\"b\"],\"delay\":\"PT1H\"}",
        "{\"delivery\":{\"type\":\"pull\"},\"retry\":{\"maxAttempts\":5,\"backoff\":\"1s\"},\"rate\":1.5}");
    List<String> paths = List.of(TASKS, "/v1/queues/orders/tasks:batch", "/v1/queues/orders/keys:touch",
        "/v1/queues/fuzzed");
    long seed = Long.getLong("foliot.seed", new Random().nextLong());
    Random random = new Random(seed);
    for (int i = 0; i < Integer.getInteger("foliot.fuzz", 3_000); i++) {
      int which = random.nextInt(paths.size());
      byte[] body = mutilate(bodies.get(random.nextInt(bodies.size())).getBytes(StandardCharsets.UTF_8), random);
      String type = random.nextInt(4) == 0 ? "application/x-ndjson" : "application/json";
      Rig.Answer answer = rig.sendBytes(which == 3 ? "PUT" : "POST", paths.get(which), body, Map.of("Content-Type",
          type));
      assertThat(answer.status()).as("seed=" + seed + ", i=" + i + ", body=" + new String(body, StandardCharsets.UTF_8)
          + ", answer=" + answer.body()).isLessThan(500);
      if (answer.status() >= 400) {
        assertThat(answer.text("detail")).isNotEmpty();
      }
    }
  }

  /** Changes a body at one to four random places. */
  private static byte[] mutilate(byte[] body, Random random) {
    byte[] bytes = body.clone();
    String marks = "{}[]\",:\\0x9e+-. \n\u0000";
    for (int i = random.nextInt(4); i >= 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(5)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes[at] = (byte) marks.charAt(random.nextInt(marks.length()));
        case 2 -> bytes = Arrays.copyOf(bytes, Math.max(1, at));
        case 3 -> bytes[at] = bytes[random.nextInt(bytes.length)];
        default -> {
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 8);
          System.arraycopy(bytes, at, longer, at + 8, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }
}
