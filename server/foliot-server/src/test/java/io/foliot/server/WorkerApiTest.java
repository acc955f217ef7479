package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the answers to calls of workers. */
class WorkerApiTest {
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start();
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static Rig.Answer claim(String queue) {
    rig.withQueue(queue).post("/v1/queues/" + queue + "/tasks",
        "{\"delay\": \"1ms\", \"payload\": {\"n\": 1}, \"headers\": {\"x-a\": \"b\"}}");
    Rig.Answer claim = rig.post("/v1/queues/" + queue + "/claims",
        "{\"max\": 10, \"wait\": \"10s\", \"lease\": \"30s\", \"worker\": \"w1\"}");
    assertThat(claim.list("tasks")).as(claim.body()).hasSize(1);
    return claim;
  }

  private static Rig.Answer report(Rig.Answer claim, String what, String more) {
    return rig.post("/v1/tasks/" + claim.text("tasks", 0, "id") + "/" + what,
        "{\"token\": \"" + claim.text("tasks", 0, "token") + "\"" + more + "}");
  }

  @Test
  void theAckOfAClaimedTaskMayBeRepeated() {
    Rig.Answer claim = claim("acked");
    assertThat(claim.text("tasks", 0, "headers", "x-a")).isEqualTo("b");
    assertThat(Instant.parse(claim.text("tasks", 0, "leaseEnd"))).isAfter(Instant.now().plusSeconds(20));

    assertThat(report(claim, "ack", ", \"generation\": 1").text("state")).isEqualTo("FINISHED");
    Rig.Answer again = report(claim, "ack", "");
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.text("result")).isEqualTo("REPEATED");
  }

  @Test
  void aLeaseCountsFromTheRequest() {
    rig.withQueue("counted");
    long sentNanos = System.nanoTime();
    CompletableFuture<Rig.Answer> waiting = CompletableFuture.supplyAsync(() -> rig.post("/v1/queues/counted/claims",
        "{\"wait\": \"60s\", \"lease\": \"10s\", \"worker\": \"counted-1\"}"));
    assertThat(rig.eventually("/v1/workers", answer -> answer.body().contains("counted-1")).status()).isEqualTo(200);
    rig.post("/v1/queues/counted/tasks", "{\"delay\": \"1ms\"}");
    Rig.Answer claim = waiting.join();
    long answeredMillis = (System.nanoTime() - sentNanos) / 1_000_000;
    assertThat(claim.list("tasks")).hasSize(1);
    assertThat(((BigDecimal) requireNonNull(claim.at("leaseMillis"))).longValueExact())
        .as("the lease includes the wait of the claim")
        .isBetween(10_001L, 10_000 + answeredMillis);
    assertThat(rig.post("/v1/queues/counted/claims", "{}").body()).isEqualTo("{\"tasks\":[]}");
  }

  @Test
  void anExtensionStatesHowLongTheLeaseHolds() {
    Rig.Answer claim = claim("extended");
    Rig.Answer full = report(claim, "extend", ", \"lease\": \"40s\"");
    assertThat(((BigDecimal) requireNonNull(full.at("leaseMillis"))).longValueExact()).isBetween(39_000L, 40_000L);
    Rig.Answer limited = report(claim, "extend", ", \"lease\": \"24h\"");
    assertThat(((BigDecimal) requireNonNull(limited.at("leaseMillis"))).longValueExact())
        .as("the queue's maxRun, which is a day, counts from the claim").isLessThan(86_400_000L);
  }

  @Test
  void aNackedTaskIsDueAgainAfterTheDelay() {
    Rig.Answer claim = claim("nacked");
    assertThat(report(claim, "nack", ", \"reason\": \"busy\", \"delay\": \"1h\"").text("state")).isEqualTo("DELAYED");
    Rig.Answer task = rig.get("/v1/tasks/" + claim.text("tasks", 0, "id"));
    assertThat(task.text("attempts", 0, "outcome")).isEqualTo("RETRIED");
    assertThat(task.text("attempts", 0, "detail")).isEqualTo("busy");
    assertThat(Instant.parse(task.text("dueAt"))).isAfter(Instant.now().plusSeconds(3000));
  }

  @Test
  void aTaskThatAWorkerDidNotBeginHasUsedUpNoAttempt() {
    rig.withQueue("unbegun").post("/v1/queues/unbegun/tasks", "{\"delay\": \"1ms\", \"maxAttempts\": 1}");
    String claim = "{\"wait\": \"10s\", \"lease\": \"30s\"}";
    Rig.Answer first = rig.post("/v1/queues/unbegun/claims", claim);
    assertThat(report(first, "nack", ", \"begun\": false, \"final\": true").problem()).isEqualTo("conflicting-fields");
    assertThat(report(first, "nack", ", \"begun\": false, \"delay\": \"0ms\"").problem())
        .isEqualTo("conflicting-fields");
    assertThat(report(first, "nack", ", \"begun\": false, \"reason\": \"stopped\"").text("result"))
        .isEqualTo("SETTLED");
    assertThat(report(first, "nack", ", \"begun\": false").text("result")).isEqualTo("REPEATED");
    Rig.Answer second = rig.post("/v1/queues/unbegun/claims", claim);
    assertThat(second.at("tasks", 0, "attempt")).isEqualTo(BigDecimal.ONE);
    assertThat(report(first, "nack", ", \"begun\": false").problem()).as("only the holder of the lease gives back")
        .isEqualTo("stale-token");
    assertThat(report(second, "ack", "").text("state")).isEqualTo("FINISHED");
    Rig.Answer task = rig.get("/v1/tasks/" + first.text("tasks", 0, "id"));
    assertThat(task.text("attempts", 0, "outcome")).isEqualTo("NOT_BEGUN");
    assertThat(task.text("attempts", 0, "detail")).isEqualTo("stopped");
    assertThat(report(second, "nack", ", \"begun\": false").problem()).as("final is final").isEqualTo("stale-token");
  }

  @Test
  void aFinalNackMakesADeadLetterAtOnce() {
    Rig.Answer claim = claim("hopeless");
    assertThat(report(claim, "nack", ", \"final\": true, \"delay\": \"1s\"").problem()).isEqualTo(
        "conflicting-fields");
    assertThat(report(claim, "nack", ", \"final\": true, \"reason\": \"no such shop\"").text("state"))
        .isEqualTo("FAILED");
    Rig.Answer task = rig.get("/v1/tasks/" + claim.text("tasks", 0, "id"));
    assertThat(task.text("attempts", 0, "outcome")).isEqualTo("FAILED");
    assertThat(task.text("attempts", 0, "detail")).isEqualTo("no such shop");
    assertThat(report(claim, "nack", ", \"final\": true").text("result")).isEqualTo("REPEATED");
  }

  @Test
  void aTaskShowsThatItsLeaseHasEnded() {
    rig.withQueue("orphaned").post("/v1/queues/orphaned/tasks", "{\"delay\": \"1ms\"}");
    Rig.Answer claim = rig.post("/v1/queues/orphaned/claims", "{\"wait\": \"10s\", \"lease\": \"300ms\"}");
    String path = "/v1/tasks/" + claim.text("tasks", 0, "id");
    assertThat(rig.get(path).at("leaseExpired")).isNull();
    Instant end = Instant.now().plusSeconds(20);
    while (rig.get(path).at("leaseExpired") == null) {
      assertThat(Instant.now()).isBefore(end);
    }
    assertThat(rig.get(path).at("leaseExpired")).isEqualTo(true);
  }

  /** The only worker claims the task of a job's run, and never calls again. */
  @Test
  void aRunEndsThoughItsWorkerNeverCallsAgain() {
    rig.withQueue("deserted").put("/v1/jobs/deserted",
        "{\"queue\": \"deserted\", \"schedule\": {\"every\": \"1h\"}, \"maxAttempts\": 1}");
    assertThat(rig.post("/v1/jobs/deserted/trigger", "").status()).isLessThan(300);
    Rig.Answer claim = rig.post("/v1/queues/deserted/claims", "{\"wait\": \"10s\", \"lease\": \"300ms\"}");
    String path = "/v1/tasks/" + claim.text("tasks", 0, "id");
    Rig.Answer ended = rig.eventually(path, task -> !"RUNNING".equals(task.text("state")));
    assertThat(ended.text("state")).isEqualTo("FAILED");
    assertThat(ended.text("attempts", 0, "outcome")).isEqualTo("LEASE_ENDED");
    rig.eventually("/v1/jobs/deserted/runs", runs -> runs.body().contains("\"FAILED\""));
    assertThat(rig.get("/metrics").body()).contains("foliot_leases_ended_total{queue=\"deserted\"} 1.0",
        "foliot_dead_letters_total{queue=\"deserted\"} 1.0");
  }

  @Test
  void anAckWithNextMakesTheTaskDelayedAgain() {
    Rig.Answer claim = claim("again");
    assertThat(report(claim, "ack", ", \"next\": \"1h\"").text("state")).isEqualTo("DELAYED");
  }

  @Test
  void aLeaseIsExtended() {
    Rig.Answer claim = claim("extended");
    Rig.Answer extended = report(claim, "extend", ", \"lease\": \"5m\"");
    assertThat(extended.status()).as(extended.body()).isEqualTo(200);
    assertThat(Instant.parse(extended.text("leaseEnd"))).isAfter(Instant.now().plusSeconds(250));
  }

  private static final String NOTE = ", \"progress\": 0.5, \"message\": \"page 7 of 14\", \"checkpoint\":"
      + " \"page=7\", \"log\": \"read page 6\\nread page 7\"";

  private static void assertNote(Rig.Answer answer, Object... path) {
    Object[] progress = Arrays.copyOf(path, path.length + 1);
    for (Map.Entry<String, Object> field : Map.<String, Object>of("progress", 0.5, "message", "page 7 of 14",
        "checkpoint", "page=7", "log", "read page 6\nread page 7").entrySet()) {
      progress[path.length] = field.getKey();
      assertThat(String.valueOf(answer.at(progress))).isEqualTo(String.valueOf(field.getValue()));
    }
  }

  @Test
  void aNoteIsShownAndReachesTheNextAttempt() {
    Rig.Answer claim = claim("noted");
    String path = "/v1/tasks/" + claim.text("tasks", 0, "id");
    assertThat(rig.get(path).at("progress")).isNull();
    assertThat(report(claim, "extend", ", \"lease\": \"5m\"" + NOTE).status()).isEqualTo(200);
    assertNote(rig.get(path));
    assertThat(report(claim, "nack", ", \"reason\": \"no more time\", \"delay\": \"1ms\"").status()).isEqualTo(200);
    Rig.Answer next = rig.post("/v1/queues/noted/claims", "{\"wait\": \"10s\", \"lease\": \"30s\"}");
    assertThat(next.list("tasks")).hasSize(1);
    assertNote(next, "tasks", 0);
    assertThat(report(next, "ack", ", \"progress\": 1, \"message\": \"412 rows\"").text("state")).isEqualTo("FINISHED");
    assertThat(rig.get(path).text("message")).isEqualTo("412 rows");
    assertThat(rig.get(path).text("checkpoint")).isEqualTo("page=7");
  }

  @Test
  void aNoteBeyondALimitIsRefusedButALongLogIsAccepted() {
    Rig.Answer claim = claim("verbose");
    assertThat(report(claim, "ack", ", \"progress\": 1.5").body()).contains("progress", "from 0 to 1");
    assertThat(report(claim, "ack", ", \"message\": \"" + "x".repeat(201) + "\"").body()).contains("200 characters");
    assertThat(report(claim, "ack", ", \"checkpoint\": \"" + "x".repeat((16 << 10) + 1) + "\"").body())
        .contains("16384 bytes");
    assertThat(report(claim, "ack", ", \"log\": \"" + "x".repeat(5_000) + "\"").status()).isEqualTo(200);
  }

  @Test
  void aCancelledAttemptIsNotExtended() {
    Rig.Answer claim = claim("gone");
    assertThat(rig.delete("/v1/tasks/" + claim.text("tasks", 0, "id")).text("result")).isEqualTo("CANCEL_PENDING");
    assertThat(report(claim, "extend", ", \"lease\": \"5m\"").problem()).isEqualTo("cancelled");
  }

  @Test
  void aStaleTokenIsRefused() {
    Rig.Answer claim = claim("stale");
    String path = "/v1/tasks/" + claim.text("tasks", 0, "id");
    String token = "{\"token\": \"00000000000000000000000000000000\", \"lease\": \"1m\"}";
    Rig.Answer ack = rig.post(path + "/ack", token.replace(", \"lease\": \"1m\"", ""));
    assertThat(ack.status()).isEqualTo(409);
    assertThat(ack.problem()).isEqualTo("stale-token");
    assertThat(rig.post(path + "/nack", token.replace(", \"lease\": \"1m\"", "")).problem()).isEqualTo("stale-token");
    assertThat(rig.post(path + "/extend", token).problem()).isEqualTo("stale-token");
  }

  @Test
  void aClaimWithoutTasksReturnsWhenItsWaitEnds() {
    rig.withQueue("idle");
    assertThat(rig.post("/v1/queues/idle/claims", "{\"wait\": \"20ms\"}").at("tasks")).isEqualTo(List.of());
    assertThat(rig.call("POST", "/v1/queues/idle/claims", null, Map.of()).at("tasks")).isEqualTo(List.of());
  }

  @Test
  void aClaimFromAQueueWithCallbacksIsRefused() {
    rig.put("/v1/queues/pushed", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\"}}");
    assertThat(rig.post("/v1/queues/pushed/claims", "{}").status()).isEqualTo(400);
  }
}
