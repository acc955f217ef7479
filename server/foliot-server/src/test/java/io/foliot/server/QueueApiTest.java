package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import io.foliot.api.QueueConfig;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the answers to calls about queues. */
class QueueApiTest {
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start();
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  @Test
  void theSettingsOfAQueueAreStoredAndShown() {
    Rig.Answer created = rig.put("/v1/queues/contract", """
        {"delivery": {"type": "http", "url": "http://127.0.0.1:9/x", "timeout": "10s", "secret": "%s"},
         "retry": {"maxAttempts": 5, "backoff": "1s", "multiplier": 2, "maxBackoff": "10m", "jitter": 0.2},
         "priority": 0, "rate": 100, "concurrency": 50, "maxWait": "1h",
         "retention": {"finished": "1h", "failed": "14d"}, "paused": false}""".formatted(SECRET));

    assertThat(created.status()).as(created.body()).isEqualTo(201);
    Rig.Answer found = rig.get("/v1/queues/contract");
    assertThat(found.text("delivery", "url")).isEqualTo("http://127.0.0.1:9/x");
    assertThat(found.text("delivery", "timeout")).isEqualTo("10s");
    assertThat(found.at("retry", "jitter")).isEqualTo(new BigDecimal("0.2"));
    assertThat(found.at("rate")).isEqualTo(new BigDecimal(100));
    assertThat(found.text("maxWait")).isEqualTo("1h");
    assertThat(found.text("retention", "failed")).isEqualTo("14d");
    assertThat(found.at("stats", "counts", "delayed")).isEqualTo(BigDecimal.ZERO);
  }

  @Test
  void aSecretIsMaskedAndAPutOfTheMaskKeepsTheSecret() {
    String queue = "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\", \"secret\": \"%s\"}}";
    Rig.Answer created = rig.put("/v1/queues/masked", queue.formatted(SECRET));
    Rig.Answer found = rig.get("/v1/queues/masked");
    assertThat(created.body() + found.body() + rig.get("/v1/queues").body()).doesNotContain(SECRET);
    assertThat(found.text("delivery", "secret")).isEqualTo("***");

    Rig.Answer sentBack = rig.put("/v1/queues/masked", found.body());
    assertThat(sentBack.status()).as(sentBack.body()).isEqualTo(200);
    assertThat(rig.server.scheduler().queue("masked").orElseThrow().target().settings()).containsEntry("secret",
        SECRET);

    Rig.Answer nothingToKeep = rig.put("/v1/queues/fresh", queue.formatted("***"));
    assertThat(nothingToKeep.status()).isEqualTo(400);
    assertThat(nothingToKeep.text("field")).isEqualTo("delivery.secret");
  }

  @Test
  void theMaskKeepsTheSecretOfTheStore() {
    String queue = "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\", \"secret\": \"%s\"}}";
    String newer = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    rig.put("/v1/queues/rotated", queue.formatted(SECRET));
    QueueConfig old = rig.server.scheduler().queue("rotated").orElseThrow();
    rig.put("/v1/queues/rotated", queue.formatted(newer));
    rig.knownQueue = old;
    Rig.Answer answer = rig.put("/v1/queues/rotated", queue.formatted("***"));
    rig.knownQueue = null;
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(rig.server.scheduler().queue("rotated").orElseThrow().target().settings()).containsEntry("secret",
        newer);
  }

  @Test
  void aQueueIsPausedResumedListedAndDeleted() {
    rig.withQueue("temporary");
    assertThat(rig.call("POST", "/v1/queues/temporary/pause", null, Map.of()).at("paused")).isEqualTo(true);
    assertThat(rig.get("/v1/queues/temporary").at("paused")).isEqualTo(true);
    assertThat(rig.call("POST", "/v1/queues/temporary/resume", "{}", Map.of()).at("paused")).isEqualTo(false);
    assertThat(rig.get("/v1/queues").body()).contains("\"queue\":\"temporary\"");
    assertThat(rig.delete("/v1/queues/temporary").text("result")).isEqualTo("DELETED");
    assertThat(rig.delete("/v1/queues/temporary").problem()).isEqualTo("unknown-queue");
  }

  @Test
  void aQueueWithLiveTasksIsNotDeleted() {
    rig.withQueue("busy").put("/v1/queues/busy/keys/k", "{\"delay\": \"1h\"}");
    Rig.Answer answer = rig.delete("/v1/queues/busy");
    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.problem()).isEqualTo("queue-in-use");
  }

  @Test
  void failedTasksAreRedriven() {
    rig.put("/v1/queues/failing", "{\"delivery\": {\"type\": \"pull\"}, \"retry\": {\"maxAttempts\": 1}}");
    String first = fail("failing", "r1");
    String second = fail("failing", "r2");
    rig.put("/v1/queues/failing/keys/r2", "{\"delay\": \"1h\"}");

    Rig.Answer conflict = rig.post("/v1/queues/failing/redrive", "{\"ids\": [\"" + second + "\"]}");
    assertThat(conflict.status()).as(conflict.body()).isEqualTo(409);
    assertThat(conflict.problem()).isEqualTo("key-in-use");
    Rig.Answer all = rig.call("POST", "/v1/queues/failing/redrive", null, Map.of());
    assertThat(all.at("redriven")).isEqualTo(BigDecimal.ONE);
    assertThat(all.at("conflicts")).isEqualTo(List.of(second));
    assertThat(all.at("more")).isEqualTo(false);
    assertThat(rig.get("/v1/tasks/" + first).text("state")).isIn("READY", "DELAYED");
    assertThat(rig.post("/v1/queues/failing/redrive", "{\"ids\": [\"" + first + "\"]}").problem()).isEqualTo(
        "not-failed");
    assertThat(rig.post("/v1/queues/failing/redrive", "{\"ids\": [\"00000000-0000-7000-8000-000000000000\"]}")
        .problem()).isEqualTo("unknown-task");
  }

  private static String fail(String queue, String key) {
    rig.post("/v1/queues/" + queue + "/tasks", "{\"key\": \"" + key + "\", \"delay\": \"0s\"}");
    Rig.Answer claim = rig.post("/v1/queues/" + queue + "/claims", "{\"wait\": \"10s\"}");
    String id = claim.text("tasks", 0, "id");
    Rig.Answer nack = rig.post("/v1/tasks/" + id + "/nack",
        "{\"token\": \"" + claim.text("tasks", 0, "token") + "\", \"reason\": \"broken\"}");
    assertThat(nack.text("state")).isEqualTo("FAILED");
    assertThat(rig.get("/v1/tasks/" + id).text("attempts", 0, "outcome")).isEqualTo("FAILED");
    return id;
  }

  @Test
  void theClusterShowsTheDurabilityOfTheStore() {
    Rig.Answer cluster = rig.get("/v1/cluster");
    assertThat(cluster.text("store", "kind")).isEqualTo("memory");
    assertThat(cluster.text("store", "durability")).isEqualTo("NONE");
    assertThat(cluster.at("nodes")).asInstanceOf(LIST).hasSize(1);
    assertThat(cluster.text("nodes", 0, "node")).isEqualTo("test");
    assertThat(cluster.at("nodes", 0, "slots")).hasToString("256");
    assertThat(cluster.at("nodes", 0, "takesSlots")).isEqualTo(true);
  }
}
