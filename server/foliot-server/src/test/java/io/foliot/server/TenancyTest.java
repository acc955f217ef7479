package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.api.Route;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that an API key for one queue can neither reach nor detect foreign tasks, which are tasks of other queues.
 * The test calls every route with the names of foreign tasks in every state, wherever a request can have a name. The
 * answers must equal the answers for tasks that do not exist.
 */
class TenancyTest {
  private static final String SECRET = "their-secret";
  /** Id without its last digit. No task has this id, whatever its last digit is. */
  private static final String NO_TASK = "00000000-0000-7000-8000-00000000000";
  /** Token without its last digit. No claim has this token, whatever its last digit is. */
  private static final String NO_TOKEN = "0123456789abcdef0123456789abcde";
  /**
   * Pattern of the calls that name a task. They name the task by a placeholder or, with a payload, by an idempotency
   * key.
   */
  private static final Pattern NAMED = Pattern.compile("QUEUE|ID|KEY|TOKEN|payload");
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

  private final Rig rig = Rig.start();
  private final AtomicInteger absentTasks = new AtomicInteger();
  private String admin = "";
  private String scoped = "";

  @AfterEach
  void stop() {
    rig.close();
  }

  /**
   * The names of one task, which is foreign or does not exist.
   *
   * @param ownFailed a failed task of the caller's own queue; some calls name it together with this task
   */
  private record Names(String state, String queue, String id, String key, String idempotencyKey, String token,
      String ownFailed) {
    /** Returns a template with the names in place of their placeholders. */
    String in(String template) {
      return template.replace("QUEUE", queue).replace("ID", id).replace("KEY", key).replace("REQUEST", idempotencyKey)
          .replace("TOKEN", token).replace("OWN", ownFailed);
    }

    /** Returns an answer about this task with placeholders in place of names, ids, times and large numbers. */
    String without(String body) {
      return body.replace(ownFailed, "OWN").replace(id, "ID").replace(queue, "QUEUE").replace(idempotencyKey, "REQUEST")
          .replace(key, "KEY").replace(token, "TOKEN")
          .replaceAll("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "SOME-ID")
          .replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "SOME-TIME").replaceAll("\\d{12,}", "SOME-NUMBER");
    }
  }

  private static final List<String> BODIES = List.of("{}", "{\"ids\": [\"ID\"]}", "{\"ids\": [\"OWN\", \"ID\"]}",
      "{\"token\": \"TOKEN\"}", "{\"token\": \"TOKEN\", \"lease\": \"1h\"}", "{\"token\": \"TOKEN\", \"next\": \"1h\"}",
      "{\"token\": \"TOKEN\", \"delay\": \"0s\", \"reason\": \"x\"}", "{\"keys\": [\"KEY\"], \"delay\": \"1h\"}",
      "{\"key\": \"KEY\", \"delay\": \"1h\", \"onConflict\": \"reset\"}", "{\"delay\": \"1h\", \"payload\": 1}",
      "[{\"key\": \"KEY\", \"delay\": \"1h\"}]");

  private String makeKey(String queues) {
    return rig.post("/v1/keys", "{\"actions\": [\"read\", \"submit\", \"consume\", \"admin\"], \"queues\": [" + queues
        + "]}").text("key");
  }

  private String submit(String queue, String name, String delay) {
    String payload = queue.equals("mine") ? "own" : SECRET;
    return rig.call("POST", "/v1/queues/" + queue + "/tasks", "{\"delay\": \"" + delay + "\", \"key\": \"key-" + name
        + "\", \"maxAttempts\": 1, \"payload\": {\"s\": \"" + payload + "\"}, \"headers\": {\"x-s\": \"" + payload
        + "\"}}", Map.of("Content-Type", "application/json", "Idempotency-Key", "request-" + name)).text("id");
  }

  /** Claims the only due task of a queue, and returns its token. */
  private String claim(String queue) {
    Rig.Answer claim = rig.post("/v1/queues/" + queue + "/claims", "{\"wait\": \"20s\", \"lease\": \"1h\"}");
    assertThat(claim.list("tasks")).as(claim.body()).hasSize(1);
    return claim.text("tasks", 0, "token");
  }

  private void report(String id, String what, String token) {
    assertThat(rig.post("/v1/tasks/" + id + "/" + what, "{\"token\": \"" + token + "\"}").status()).isEqualTo(200);
  }

  private String failedTask(String queue, String name) {
    String id = submit(queue, name, "0s");
    report(id, "nack", claim(queue));
    return id;
  }

  /** Creates a task of each state in queues that the scoped API key does not cover. */
  private List<Names> foreignTasks() {
    List<Names> tasks = new ArrayList<>();
    rig.withQueue("mine2").withQueue("their-paused");
    rig.post("/v1/queues/their-paused/pause", "");
    for (String state : List.of("DELAYED", "READY", "RUNNING", "FINISHED", "FAILED", "CANCELLED")) {
      String queue = state.equals("READY") ? "their-paused" : "mine2";
      String token = NO_TOKEN + tasks.size();
      String id = submit(queue, state, state.equals("DELAYED") || state.equals("CANCELLED") ? "1h" : "0s");
      if (state.equals("RUNNING") || state.equals("FINISHED") || state.equals("FAILED")) {
        token = claim(queue);
      }
      switch (state) {
        case "FINISHED" -> report(id, "ack", token);
        case "FAILED" -> report(id, "nack", token);
        case "CANCELLED" -> rig.delete("/v1/tasks/" + id);
        default -> {
          // The task keeps its state.
        }
      }
      assertThat(rig.get("/v1/tasks/" + id).text("state")).isEqualTo(state);
      tasks.add(
          new Names(state, queue, id, "key-" + state, "request-" + state, token, failedTask("mine", "own-" + state)));
    }
    return tasks;
  }

  /** Returns the names of a task that does not exist, for a comparison with a foreign task. */
  private Names absent(Names task, int number) {
    return new Names("absent beside " + task.state, "nowhere" + number, NO_TASK + number, "nokey-" + number,
        "norequest-" + number, NO_TOKEN + Integer.toHexString(number + 8), failedTask("mine", "own-absent-" + number));
  }

  /** Sends every request of a route with these names. Returns the answers, by the request with its placeholders. */
  private Map<String, Rig.Answer> answers(Route route, Names names) {
    Map<String, Rig.Answer> answers = new LinkedHashMap<>();
    for (String queue : route.path().contains("{queue}") ? List.of("mine", "QUEUE") : List.of("")) {
      String path = route.path().replace("{queue}", queue).replace("{id}", "ID").replace("{key}", "KEY")
          .replace("{job}", "KEY").replace("{time}", "2026-01-01T00:00:00Z").replace("{name}", "KEY")
          .replace("{worker}", "KEY");
      boolean hasBody = route.method().startsWith("P");
      for (String body : hasBody ? BODIES : List.of("")) {
        if (route == Route.REDRIVE && !queue.equals("QUEUE") && !body.contains("ids")) {
          // This call redrives the caller's own failed tasks, and names no task.
          continue;
        }
        Map<String, String> headers = new LinkedHashMap<>(JSON);
        if (body.contains("\"payload\"")) {
          headers.put("Idempotency-Key", names.in("REQUEST"));
        }
        answers.put(route.method() + " " + path + " " + body,
            rig.send(route.method(), names.in(path), hasBody ? names.in(body) : null, headers));
      }
    }
    return answers;
  }

  /** Returns the tasks as the administrator key reads them. */
  private List<String> asTheAdministratorReads(List<Names> tasks) {
    rig.as(admin);
    List<String> seen = tasks.stream().map(task -> rig.send("GET", "/v1/tasks/" + task.id, null, Map.of()).body())
        .toList();
    rig.as(scoped);
    return seen;
  }

  @Test
  void everyRouteAnswersAlikeForForeignAndAbsentTasks() {
    admin = makeKey("\"*\"");
    rig.as(admin).withQueue("mine");
    // Because of this task the queue is never empty, so that a deletion of the queue is refused.
    submit("mine", "kept", "24h");
    List<Names> foreign = foreignTasks();
    List<Names> absent = foreign.stream().map(task -> absent(task, absentTasks.getAndIncrement())).toList();
    scoped = makeKey("\"mine\"");
    List<String> before = asTheAdministratorReads(foreign);
    for (Route route : Route.values()) {
      for (int i = 0; i < foreign.size(); i++) {
        Map<String, Rig.Answer> foreignAnswers = answers(route, foreign.get(i));
        Map<String, Rig.Answer> absentAnswers = answers(route, absent.get(i));
        for (Map.Entry<String, Rig.Answer> entry : foreignAnswers.entrySet()) {
          String what = entry.getKey() + " of a task that is " + foreign.get(i).state;
          Rig.Answer answer = entry.getValue();
          assertThat(answer.body()).as(what).doesNotContain(SECRET);
          // The answer to a claim depends on the worker and on the time of the claim.
          if (route != Route.CLAIM && NAMED.matcher(entry.getKey()).find()) {
            Rig.Answer other = requireNonNull(absentAnswers.get(entry.getKey()));
            assertThat(answer.status()).as(what).isEqualTo(other.status());
            assertThat(foreign.get(i).without(answer.body())).as(what).isEqualTo(absent.get(i).without(other.body()));
          }
        }
      }
      assertThat(asTheAdministratorReads(foreign)).as("after %s", route).isEqualTo(before);
    }
  }

  @Test
  void aCursorOfAnotherQueueShowsNoForeignTasks() {
    admin = makeKey("\"*\"");
    rig.as(admin).withQueue("mine");
    List<Names> foreign = foreignTasks();
    for (int i = 0; i < 5; i++) {
      submit("mine", "listed-" + i, "1h");
    }
    scoped = makeKey("\"mine\"");
    List<String> before = asTheAdministratorReads(foreign);
    rig.as(admin);
    submit("mine2", "second", "1h");
    rig.as(scoped);
    for (String state : List.of("", "&state=DELAYED")) {
      String cursor = rig.as(admin).get("/v1/queues/mine2/tasks?limit=1" + state).text("nextCursor");
      Rig.Answer page = rig.as(scoped).get("/v1/queues/mine/tasks?limit=100&cursor=" + cursor + state);
      assertThat(page.status()).as(page.body()).isIn(200, 400);
      foreign.forEach(task -> assertThat(page.body()).doesNotContain(task.id));
      assertThat(page.body()).doesNotContain("\"queue\":\"mine2\"");
    }
    assertThat(asTheAdministratorReads(foreign)).isEqualTo(before);
  }
}
