package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskReason;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests scopes and allocations of jobs, and the marks that workers set on shards. */
final class JobScopeApiTest {

  private final Rig rig = Rig.start().withQueue("orders");

  @AfterEach
  void stop() {
    rig.close();
  }

  private Rig.Answer put(String job, String schedule, String more) {
    return rig.put("/v1/jobs/" + job, "{\"queue\": \"orders\", \"schedule\": {" + schedule + "}" + more + "}");
  }

  private Rig.Answer claim() {
    return rig.post("/v1/queues/orders/claims", "{\"max\": 1, \"wait\": \"10s\", \"worker\": \"w\"}");
  }

  private Rig.Answer ack(Rig.Answer claimed, String more) {
    return rig.post("/v1/tasks/" + claimed.text("tasks", 0, "id") + "/ack",
        "{\"token\": \"" + claimed.text("tasks", 0, "token") + "\"" + more + "}");
  }

  @Test
  void aScopeIsPutReadAndSentBack() {
    Rig.Answer put = put("zones", "\"every\": \"1h\"",
        ", \"scope\": \"per-zone\", \"zones\": [\"fra1\", \"nyc1\"], \"allocation\": \"odd-even\", \"shards\": 2");
    assertThat(put.status()).as(put.body()).isEqualTo(201);
    Rig.Answer got = rig.get("/v1/jobs/zones");
    assertThat(got.text("scope")).isEqualTo("per-zone");
    assertThat(got.text("allocation")).isEqualTo("odd-even");
    assertThat(got.list("zones")).hasToString("[fra1, nyc1]");
    Rig.Answer again = rig.put("/v1/jobs/zones", got.body());
    assertThat(again.status()).as(again.body()).isEqualTo(200);
    assertThat(again.at("version")).hasToString("1");
    assertThat(put("plain", "\"every\": \"1h\"", "").text("scope")).isEqualTo("one");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "\"scope\": \"everywhere\" | one of one, per-zone, all",
      "\"allocation\": \"fair\" | one of free, average, odd-even, hash, round-robin, own",
      "\"allocation\": \"own\" | allocator: expected the name of an allocator of the application",
      "\"allocation\": \"own\", \"allocator\": \"a b\" | 1 to 64 of A-Z a-z 0-9 . _ -, but got \"a b\"",
      "\"allocator\": \"by-region\" | allocator: expected none, unless the allocation is own, but got \"by-region\"",
      "\"allocator\": 7 | allocator",
      "\"allocation\": \"hash\", \"allocator\": \"by-region\" | allocator: expected none, unless the allocation is own",
      "\"scope\": \"all\", \"allocation\": \"own\", \"allocator\": \"a\" | allocation: expected a rule other than own with scope all",
      "\"scope\": \"all\", \"shards\": 3 | shards: expected 1 with scope all, which has one shard for each worker, but got 3",
      "\"zones\": [\"fra1\"] | zones: expected none, unless the scope is per-zone, but got [fra1]",
      "\"scope\": \"per-zone\", \"zones\": [\"a\", \"a\"] | zones: expected each name once, but got [a, a]"})
  void anInvalidScopeOrAllocationIsRefused(String fields, String detail) {
    Rig.Answer refused = put("wrong", "\"every\": \"1h\"", ", " + fields);
    assertThat(refused.status()).as(refused.body()).isEqualTo(400);
    assertThat(refused.text("detail")).contains(detail);
  }

  @Test
  void aJobOfACallbackQueueHasNoScopeOfWorkers() {
    rig.put("/v1/queues/calls", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:1/x\"}}");
    for (String scope : new String[]{"all", "per-zone"}) {
      Rig.Answer refused = rig.put("/v1/jobs/wrong",
          "{\"queue\": \"calls\", \"schedule\": {\"every\": \"1h\"}, \"scope\": \"" + scope + "\"}");
      assertThat(refused.status()).as(refused.body()).isEqualTo(400);
      assertThat(refused.text("field")).isEqualTo("scope");
      assertThat(refused.text("detail")).contains("workers take");
    }
    Rig.Answer refused = rig.put("/v1/jobs/wrong", "{\"queue\": \"calls\", \"schedule\": {\"every\": \"1h\"},"
        + " \"allocation\": \"own\", \"allocator\": \"by-region\"}");
    assertThat(refused.status()).as(refused.body()).isEqualTo(400);
    assertThat(refused.text("field")).isEqualTo("allocation");
    assertThat(refused.text("detail")).contains("workers take");
    assertThat(rig.get("/v1/jobs/wrong").status()).isEqualTo(404);
  }

  @Test
  void aRunWaitsForAWorkerInItsZone() {
    put("zones", "\"cron\": \"0 0 1 1 *\"", ", \"scope\": \"per-zone\", \"zones\": [\"mars\"]");
    rig.post("/v1/jobs/zones/trigger", "");
    Rig.Answer waits = rig.eventually("/v1/jobs/zones", answer -> answer.body().contains("waitsFor"));
    assertThat(waits.text("waitsFor")).contains("waits");
    assertThat(waits.at("waiting")).hasToString("1");
    assertThat(waits.list("active")).isEmpty();
    assertThat(rig.get("/v1/jobs/zones/explain").text("reason")).startsWith("it waits");
  }

  @Test
  void aServerAcceptsAnAllocatorThatItDoesNotHave() {
    Rig.Answer put = put("regions", "\"every\": \"100ms\"",
        ", \"shards\": 2, \"allocation\": \"own\", \"allocator\": \"by-region\"");
    assertThat(put.status()).as(put.body()).isEqualTo(201);
    assertThat(put.text("allocation")).isEqualTo("own");
    assertThat(put.text("allocator")).isEqualTo("by-region");
    String missing = " its allocator, which this node does not have; each node of the store must register it:"
        + " allocator=by-region";
    assertThat(put.text("waitsFor")).isEqualTo("needs" + missing);
    Rig.Answer waits = rig.eventually("/v1/jobs/regions",
        answer -> !String.valueOf(answer.at("totals", "skipped")).equals("0"));
    assertThat(waits.text("waitsFor")).isEqualTo("waits for" + missing);
    assertThat(waits.at("waiting")).as("one run waits").hasToString("1");
    assertThat(waits.list("active")).isEmpty();
    assertThat(rig.get("/v1/jobs/regions/explain").text("reason")).isEqualTo("it waits for" + missing);
    assertThat(rig.get("/v1/queues/orders/tasks").list("tasks")).isEmpty();
    Rig.Answer again = rig.put("/v1/jobs/regions", rig.get("/v1/jobs/regions").body());
    assertThat(again.status()).as(again.body()).isEqualTo(200);
    assertThat(again.at("version")).hasToString("1");
    assertThat(put("regions", "\"every\": \"100ms\"", ", \"shards\": 2").status()).isEqualTo(200);
    rig.eventually("/v1/jobs/regions", answer -> !answer.list("active").isEmpty());
  }

  @Test
  void withoutWorkersOneRunWaits() {
    put("report", "\"every\": \"100ms\"", ", \"shards\": 2");
    Rig.Answer waits = rig.eventually("/v1/jobs/report", answer -> answer.body().contains("waitsFor")
        && !String.valueOf(answer.at("totals", "skipped")).equals("0"));
    assertThat(waits.text("waitsFor")).isEqualTo("waits for a worker of queue orders");
    assertThat(waits.list("active")).hasSize(1);
    assertThat(waits.at("waiting")).hasToString("0");
    assertThat(waits.at("totals", "fired")).hasToString("1");
    assertThat(rig.get("/v1/jobs/report/explain").text("reason")).isEqualTo("it waits for a worker of queue orders");
    assertThat(rig.get("/v1/queues/orders/tasks").list("tasks")).as("the shards of one run").hasSize(2);
    assertThat(rig.get("/metrics").body()).contains("foliot_queue_workers{queue=\"orders\"} 0.0");
  }

  @Test
  void withoutWorkersATimeOfScopeAllWaits() {
    put("caches", "\"every\": \"100ms\"", ", \"scope\": \"all\"");
    Rig.Answer waits = rig.eventually("/v1/jobs/caches",
        answer -> String.valueOf(answer.at("waiting")).equals("1"));
    assertThat(waits.list("active")).isEmpty();
    assertThat(waits.at("totals", "noTargets")).hasToString("0");
    assertThat(rig.get("/v1/jobs/caches/explain").text("reason")).isEqualTo("it waits for a worker of queue orders");
    assertThat(rig.get("/v1/queues/orders/tasks").list("tasks")).isEmpty();
  }

  @Test
  void explainNamesWorkersWithoutASeat() {
    put("caches", "\"cron\": \"0 0 1 1 *\"", ", \"scope\": \"all\"");
    String reason = "it has no worker in queue orders; a time that has waited half a minute for one is recorded as"
        + " NO_TARGETS";
    assertThat(rig.get("/v1/jobs/caches/explain").text("reason")).isEqualTo(reason);
    rig.heldBack = EnumSet.of(TaskReason.NO_SEAT, TaskReason.TOO_MANY_WORKERS);
    assertThat(rig.get("/v1/jobs/caches/explain").text("reason")).startsWith(reason)
        .contains("; a worker of its queue has no seat", "; this node has refused a claim", "429 too-many-workers");
    rig.post("/v1/jobs/caches/pause", "");
    assertThat(rig.get("/v1/jobs/caches/explain").text("reason")).isEqualTo("it is paused");
  }

  @Test
  void aNackedShardIsExplained() {
    put("scan", "\"cron\": \"0 0 1 1 *\"", "");
    rig.post("/v1/jobs/scan/trigger", "");
    Rig.Answer claimed = claim();
    assertThat(rig.post("/v1/tasks/" + claimed.text("tasks", 0, "id") + "/nack", "{\"token\": \""
        + claimed.text("tasks", 0, "token") + "\", \"reason\": \"no handler for the job scan\", \"delay\": \"1m\"}")
        .status()).isEqualTo(200);
    assertThat(rig.eventually("/v1/jobs/scan/explain", answer -> answer.text("reason").startsWith("a run is active"))
        .text("reason")).contains("; shard 0 of the run of ", " failed at attempt 1 and begins again at ",
            ": no handler for the job scan");
  }

  @Test
  void aWorkerEndsItsJobUntilItIsPutAgain() {
    put("alarm", "\"every\": \"200ms\"", "");
    assertThat(ack(claim(), ", \"endJob\": true").status()).isEqualTo(200);
    Rig.Answer ended = rig.eventually("/v1/jobs/alarm", answer -> answer.text("state").equals("COMPLETED"));
    assertThat(ended.list("nextTimes")).isEmpty();
    assertThat(rig.get("/v1/jobs/alarm/explain").text("reason")).contains("a handler has ended it");
    assertThat(put("alarm", "\"every\": \"200ms\"", "").text("state")).isEqualTo("ACTIVE");
    assertThat(claim().text("tasks", 0, "headers", "foliot-job")).isEqualTo("alarm");
  }

  @Test
  void aRunAfterARunAgainMarkGetsItsCheckpoint() {
    put("stream", "\"cron\": \"0 0 1 1 *\"", "");
    rig.post("/v1/jobs/stream/trigger", "");
    Rig.Answer first = claim();
    assertThat(ack(first, ", \"checkpoint\": \"page 7\", \"runAgain\": true").status()).isEqualTo(200);
    Rig.Answer second = claim();
    assertThat(second.text("tasks", 0, "checkpoint")).isEqualTo("page 7");
    assertThat(second.text("tasks", 0, "id")).isNotEqualTo(first.text("tasks", 0, "id"));
    assertThat(rig.get("/v1/tasks/" + first.text("tasks", 0, "id")).at("runAgain")).hasToString("true");
    assertThat(ack(second, "").status()).isEqualTo(200);
    rig.eventually("/v1/jobs/stream", answer -> String.valueOf(answer.at("totals", "succeeded")).equals("2"));
  }

  @Test
  void conflictingMarksOfAShardAreRefused() {
    put("alarm", "\"every\": \"200ms\"", "");
    Rig.Answer claimed = claim();
    assertThat(ack(claimed, ", \"endJob\": true, \"runAgain\": true").problem()).isEqualTo("conflicting-fields");
    assertThat(ack(claimed, ", \"endJob\": true, \"next\": \"1s\"").problem()).isEqualTo("conflicting-fields");
    assertThat(ack(claimed, ", \"endJob\": \"yes\"").status()).isEqualTo(400);
    assertThat(rig.post("/v1/tasks/" + claimed.text("tasks", 0, "id") + "/nack",
        "{\"token\": \"" + claimed.text("tasks", 0, "token") + "\", \"endJob\": true}").status()).isEqualTo(400);
  }
}
