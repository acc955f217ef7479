package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the ways from a run to its shards, their tasks, the reasons of their failures and their logs. */
final class RunApiTest {
  private final Rig rig = Rig.start().withQueue("billing");

  @AfterEach
  void stop() {
    rig.close();
  }

  /** A claimed task. */
  private record Claimed(String id, String token) {}

  private void put(String job, int shards, String more) {
    Rig.Answer put = rig.put("/v1/jobs/" + job, "{\"queue\": \"billing\", \"schedule\": {\"at\":"
        + " \"2099-01-01T00:00:00Z\"}, \"maxAttempts\": 1, \"shards\": " + shards + more + "}");
    assertThat(put.status()).as(put.body()).isIn(200, 201);
  }

  private String trigger(String job) {
    return rig.post("/v1/jobs/" + job + "/trigger", "").text("times", 0);
  }

  /** Claims tasks of the queue, and returns them by the numbers of their shards. */
  private Map<String, Claimed> claim(int count) {
    Map<String, Claimed> tasks = new HashMap<>();
    while (tasks.size() < count) {
      Rig.Answer claim = rig.post("/v1/queues/billing/claims",
          "{\"max\": 10, \"wait\": \"10s\", \"lease\": \"1m\", \"worker\": \"w1\"}");
      assertThat(claim.list("tasks")).as(claim.body()).isNotEmpty();
      for (int i = 0; i < claim.list("tasks").size(); i++) {
        tasks.put(claim.text("tasks", i, "headers", "foliot-shard"),
            new Claimed(claim.text("tasks", i, "id"), claim.text("tasks", i, "token")));
      }
    }
    return tasks;
  }

  private static Claimed of(Map<String, Claimed> tasks, String shard) {
    return Objects.requireNonNull(tasks.get(shard), shard);
  }

  private void end(Claimed task, String what, String more) {
    Rig.Answer ended = rig.post("/v1/tasks/" + task.id + "/" + what, "{\"token\": \"" + task.token + "\"" + more + "}");
    assertThat(ended.status()).as(ended.body()).isEqualTo(200);
  }

  private Rig.Answer ended(String job, String time, String result) {
    return rig.eventually("/v1/jobs/" + job + "/runs/" + time,
        answer -> result.equals(String.valueOf(answer.at("runs", 0, "result"))));
  }

  /** Runs a job whose shard 1 fails, and returns the claimed tasks. */
  private Map<String, Claimed> failed(String job) {
    put(job, 3, "");
    String time = trigger(job);
    Map<String, Claimed> tasks = claim(3);
    end(of(tasks, "0"), "ack", ", \"log\": \"0 is done\"");
    end(of(tasks, "1"), "nack",
        ", \"reason\": \"no such table\", \"log\": \"opened\\nno such table\", \"checkpoint\": \"row 7\"");
    end(of(tasks, "2"), "ack", "");
    ended(job, time, "FAILED");
    tasks.put("time", new Claimed(time, ""));
    return tasks;
  }

  @Test
  void aFailedRunLeadsToItsReasonItsLogAndItsTask() {
    Map<String, Claimed> tasks = failed("bad");
    String time = of(tasks, "time").id;
    assertThat(rig.get("/v1/jobs/bad").text("latestFailure", "reason")).isEqualTo("shard 1: no such table");
    assertThat(rig.get("/v1/jobs/bad/runs").text("runs", 0, "reason")).isEqualTo("shard 1: no such table");

    Rig.Answer run = rig.get("/v1/jobs/bad/runs/" + time);
    assertThat(run.list("shards")).hasSize(3);
    assertThat(run.text("shards", 1, "task")).isEqualTo(of(tasks, "1").id);
    assertThat(run.text("shards", 1, "state")).isEqualTo("FAILED");
    assertThat(run.text("shards", 1, "reason")).isEqualTo("no such table");
    assertThat(run.text("shards", 1, "checkpoint")).isEqualTo("row 7");
    assertThat(run.text("shards", 1, "begunAt")).isNotEmpty();
    assertThat(run.text("shards", 1, "worker")).isEqualTo("w1");
    Rig.Answer task = rig.get("/v1/tasks/" + of(tasks, "0").id);
    assertThat(task.text("attempts", 0, "worker")).isEqualTo("w1");
    assertThat(task.text("attempts", 0, "node")).isEqualTo(run.text("shards", 1, "node")).isNotEmpty();
    assertThat(task.text("attempts", 0, "detail")).isEmpty();
    assertThat(run.text("shards", 0, "state")).isEqualTo("FINISHED");
    Rig.Answer onlyFailed = rig.get("/v1/jobs/bad/runs/" + time + "?failed=true");
    assertThat(onlyFailed.list("shards")).hasSize(1);
    assertThat(onlyFailed.text("shards", 0, "task")).isEqualTo(of(tasks, "1").id);

    Rig.Answer log = rig.get("/v1/jobs/bad/log");
    assertThat(log.text("time")).isEqualTo(time);
    assertThat(log.list("shards")).hasSize(2);
    assertThat(log.text("shards", 0, "log")).isEqualTo("opened\nno such table");
    assertThat(log.text("shards", 1, "log")).isEqualTo("0 is done");
    assertThat(rig.get("/v1/jobs/bad/log?time=" + time).body()).isEqualTo(log.body());
    assertThat(rig.get("/v1/jobs/bad/log?time=2020-01-01T00:00:00Z").problem()).isEqualTo("unknown-run");
  }

  @Test
  void theWayToATaskHoldsAfterARedriveOfTheQueue() {
    Map<String, Claimed> tasks = failed("bad");
    String time = of(tasks, "time").id;
    rig.post("/v1/queues/billing/redrive", "{}");
    Rig.Answer run = rig.get("/v1/jobs/bad/runs/" + time);
    assertThat(run.text("shards", 1, "task")).isEqualTo(of(tasks, "1").id);
    assertThat(run.text("shards", 1, "state")).isNotEqualTo("FAILED");
    end(of(claim(1), "1"), "ack", ", \"log\": \"better now\"");
    assertThat(rig.get("/v1/jobs/bad/log").body()).contains("better now");
  }

  @Test
  void aFailedShardRunsAgainAndTheResultOfItsRunFollows() {
    Map<String, Claimed> tasks = failed("bad");
    String redrive = "/v1/jobs/bad/runs/" + of(tasks, "time").id + "/redrive";
    assertThat(rig.post(redrive, "{\"shard\": 0}").problem()).isEqualTo("not-failed");
    assertThat(rig.post(redrive, "{\"shard\": 3}").problem()).isEqualTo("not-failed");
    assertThat(rig.post(redrive, "{\"shard\": 1, \"zone\": \"a\"}").problem()).isEqualTo("not-failed");
    assertThat(rig.post(redrive, "{}").problem()).isEqualTo("missing-field");

    Rig.Answer again = rig.post(redrive, "{\"shard\": 1}");
    assertThat(again.text("active", 0, "time")).as(again.body()).isEqualTo(of(tasks, "time").id);
    Rig.Answer claim = rig.post("/v1/queues/billing/claims", "{\"wait\": \"10s\", \"lease\": \"1m\"}");
    assertThat(claim.text("tasks", 0, "id")).isEqualTo(of(tasks, "1").id);
    assertThat(claim.text("tasks", 0, "checkpoint")).isEqualTo("row 7");
    end(new Claimed(claim.text("tasks", 0, "id"), claim.text("tasks", 0, "token")), "ack", "");
    Rig.Answer run = ended("bad", of(tasks, "time").id, "SUCCEEDED");
    assertThat(run.at("runs", 0, "failed")).hasToString("0");
    assertThat(rig.get("/v1/jobs/bad").at("totals", "failed")).hasToString("0");
    assertThat(rig.post(redrive, "{\"shard\": 1}").problem()).isEqualTo("not-failed");
  }

  @Test
  void noEndedRunContinuesBesideAnActiveRun() {
    Map<String, Claimed> tasks = failed("bad");
    String next = trigger("bad");
    rig.eventually("/v1/jobs/bad/runs/" + next, answer -> answer.status() == 200);
    assertThat(rig.post("/v1/jobs/bad/runs/" + of(tasks, "time").id + "/redrive", "{\"shard\": 1}").problem())
        .isEqualTo("run-active");
  }

  @Test
  void manyShardsAreListedInPages() {
    put("wide", 250, "");
    String time = trigger("wide");
    rig.eventually("/v1/jobs/wide/runs/" + time, answer -> answer.status() == 200
        && answer.text("shards", 98, "state").equals("READY"));
    List<String> seen = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      Rig.Answer page = rig.get("/v1/jobs/wide/runs/" + time + "?limit=100" + cursor);
      for (int i = 0; i < page.list("shards").size(); i++) {
        seen.add(String.valueOf(page.at("shards", i, "shard")));
      }
      Object next = page.at("next");
      cursor = next == null ? null : "&cursor=" + next;
    }
    assertThat(seen).hasSize(250).doesNotHaveDuplicates();
    assertThat(rig.get("/v1/jobs/wide/runs/" + time + "?cursor=x").status()).isEqualTo(400);
  }

  @Test
  void tasksAreListedByKeyAndByJob() {
    failed("bad");
    rig.post("/v1/queues/billing/tasks", "{\"delay\": \"1h\", \"key\": \"order-1\"}");
    rig.post("/v1/queues/billing/tasks", "{\"delay\": \"1h\", \"key\": \"order-2\"}");
    assertThat(rig.get("/v1/queues/billing/tasks?job=bad").list("tasks")).hasSize(3);
    assertThat(rig.get("/v1/queues/billing/tasks?job=bad&state=FAILED").list("tasks")).hasSize(1);
    assertThat(rig.get("/v1/queues/billing/tasks?job=other").list("tasks")).isEmpty();
    Rig.Answer keyed = rig.get("/v1/queues/billing/tasks?key=order-2");
    assertThat(keyed.list("tasks")).hasSize(1);
    assertThat(keyed.text("tasks", 0, "key")).isEqualTo("order-2");
  }

  @Test
  void aKeyOfAnotherQueueSeesNeitherRunsNorLogs() {
    Map<String, Claimed> tasks = failed("bad");
    String time = of(tasks, "time").id;
    String admin = rig.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
    rig.as(admin).withQueue("other");
    String other = rig.post("/v1/keys", "{\"actions\": [\"read\", \"submit\"], \"queues\": [\"other\"]}").text("key");
    String both = rig.post("/v1/keys", "{\"actions\": [\"read\", \"submit\"], \"queues\": [\"other\", \"billing\"]}")
        .text("key");
    rig.as(other);
    for (String path : List.of("/runs/" + time, "/log", "/log?time=" + time)) {
      assertThat(rig.get("/v1/jobs/bad" + path).problem()).as(path).isEqualTo("unknown-job");
    }
    assertThat(rig.post("/v1/jobs/bad/runs/" + time + "/redrive", "{\"shard\": 1}").problem())
        .isEqualTo("unknown-job");
    // The job moves to a queue of the key. The tasks of its past runs stay in the other queue.
    Rig.Answer moved = rig.as(both).put("/v1/jobs/bad?move=true",
        "{\"queue\": \"other\", \"schedule\": {\"at\": \"2099-01-01T00:00:00Z\"}, \"shards\": 3}");
    assertThat(moved.status()).as(moved.body()).isEqualTo(200);
    Rig.Answer run = rig.as(other).get("/v1/jobs/bad/runs/" + time);
    assertThat(run.list("shards")).hasSize(3).allMatch(shard -> shard.toString().contains("REMOVED"));
    assertThat(run.body()).doesNotContain("no such table").doesNotContain("row 7");
    assertThat(rig.get("/v1/jobs/bad/log").body()).doesNotContain("opened").doesNotContain("no such table");
    assertThat(rig.get("/v1/jobs/bad").body()).doesNotContain("no such table");
    assertThat(rig.post("/v1/jobs/bad/runs/" + time + "/redrive", "{\"shard\": 1}").problem())
        .isEqualTo("not-failed");
  }
}
