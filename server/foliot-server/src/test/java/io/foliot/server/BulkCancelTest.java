package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests cancels of many tasks by a filter. */
class BulkCancelTest {
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start();
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static Rig.Answer cancel(String queue, String filter) {
    return rig.post("/v1/queues/" + queue + "/tasks:cancel", filter);
  }

  private static void submit(String queue, String key, String delay) {
    assertThat(rig.put("/v1/queues/" + queue + "/keys/" + key, "{\"delay\": \"" + delay + "\"}").status())
        .isEqualTo(201);
  }

  private static void assertCounts(Rig.Answer answer, int cancelled, int pending) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.at("cancelled")).isEqualTo(new BigDecimal(cancelled));
    assertThat(answer.at("pending")).isEqualTo(new BigDecimal(pending));
  }

  private static String state(String queue, String key) {
    return rig.get("/v1/queues/" + queue + "/keys/" + key).text("state");
  }

  @Test
  void anInstantOutOfRangeIsABadRequest() {
    for (String instant : List.of("-999999999-01-01T00:00:00Z", "+1000000000-12-31T23:59:59Z", "+10000-01-01T00:00:00Z",
        "-0001-12-31T23:59:59Z")) {
      Rig.Answer answer = rig.post("/v1/queues/filtered/tasks:cancel", "{\"dueBefore\": \"" + instant + "\"}");
      assertThat(answer.status()).as(instant + answer.body()).isEqualTo(400);
      assertThat(answer.text("field")).isEqualTo("dueBefore");
    }
  }

  @Test
  void aQueueIsEmptiedAndThenDeleted() {
    rig.withQueue("purged");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 2_500; i++) {
      lines.append("{\"delay\": \"1h\", \"payload\": ").append(i).append("}\n");
    }
    rig.call("POST", "/v1/queues/purged/tasks:batch", lines.toString(),
        Map.of("Content-Type", "application/x-ndjson"));
    assertThat(rig.delete("/v1/queues/purged").status()).isEqualTo(409);

    Rig.Answer answer = cancel("purged", "{\"all\": true}");
    int cancelled = 0;
    for (int calls = 1; answer.at("nextCursor") != null; calls++) {
      cancelled += Integer.parseInt(String.valueOf(answer.at("cancelled")));
      assertThat(calls).isLessThan(50);
      answer = cancel("purged", "{\"all\": true, \"cursor\": \"" + answer.text("nextCursor") + "\"}");
    }
    cancelled += Integer.parseInt(String.valueOf(answer.at("cancelled")));

    assertThat(cancelled).isEqualTo(2_500);
    assertCounts(cancel("purged", "{\"all\": true}"), 0, 0);
    assertThat(rig.delete("/v1/queues/purged").text("result")).isEqualTo("DELETED");
  }

  @Test
  void onlyTasksThatPassTheWholeFilterAreCancelled() {
    rig.withQueue("filtered");
    submit("filtered", "a-soon", "1h");
    submit("filtered", "a-late", "9h");
    submit("filtered", "b-soon", "1h");
    rig.post("/v1/queues/filtered/tasks", "{\"delay\": \"1h\"}");
    String before = Instant.now().plusSeconds(2 * 3_600).toString();

    assertCounts(cancel("filtered", "{\"keyPrefix\": \"a-\", \"dueBefore\": \"" + before + "\"}"), 1, 0);

    assertThat(state("filtered", "a-soon")).isEqualTo("CANCELLED");
    assertThat(state("filtered", "a-late")).isEqualTo("DELAYED");
    assertThat(state("filtered", "b-soon")).isEqualTo("DELAYED");
    // The description has the states in capitals, as answers show them.
    assertCounts(rig.send("POST", "/v1/queues/filtered/tasks:cancel", "{\"states\": [\"ready\", \"RUNNING\"]}",
        Map.of("Content-Type", "application/json")), 0, 0);
    assertCounts(cancel("filtered", "{\"states\": [\"DELAYED\"]}"), 3, 0);
  }

  @Test
  void aRunningTaskIsPendingUntilItsAttemptEnds() {
    rig.withQueue("running");
    submit("running", "r", "0s");
    submit("running", "d", "1h");
    Rig.Answer claim = rig.post("/v1/queues/running/claims", "{\"wait\": \"10s\"}");
    assertThat(claim.list("tasks")).hasSize(1);

    assertCounts(cancel("running", "{\"all\": true}"), 1, 1);

    assertThat(rig.get("/v1/queues/running/keys/r").at("cancelRequested")).isEqualTo(true);
    assertCounts(cancel("running", "{\"all\": true}"), 0, 1);
    rig.post("/v1/tasks/" + claim.text("tasks", 0, "id") + "/nack",
        "{\"token\": \"" + claim.text("tasks", 0, "token") + "\"}");
    assertThat(state("running", "r")).isEqualTo("CANCELLED");
    assertCounts(cancel("running", "{\"all\": true}"), 0, 0);
  }

  @Test
  void aLimitEndsTheCallAndTheCursorContinues() {
    rig.withQueue("limited");
    for (int i = 0; i < 5; i++) {
      submit("limited", "k" + i, "1h");
    }
    Rig.Answer first = cancel("limited", "{\"keyPrefix\": \"k\", \"limit\": 3}");
    assertCounts(first, 3, 0);
    Rig.Answer rest = cancel("limited",
        "{\"keyPrefix\": \"k\", \"cursor\": \"" + first.text("nextCursor") + "\"}");
    assertCounts(rest, 2, 0);
    assertThat(rest.at("nextCursor")).isNull();
  }

  @Test
  void aCancelWithoutAValidFilterIsRefused() {
    rig.withQueue("kept");
    submit("kept", "k", "1h");
    for (String body : new String[]{"{}", "{\"limit\": 10}", "{\"all\": false}"}) {
      Rig.Answer answer = cancel("kept", body);
      assertThat(answer.status()).as(body).isEqualTo(400);
      assertThat(answer.problem()).isEqualTo("missing-field");
      assertThat(answer.text("field")).isEqualTo("all");
    }
    Rig.Answer state = cancel("kept", "{\"states\": [\"FINISHED\"]}");
    assertThat(state.status()).isEqualTo(400);
    assertThat(state.text("field")).isEqualTo("states[0]");
    assertThat(cancel("kept", "{\"states\": []}").text("field")).isEqualTo("states");
    Rig.Answer both = cancel("kept", "{\"all\": true, \"keyPrefix\": \"k\"}");
    assertThat(both.text("field")).isEqualTo("all");
    Rig.Answer cursor = cancel("kept", "{\"all\": true, \"cursor\": \"nonsense\"}");
    assertThat(cursor.status()).as(cursor.body()).isEqualTo(400);
    assertThat(cursor.text("field")).isEqualTo("cursor");
    assertThat(cancel("nowhere", "{\"all\": true}").problem()).isEqualTo("unknown-queue");
    assertThat(state("kept", "k")).isEqualTo("DELAYED");
  }

  @Test
  void onlyAnAdministratorKeyOfTheQueueCancelsByFilter() {
    try (Rig guarded = Rig.start()) {
      String admin = guarded.post("/v1/keys", "{\"actions\": [\"read\", \"submit\", \"admin\"], \"queues\": [\"*\"]}")
          .text("key");
      guarded.as(admin).withQueue("mine").withQueue("theirs");
      String submitter = guarded.post("/v1/keys", "{\"actions\": [\"submit\", \"read\"], \"queues\": [\"*\"]}")
          .text("key");
      String other = guarded.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"mine\"]}").text("key");
      String all = "{\"all\": true}";
      assertThat(guarded.as(submitter).post("/v1/queues/mine/tasks:cancel", all).status()).isEqualTo(403);
      assertThat(guarded.as(other).post("/v1/queues/theirs/tasks:cancel", all).problem()).isEqualTo("unknown-queue");
      assertThat(guarded.as(other).post("/v1/queues/mine/tasks:cancel", all).status()).isEqualTo(200);
    }
  }
}
