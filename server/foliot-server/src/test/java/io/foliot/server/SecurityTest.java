package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.foliot.server.api.Route;
import io.foliot.server.security.Action;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Tests API keys: the actions and the queues of a key, and which requests need a key. */
class SecurityTest {
  private static final String NO_TASK = "00000000-0000-7000-8000-000000000000";

  private final Rig rig = Rig.start().withQueue("mine").withQueue("theirs");

  @AfterEach
  void stop() {
    rig.close();
  }

  /**
   * Creates a key and returns it. The first key must be able to administer the server. A key is {@code flt_}, an id of
   * 12 characters, {@code _}, and a secret.
   */
  private String key(String actions, String queues) {
    Rig.Answer answer = rig.post("/v1/keys", "{\"actions\": [" + actions + "], \"queues\": [" + queues + "]}");
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    assertThat(answer.text("key")).matches("flt_[a-z0-9]{12}_[A-Za-z0-9_-]{43}");
    return answer.text("key");
  }

  /** Creates an administrator key, and uses it for all later requests. From then on, only open routes need no key. */
  private String lock() {
    String admin = key("\"admin\"", "\"*\"");
    rig.as(admin);
    return admin;
  }

  private static String path(Route route, String queue, String task) {
    return route.path().replace("{queue}", queue).replace("{key}", "k").replace("{id}", task)
        .replace("{job}", "job").replace("{time}", "2026-01-01T00:00:00Z").replace("{name}", "calendar")
        .replace("{worker}", "worker");
  }

  private Rig.Answer call(Route route, String queue, String task) {
    String body = route.method().equals("GET") || route.method().equals("DELETE") ? null : "{}";
    return rig.send(route.method(), path(route, queue, task), body, Map.of("Content-Type", "application/json"));
  }

  @Test
  void theAuditLogNamesNewKeysAndCountsCancelledTasks() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger audit = (Logger) LoggerFactory.getLogger("foliot.audit");
    lines.start();
    audit.addAppender(lines);
    try {
      lock();
      Rig.Answer created = rig.post("/v1/keys", "{\"actions\": [\"read\"], \"queues\": [\"shop-*\"]}");
      rig.withQueue("shop-1").put("/v1/queues/shop-1/keys/k", "{\"delay\": \"1h\"}");
      rig.post("/v1/queues/shop-1/tasks:cancel", "{\"all\": true}");
      List<String> objects = List.copyOf(lines.list).stream().filter(line -> line.getKeyValuePairs() != null)
          .flatMap(line -> line.getKeyValuePairs().stream()).filter(pair -> pair.key.equals("objects"))
          .map(pair -> String.valueOf(pair.value)).toList();
      assertThat(objects).anySatisfy(text -> assertThat(text).contains("id=" + created.text("id"), "READ", "shop-*"))
          .anySatisfy(text -> assertThat(text).contains("queue=shop-1", "cancelled=1", "pending=0"));
      assertThat(objects).allSatisfy(text -> assertThat(text).doesNotContain(created.text("key")));
    } finally {
      audit.detachAppender(lines);
    }
  }

  @Test
  void theNameOfAWorkerCannotForgeALineOfTheAuditLog() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger audit = (Logger) LoggerFactory.getLogger("foliot.audit");
    lines.start();
    audit.addAppender(lines);
    try {
      lock();
      rig.call("POST", "/v1/workers/w%0Aact=CREATE_KEY%1B%5B2J/disable", null, Map.of());
      assertThat(List.copyOf(lines.list)).anySatisfy(line -> assertThat(String.valueOf(line.getKeyValuePairs()))
          .contains("DISABLE_WORKER", "worker=w?act=CREATE_KEY?[2J", "unknown-worker").doesNotContain("\n", "\u001b"));
    } finally {
      audit.detachAppender(lines);
    }
  }

  @Test
  void withoutAKeyOnlyOpenRoutesAnswer() {
    lock();
    rig.as(null);
    for (Route route : Route.values()) {
      int status = call(route, "mine", NO_TASK).status();
      if (route.action() == null) {
        assertThat(status).as(route.name()).isEqualTo(200);
      } else {
        assertThat(status).as(route.name()).isEqualTo(401);
      }
    }
    assertThat(rig.send("GET", "/nowhere", null, Map.of()).status()).isEqualTo(401);
    assertThat(rig.send("PATCH", "/v1/queues/mine", null, Map.of()).status()).isEqualTo(401);
  }

  @Test
  void aKeyWithoutTheActionIsRefusedOnEveryRoute() {
    String admin = lock();
    for (Action missing : Action.values()) {
      String others = missing == Action.ADMIN
          ? "\"read\", \"submit\", \"consume\""
          : missing == Action.READ ? "\"submit\"" : "\"read\"";
      rig.as(admin).as(key(others, "\"*\""));
      for (Route route : Route.values()) {
        if (route.action() == missing) {
          Rig.Answer answer = call(route, "mine", NO_TASK);
          assertThat(answer.status()).as(route.name()).isEqualTo(403);
          assertThat(answer.text("detail")).contains(missing.name().toLowerCase(Locale.ROOT));
        }
      }
    }
  }

  @Test
  void aKeySeesOnlyTheQueuesThatItCovers() {
    String task = rig.post("/v1/queues/theirs/tasks", "{\"delay\": \"1h\", \"key\": \"k\"}").text("id");
    lock();
    String admin = key("\"admin\"", "\"mine\", \"shop.*\"");
    rig.as(admin);
    for (Route route : Route.values()) {
      if (route.path().contains("{queue}")) {
        Rig.Answer answer = call(route, "theirs", task);
        assertThat(answer.status()).as(route.name()).isEqualTo(404);
        assertThat(answer.problem()).as(route.name()).isEqualTo("unknown-queue");
        assertThat(answer.text("detail")).as(route.name()).contains("this API key covers no queue theirs");
      } else if (route.path().contains("/tasks/{id}")) {
        Rig.Answer answer = call(route, "theirs", task);
        assertThat(answer.status()).as(route.name()).isEqualTo(404);
        assertThat(answer.problem()).as(route.name()).isEqualTo("unknown-task");
      } else if (route.action() == Action.ADMIN || route == Route.METRICS) {
        assertThat(call(route, "theirs", task).status()).as(route.name()).isEqualTo(403);
      }
    }
    assertThat(rig.get("/v1/queues").list("queues")).hasSize(1);
    assertThat(rig.get("/v1/queues").body()).doesNotContain("theirs");
    assertThat(rig.withQueue("shop.eu").get("/v1/queues/shop.eu").status()).isEqualTo(200);
    String own = rig.post("/v1/queues/mine/tasks", "{\"delay\": \"1h\"}").text("id");
    assertThat(rig.get("/v1/tasks/" + own).status()).isEqualTo(200);
    assertThat(rig.delete("/v1/tasks/" + own).text("result")).isEqualTo("CANCELLED");
  }

  @Test
  void aKeyNamesItsQueues() {
    lock();
    for (String queues : List.of("", ", \"queues\": []", ", \"queues\": null")) {
      Rig.Answer answer = rig.post("/v1/keys", "{\"actions\": [\"read\"]" + queues + "}");
      assertThat(answer.status()).as(queues + answer.body()).isEqualTo(400);
      assertThat(answer.text("field")).isEqualTo("queues");
    }
    assertThat(rig.get("/v1/keys").list("keys")).hasSize(1);
  }

  /** Returns the lines that the audit log writes during some calls. */
  private static List<String> audited(Runnable calls) {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger audit = (Logger) LoggerFactory.getLogger("foliot.audit");
    lines.start();
    audit.addAppender(lines);
    try {
      calls.run();
      return List.copyOf(lines.list).stream().map(line -> String.valueOf(line.getKeyValuePairs())).toList();
    } finally {
      audit.detachAppender(lines);
    }
  }

  @Test
  void refusedActsDoNotFillTheAuditLog() {
    lock();
    rig.as(key("\"submit\"", "\"mine\""));
    String name = "q".repeat(3_900);
    List<String> lines = audited(() -> {
      for (int i = 0; i < 200; i++) {
        assertThat(rig.send("PUT", "/v1/queues/" + name, "{}", Map.of()).status()).isEqualTo(403);
      }
    });
    assertThat(lines).hasSizeBetween(1, 20).allSatisfy(line -> assertThat(line).hasSizeLessThan(1_000)
        .contains("refused: ", "forbidden"));
  }

  @Test
  void theAuditLogHasTheSettingsBeforeAndAfterAChangeWithoutSecrets() {
    String url = "http://127.0.0.1:9/services/T0123456789abcdefX/hook?token=tokenofurl";
    String queue = "{\"delivery\": {\"type\": \"http\", \"url\": \"" + url + "\", \"secret\": \"whsec_"
        + "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0\"}, \"priority\": 3}";
    List<String> lines = audited(() -> {
      rig.put("/v1/queues/hooks", queue);
      rig.call("PATCH", "/v1/queues/hooks", "{\"priority\": 4}", Map.of("Content-Type", "application/json"));
      rig.delete("/v1/queues/hooks");
    });
    assertThat(lines).hasSize(3).allSatisfy(line -> assertThat(line).doesNotContain("c2VjcmV0", "tokenofurl",
        "T0123456789abcdefX"));
    assertThat(lines.get(0)).contains("before=none", "\"priority\":3");
    assertThat(lines.get(1)).contains("\"priority\":3", "\"priority\":4");
    assertThat(lines.get(2)).contains("before=", "\"priority\":4");
  }

  @Test
  void theAuditLogHasChangesOfJobs() {
    List<String> lines = audited(() -> {
      rig.put("/v1/jobs/nightly", "{\"queue\": \"mine\", \"schedule\": {\"every\": \"1h\"}}");
      rig.call("POST", "/v1/jobs/nightly/pause", null, Map.of());
      rig.delete("/v1/jobs/nightly");
      rig.get("/v1/jobs/nightly");
    });
    assertThat(lines).hasSize(3).allSatisfy(line -> assertThat(line).contains("job=nightly"));
    assertThat(lines.get(2)).contains("DELETE_JOB", "outcome=\"done");
  }

  @Test
  void theAuditLogHasJobsBeforeAndAfterAChangeWithoutParameters() {
    List<String> lines = audited(() -> {
      rig.put("/v1/jobs/nightly",
          "{\"queue\": \"mine\", \"schedule\": {\"every\": \"1h\"}, \"parameter\": \"s3cr3t\"}");
      rig.call("PATCH", "/v1/jobs/nightly", "{\"schedule\": {\"every\": \"2h\"}}",
          Map.of("Content-Type", "application/json"));
      rig.call("POST", "/v1/jobs/nightly/pause", "{\"reason\": \"freeze\"}",
          Map.of("Content-Type", "application/json"));
      rig.delete("/v1/jobs/nightly?runs=cancel");
      rig.send("POST", "/v1/jobs:batch", """
          {"job": "b1", "queue": "mine", "schedule": {"every": "1h"}}
          {"job": "b2"}
          """, Map.of("Content-Type", "application/x-ndjson"));
    });
    assertThat(lines).hasSize(5).allSatisfy(line -> assertThat(line).doesNotContain("s3cr3t"));
    assertThat(lines.get(0)).contains("before=none", "\"every\":\"1h\"", "\"parameter\":\"***\"");
    assertThat(lines.get(1)).containsSubsequence("before=", "\"1h\"", "after=", "\"2h\"");
    assertThat(lines.get(2)).contains("state=PAUSED", "reason=freeze");
    assertThat(lines.get(3)).contains("before={\"state\":\"PAUSED\"", "runs=cancel");
    assertThat(lines.get(4)).contains("lines=2", "b1 in mine {\"every\":\"1h\"", "refused ", "missing-field");
  }

  @Test
  void aKeyThatMayNotReadGetsNothingThatOthersHaveWritten() {
    String admin = lock();
    for (Action only : List.of(Action.SUBMIT, Action.CONSUME)) {
      String key = key('"' + only.name().toLowerCase(Locale.ROOT) + '"', "\"mine\"");
      for (Route route : Route.values()) {
        // A claim is the way in which a worker gets the payload.
        if (route.action() == only && route != Route.CLAIM) {
          assertThat(rig.put("/v1/jobs/job", "{\"queue\": \"mine\", \"schedule\": {\"every\": \"1h\"},"
              + " \"parameter\": {\"pw\": \"s3cr3t\"}, \"shards\": 1, \"shardParameters\": [\"s3cr3t\"]}").status())
              .isIn(200, 201);
          String task = rig.post("/v1/queues/mine/tasks", "{\"delay\": \"1h\", \"key\": \"k\", \"payload\":"
              + " \"s3cr3t\", \"headers\": {\"x-a\": \"s3cr3t\"}}").text("id");
          rig.as(key);
          assertThat(call(route, "mine", task).body()).as(route.name()).doesNotContain("s3cr3t");
          rig.as(admin);
        }
      }
    }
  }

  @Test
  void aLineOfTheAuditLogShowsNoMarksOfText() {
    List<String> lines = audited(() -> rig.call("POST", "/v1/workers/w%E2%80%A8x%E2%80%AEy%EF%BB%BFz/disable", null,
        Map.of()));
    assertThat(lines).singleElement().asString().contains("worker=w?x?y?z");
  }

  @Test
  void aReaderSeesNoCredentialsOfTasksAndNoTokensOfUrls() {
    rig.put("/v1/queues/mine", "{\"delivery\": {\"type\": \"http\", \"url\":"
        + " \"http://127.0.0.1:9/services/T0123456789abcdefX/hook?key=tokenofurl\"}}");
    String task = rig.post("/v1/queues/mine/tasks", "{\"delay\": \"1h\", \"key\": \"k\", \"payload\": 1, \"headers\":"
        + " {\"authorization\": \"Bearer victim\", \"X-Api-Key\": \"victim\", \"x-tenant\": \"shop\"}}").text("id");
    String admin = lock();
    rig.as(key("\"read\"", "\"mine\""));
    for (String path : List.of("/v1/tasks/" + task, "/v1/queues/mine/tasks", "/v1/queues/mine/keys/k", "/v1/queues",
        "/v1/queues/mine")) {
      assertThat(rig.get(path).body()).as(path).doesNotContain("victim", "tokenofurl", "T0123456789abcdefX");
    }
    assertThat(rig.get("/v1/tasks/" + task).at("headers", "x-tenant")).isEqualTo("shop");
    assertThat(rig.get("/v1/queues/mine").text("delivery", "url"))
        .isEqualTo("http://127.0.0.1:9/services/***/hook?***");
    assertThat(rig.as(admin).get("/v1/queues/mine").text("delivery", "url")).contains("tokenofurl");
  }

  @Test
  void theFirstKeyMustBeAnAdministrator() {
    Rig.Answer answer = rig.post("/v1/keys", "{\"actions\": [\"read\"], \"queues\": [\"*\"]}");
    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.problem()).isEqualTo("last-key");
    assertThat(rig.get("/v1/queues").status()).isEqualTo(200);
  }

  @Test
  void theLastAdministratorKeyStaysWhileOtherKeysExist() {
    String admin = lock();
    String reader = key("\"read\"", "\"*\"");
    String adminId = admin.substring(4, 16);
    assertThat(rig.delete("/v1/keys/" + adminId).problem()).isEqualTo("last-key");
    assertThat(rig.delete("/v1/keys/" + reader.substring(4, 16)).status()).isEqualTo(200);
    assertThat(rig.delete("/v1/keys/nokey").problem()).isEqualTo("unknown-key");
    Rig.Answer last = rig.delete("/v1/keys/" + adminId);
    assertThat(last.problem()).isEqualTo("last-key");
    assertThat(last.text("detail")).contains("--access open");
  }

  @Test
  void theRemovalOfTheLastKeyOpensOnlyAServerWhoseOperatorPermitsIt() {
    try (Rig open = Rig.start(Map.of("access", "open"))) {
      String admin = open.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
      assertThat(open.get("/v1/queues").status()).isEqualTo(401);
      assertThat(open.as(admin).delete("/v1/keys/" + admin.substring(4, 16)).status()).isEqualTo(200);
      assertThat(open.as(null).get("/v1/queues").status()).isEqualTo(200);
    }
  }

  @Test
  void keysAreListedWithoutTheirSecrets() {
    String admin = lock();
    Rig.Answer list = rig.get("/v1/keys");
    assertThat(list.text("keys", 0, "id")).isEqualTo(admin.substring(4, 16));
    assertThat(list.body()).doesNotContain(admin.substring(17)).doesNotContain("sha256").doesNotContain("\"key\"");
  }

  @Test
  void anExpiredOrRemovedKeyIsRefused() {
    lock();
    Rig.Answer expired = rig.post("/v1/keys",
        "{\"actions\": [\"read\"], \"queues\": [\"*\"], \"expiresAt\": \"2020-01-01T00:00:00Z\"}");
    Rig.Answer removed = rig.post("/v1/keys",
        "{\"actions\": [\"read\"], \"queues\": [\"*\"], \"expiresIn\": \"30d\", \"note\": \"x\"}");
    rig.delete("/v1/keys/" + removed.text("id"));
    for (String text : List.of(expired.text("key"), removed.text("key"), "flt_aaaaaaaaaaaa_" + "a".repeat(43), "x")) {
      assertThat(rig.as(text).get("/v1/queues").status()).isEqualTo(401);
    }
  }

  @Test
  void anInvalidAuthorizationIsRefused() {
    String admin = lock();
    rig.as(null);
    for (String value : List.of("", "Bearer", "Bearer ", "Basic " + admin, admin, "Bearer x" + admin,
        "Bearer " + admin.substring(0, admin.length() - 1))) {
      Rig.Answer answer = rig.call("GET", "/v1/queues", null, Map.of("Authorization", value));
      assertThat(answer.status()).as(value).isEqualTo(401);
      assertThat(answer.headers()).containsEntry("www-authenticate", "Bearer");
    }
    assertThat(rig.call("GET", "/v1/queues", null, Map.of("Authorization", "bearer " + admin)).status()).isEqualTo(200);
  }

  @Test
  void anOpenServerRefusesWebPagesOfOtherSites() {
    for (String host : List.of("evil.example", "evil.example:7400", "localhost.evil.example", "127.0.0.1.evil.example",
        "10.0.0.1", "[::2]")) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        assertThat(raw.exchange("GET /v1/queues HTTP/1.1\r\nHost: " + host + "\r\n\r\n")).as(host)
            .startsWith("HTTP/1.1 403").contains("foreign-host");
      }
    }
    for (String host : List.of("localhost", "LOCALHOST:7400", "127.0.0.1:1", "127.9.9.9", "[::1]:7400")) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        assertThat(raw.exchange("GET /v1/queues HTTP/1.1\r\nHost: " + host + "\r\n\r\n")).as(host)
            .startsWith("HTTP/1.1 200");
      }
    }
    for (String origin : List.of("https://evil.example", "null", "http://localhost.evil.example", "evil")) {
      assertThat(rig.call("POST", "/v1/queues/mine/pause", null, Map.of("Origin", origin)).problem()).as(origin)
          .isEqualTo("foreign-host");
    }
    assertThat(rig.call("GET", "/v1/queues", null, Map.of("Origin", "http://localhost:3000")).status()).isEqualTo(200);
  }
}
