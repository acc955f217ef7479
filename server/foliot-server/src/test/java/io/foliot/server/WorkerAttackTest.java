package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Scheduler.TooManyWorkersException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A key uses the names of workers of another key, makes up names, or leaves claims behind that it does not wait for.
 * Tests that the workers of other keys keep their seats, and get the tasks.
 */
final class WorkerAttackTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Rig rig = Rig.start(Map.of("limit-connections", "200")).withQueue("mine").withQueue("theirs");
  private final List<RawClient> clients = new ArrayList<>();
  private String admin = "";
  private String attacker = "";
  private String victim = "";

  @BeforeEach
  void start() {
    admin = key("\"admin\"", "*");
    rig.as(admin);
    attacker = key("\"submit\", \"consume\", \"read\"", "mine");
    victim = key("\"submit\", \"consume\", \"read\"", "theirs");
  }

  @AfterEach
  void stop() {
    clients.forEach(RawClient::close);
    rig.close();
  }

  private String key(String actions, String queue) {
    return rig.post("/v1/keys", "{\"actions\": [" + actions + "], \"queues\": [\"" + queue + "\"]}").text("key");
  }

  private static String request(String key, String queue, String body) {
    return "POST /v1/queues/" + queue + "/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer " + key + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
  }

  private RawClient poll(String key, String queue, String body) {
    RawClient client = new RawClient(rig.server.port());
    clients.add(client);
    client.send(request(key, queue, body));
    return client;
  }

  private Rig.Answer claim(String key, String queue, String worker, String zone, String wait) {
    return rig.as(key).post("/v1/queues/" + queue + "/claims", "{\"worker\": \"" + worker + "\", \"zone\": \"" + zone
        + "\", \"wait\": \"" + wait + "\", \"lease\": \"2s\"}");
  }

  /** Returns the worker of a name as a key sees it: its state and its zone; empty if the key sees none. */
  private String seen(String key, String worker) {
    for (Object each : rig.as(key).get("/v1/workers").list("workers")) {
      Map<?, ?> one = (Map<?, ?>) each;
      if (worker.equals(one.get("worker"))) {
        return one.get("state") + " " + one.get("zone");
      }
    }
    return "";
  }

  private static void await(String expected, Supplier<String> actual) {
    long begunNanos = System.nanoTime();
    String last = actual.get();
    while (!last.equals(expected)) {
      assertThat(System.nanoTime() - begunNanos).as("last=%s, expected=%s", last, expected).isLessThan(PATIENCE_NANOS);
      LockSupport.parkNanos(POLL_NANOS);
      last = actual.get();
    }
  }

  private void submit(String key, String queue) {
    assertThat(rig.as(key).post("/v1/queues/" + queue + "/tasks", "{\"delay\": \"0s\"}").status()).isEqualTo(201);
  }

  @Test
  void madeUpNamesLeaveSeatsAndZonesToOthers() {
    StringBuilder flood = new StringBuilder();
    for (int i = 0; i < 2_200; i++) {
      flood.append(request(attacker, "mine", "{\"worker\": \"x" + i + "\", \"zone\": \"z" + i + "\"}"));
    }
    RawClient client = new RawClient(rig.server.port());
    clients.add(client);
    CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> client.send(flood.toString()));
    assertThat(client.receive(Duration.ofSeconds(2)).statuses()).hasSize(2_200);
    sent.join();
    await("LIVE ber1", () -> {
      claim(victim, "theirs", "victim-1", "ber1", "0s");
      return seen(victim, "victim-1");
    });
    assertThat(rig.as(admin).get("/metrics").body()).contains("foliot_worker_seats_in_use ");
  }

  @Test
  void aClaimWithTooManyNamesIsRefusedWithTheReason() {
    rig.engineResult = CompletableFuture.failedFuture(new TooManyWorkersException(2_047));
    Rig.Answer refused = rig.call("POST", "/v1/queues/mine/claims", "{\"worker\": \"one-more\"}", Map.of());
    rig.engineResult = null;
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.text("type")).isEqualTo("urn:foliot:problem:too-many-workers");
    assertThat(refused.text("detail")).contains("2047", "leave out the field");
  }

  @Test
  void aForeignKeyCannotMoveAWorkerToAnotherZone() {
    poll(victim, "theirs", "{\"worker\": \"w1\", \"zone\": \"fra1\", \"wait\": \"15s\"}");
    await("LIVE fra1", () -> seen(victim, "w1"));
    await("LIVE evil", () -> {
      claim(attacker, "mine", "w1", "evil", "0s");
      return seen(attacker, "w1");
    });
    assertThat(seen(victim, "w1")).isEqualTo("LIVE fra1");
    assertThat(rig.as(attacker).get("/v1/workers").list("workers")).hasSize(1);
    assertThat(rig.as(admin).get("/v1/workers").body()).doesNotContain("key:");
  }

  @Test
  void aForeignKeyCannotKeepADeadWorkerAlive() {
    await("LIVE fra1", () -> {
      claim(victim, "theirs", "w1", "fra1", "0s");
      return seen(victim, "w1");
    });
    submit(attacker, "mine");
    Rig.Answer claimed = claim(attacker, "mine", "own", "evil", "5s");
    String path = "/v1/tasks/" + claimed.text("tasks", 0, "id") + "/extend";
    String body = "{\"token\": \"" + claimed.text("tasks", 0, "token")
        + "\", \"lease\": \"2s\", \"worker\": \"w1\"}";
    await("", () -> {
      assertThat(rig.as(attacker).post(path, body).status()).isEqualTo(200);
      return seen(victim, "w1");
    });
  }

  @Test
  void aClosedConnectionGetsNoTaskAndKeepsNoWorkerAlive() {
    RawClient open = poll(victim, "theirs", "{\"worker\": \"open\", \"wait\": \"15s\"}");
    RawClient named = poll(victim, "theirs", "{\"worker\": \"dead\", \"wait\": \"15s\"}");
    await("LIVE ", () -> seen(victim, "dead"));
    List<RawClient> dead = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      dead.add(poll(victim, "theirs", "{\"wait\": \"60s\"}"));
    }
    assertThat(open.receive(Duration.ofMillis(200)).statuses()).as("the claims wait").isEmpty();
    named.close();
    dead.forEach(RawClient::close);
    await("", () -> seen(victim, "dead"));
    assertThat(open.receive(Duration.ofMillis(1)).statuses()).as("a claim that began earlier waits on").isEmpty();
    open.close();
    await("", () -> seen(victim, "open"));
    for (int i = 0; i < 25; i++) {
      submit(victim, "theirs");
    }
    int got = 0;
    for (int i = 0; i < 25; i++) {
      got += claim(victim, "theirs", "living", "", "5s").list("tasks").size();
    }
    assertThat(got).as("tasks that the living worker gets at once").isEqualTo(25);
  }

  @Test
  void bytesThatArriveDuringAWaitAreTheNextRequest() {
    RawClient client = poll(victim, "theirs", "{\"wait\": \"1s\"}");
    assertThat(client.receive(Duration.ofMillis(300)).statuses()).isEmpty();
    client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertThat(client.receive(Duration.ofSeconds(2)).statuses()).containsExactly(200, 200);
    client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertThat(client.receive("}").statuses()).containsExactly(200);
  }

  @Test
  void aRequestBeforeTheCloseDoesNotHideIt() {
    List<RawClient> dead = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      dead.add(poll(victim, "theirs", "{\"wait\": \"60s\"}"));
    }
    RawClient last = poll(victim, "theirs", "{\"worker\": \"last\", \"wait\": \"15s\"}");
    await("LIVE ", () -> seen(victim, "last"));
    dead.forEach(client -> {
      client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
      client.close();
    });
    last.close();
    await("", () -> seen(victim, "last"));
    for (int i = 0; i < 5; i++) {
      submit(victim, "theirs");
    }
    int got = 0;
    for (int i = 0; i < 5; i++) {
      got += claim(victim, "theirs", "living", "", "5s").list("tasks").size();
    }
    assertThat(got).as("tasks that the living worker gets at once").isEqualTo(5);
  }

  @Test
  void aKeyThatWasRemovedDuringItsWaitGetsNoTask() {
    RawClient waiting = poll(victim, "theirs", "{\"wait\": \"30s\"}");
    assertThat(waiting.receive(Duration.ofMillis(200)).statuses()).isEmpty();
    String id = victim.substring(4, victim.indexOf('_', 4));
    assertThat(rig.as(admin).call("DELETE", "/v1/keys/" + id, null, Map.of()).status()).isEqualTo(200);
    submit(admin, "theirs");
    assertThat(waiting.receive("}").statuses()).containsExactly(401);
    assertThat(claim(admin, "theirs", "", "", "5s").list("tasks")).hasSize(1);
  }

  @Test
  void aKeyThatExpiresDuringItsWaitGetsNoTask() {
    String shortLived = rig.as(admin).post("/v1/keys", "{\"actions\": [\"consume\"], \"queues\": [\"theirs\"],"
        + " \"expiresAt\": \"" + Instant.now().plusMillis(700) + "\"}").text("key");
    RawClient waiting = poll(shortLived, "theirs", "{\"wait\": \"30s\"}");
    assertThat(waiting.receive("}").statuses()).containsExactly(401);
  }

  @Test
  void tasksWhoseAnswerCannotBeWrittenKeepTheirOnlyAttempt() {
    assertThat(rig.as(admin).call("PUT", "/v1/queues/once", "{\"delivery\": {\"type\": \"pull\", \"timeout\": \"1m\"},"
        + " \"retry\": {\"maxAttempts\": 1}}", Map.of()).status()).isLessThan(300);
    int count = 60;
    String task = "{\"delay\": \"0s\", \"payload\": \"" + "x".repeat(200_000) + "\"}";
    for (int i = 0; i < count; i++) {
      assertThat(rig.post("/v1/queues/once/tasks", task).status()).isEqualTo(201);
    }
    // The client reads nothing. Together, the answers are larger than the buffers of the connection.
    String claim = request(admin, "once", "{\"max\": 15, \"wait\": \"5s\"}");
    RawClient dead = new RawClient(rig.server.port(), 4 << 10);
    dead.send(claim.repeat(4));
    await("true", () -> {
      int before = running();
      return Boolean.toString(before > 0 && running() == before);
    });
    int claimed = running();
    dead.close();
    int got = 0;
    while (got <= count - claimed) {
      List<?> tasks = rig.post("/v1/queues/once/claims", "{\"max\": 10, \"wait\": \"10s\"}").list("tasks");
      assertThat(tasks).as("after %s tasks, and %s of the dead client", got, claimed).isNotEmpty();
      assertThat(tasks).allSatisfy(each -> assertThat(((Map<?, ?>) each).get("attempt")).hasToString("1"));
      got += tasks.size();
    }
  }

  /** Returns how many tasks of the queue "once" run. */
  private int running() {
    return rig.get("/v1/queues/once/tasks?state=RUNNING&limit=60").list("tasks").size();
  }
}
