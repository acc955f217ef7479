package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests listeners of runs: the definition, the tasks that a worker claims, and the records of runs. */
final class RunListenerApiTest {
  private static final String BOTH = ", \"runListeners\": [\"after\", \"before\"]";

  private final Rig rig = Rig.start().withQueue("orders");

  @AfterEach
  void stop() {
    rig.close();
  }

  private Rig.Answer put(String more) {
    return rig.put("/v1/jobs/report",
        "{\"queue\": \"orders\", \"schedule\": {\"cron\": \"0 0 1 1 *\"}" + more + "}");
  }

  private Rig.Answer claim() {
    Rig.Answer claimed = rig.post("/v1/queues/orders/claims",
        "{\"max\": 1, \"wait\": \"10s\", \"worker\": \"w\"}");
    assertThat(claimed.list("tasks")).as(claimed.body()).hasSize(1);
    return claimed;
  }

  private void end(Rig.Answer claimed, String how, String more) {
    Rig.Answer ended = rig.post("/v1/tasks/" + claimed.text("tasks", 0, "id") + "/" + how,
        "{\"token\": \"" + claimed.text("tasks", 0, "token") + "\"" + more + "}");
    assertThat(ended.status()).as(ended.body()).isEqualTo(200);
  }

  private static String header(Rig.Answer claimed, String name) {
    return claimed.text("tasks", 0, "headers", name);
  }

  private Rig.Answer runs(String wanted) {
    return rig.eventually("/v1/jobs/report/runs", answer -> answer.body().contains(wanted));
  }

  @Test
  void listenersArePutReadAndSentBack() {
    assertThat(put(BOTH).status()).isEqualTo(201);
    Rig.Answer got = rig.get("/v1/jobs/report");
    assertThat(got.list("runListeners")).hasToString("[before, after]");
    Rig.Answer again = rig.put("/v1/jobs/report", got.body());
    assertThat(again.status()).as(again.body()).isEqualTo(200);
    assertThat(again.at("version")).hasToString("1");
    assertThat(put("").body()).doesNotContain("runListeners");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "\"runListeners\": [\"shards\"] | before, after, or both",
      "\"runListeners\": \"after\" | an array of strings",
      "\"runListeners\": [\"before\", \"after\", \"after\"] | at most 2 strings"})
  void invalidListenersAreRefused(String field, String detail) {
    Rig.Answer refused = put(", " + field);
    assertThat(refused.status()).as(refused.body()).isBetween(400, 499);
    assertThat(refused.text("field")).startsWith("runListeners");
    assertThat(refused.text("detail")).contains(detail);
  }

  @Test
  void aWorkerTakesTheTasksOfTheListeners() {
    put(BOTH + ", \"shards\": 2");
    rig.post("/v1/jobs/report/trigger", "");
    Rig.Answer before = claim();
    assertThat(header(before, "foliot-phase")).isEqualTo("before");
    assertThat(header(before, "foliot-shards")).isEqualTo("2");
    assertThat(rig.get("/v1/jobs/report/runs").text("runs", 0, "phase")).isEqualTo("before");
    end(before, "ack", "");
    Rig.Answer first = claim();
    Rig.Answer second = claim();
    assertThat(first.body() + second.body()).doesNotContain("foliot-phase");
    assertThat(rig.get("/v1/jobs/report/runs").text("runs", 0, "phase")).isEqualTo("shards");
    end(first, "ack", "");
    end(second, "nack", ", \"final\": true, \"reason\": \"planned\"");
    Rig.Answer after = claim();
    assertThat(header(after, "foliot-phase")).isEqualTo("after");
    assertThat(header(after, "foliot-run-result")).isEqualTo("FAILED");
    assertThat(header(after, "foliot-run-failed")).isEqualTo("1");
    assertThat(header(after, "foliot-scheduled-at")).isEqualTo(header(before, "foliot-scheduled-at"));
    assertThat(rig.get("/v1/jobs/report/runs").text("runs", 0, "phase")).isEqualTo("after");
    end(after, "nack", ", \"final\": true, \"reason\": \"planned\"");
    Rig.Answer ended = runs("endedAt");
    assertThat(ended.text("runs", 0, "result")).isEqualTo("FAILED");
    assertThat(ended.at("runs", 0, "failed")).hasToString("1");
    assertThat(ended.list("runs", 0, "failedListeners")).hasToString("[after]");
  }

  @Test
  void aJobExplainsThatItsRunWaitsForAListener() {
    // No receiver listens on port 1, so the task is retried.
    rig.put("/v1/queues/calls", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:1/x\"}}");
    rig.put("/v1/jobs/called", "{\"queue\": \"calls\", \"schedule\": {\"cron\": \"0 0 1 1 *\"}" + BOTH + "}");
    rig.post("/v1/jobs/called/trigger", "");
    rig.eventually("/v1/jobs/called/explain",
        answer -> answer.text("reason").contains("waits for its listener, which runs before the shards"));
  }

  @Test
  void theListenerOfAStoppedRunGetsItsResult() {
    put(", \"runListeners\": [\"after\"]");
    Rig.Answer trigger = rig.post("/v1/jobs/report/trigger", "");
    String time = trigger.text("times", 0);
    runs("RUNNING");
    assertThat(rig.post("/v1/jobs/report/runs/" + time + "/stop", "").status()).isEqualTo(200);
    Rig.Answer after = claim();
    assertThat(header(after, "foliot-run-result")).isEqualTo("STOPPED");
    end(after, "ack", "");
    assertThat(runs("endedAt").text("runs", 0, "result")).isEqualTo("STOPPED");
  }
}
