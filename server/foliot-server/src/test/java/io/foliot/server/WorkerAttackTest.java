package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

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
 * A key uses the names of workers of another key, makes up names, or leaves claims behind that nobody waits for. Tests
 * that the workers of other keys keep their seats, and get the tasks.
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
    List<Integer> statuses = client.receive(Duration.ofSeconds(2)).statuses();
    sent.join();
    assertThat(statuses).as("the last of 2,200 claims").endsWith(429);
    await("LIVE ber1", () -> {
      claim(victim, "theirs", "victim-1", "ber1", "0s");
      return seen(victim, "victim-1");
    });
    Rig.Answer refused = claim(attacker, "mine", "one-more", "z", "0s");
    if (refused.status() == 429) {
      assertThat(refused.text("type")).isEqualTo("urn:foliot:problem:too-many-workers");
    }
    assertThat(rig.as(admin).get("/metrics").body()).contains("foliot_worker_seats_in_use ");
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
    for (int i = 0; i < 20; i++) {
      RawClient dead = poll(victim, "theirs", "{\"max\": 1, \"worker\": \"dead-" + i + "\", \"wait\": \"60s\"}");
      int seat = i;
      if (i < 2) {
        await("LIVE ", () -> seen(victim, "dead-" + seat));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      dead.close();
    }
    clients.clear();
    await("", () -> seen(victim, "dead-0"));
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
}
