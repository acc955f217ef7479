package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One caller uses as much of a shared budget as it can: the memory of bodies, the connections, the memory of lists.
 * Tests that other callers are served meanwhile.
 */
final class ShareAttackTest {
  private static final String HOST = "Host: localhost\r\n";
  private static final Duration BOUND = Duration.ofSeconds(30);
  /** Connections of the attacker, many more than it needs to use up each budget of the test. */
  private static final int ATTACKERS = 60;
  private static final int CONNECTIONS = 40;

  private final Rig rig = Rig.start(Map.of("limit-batch-body", "1MiB", "limit-waiting-bytes", "4MiB",
      "limit-answer-bytes", "16MiB", "limit-connections", Integer.toString(CONNECTIONS))).withQueue("mine")
      .withQueue("theirs");
  private final List<RawClient> attackers = new ArrayList<>();

  @AfterEach
  void stop() {
    attackers.forEach(RawClient::close);
    rig.close();
  }

  private String key(String actions, String queue) {
    return rig.post("/v1/keys", "{\"actions\": [" + actions + "], \"queues\": [\"" + queue + "\"]}").text("key");
  }

  private RawClient attack(String request) {
    RawClient attacker = new RawClient(rig.server.port());
    attackers.add(attacker);
    attacker.send(request);
    return attacker;
  }

  private int statusOf(String request) {
    try (RawClient client = new RawClient(rig.server.port())) {
      client.send(request);
      List<Integer> statuses = client.receive("}").statuses();
      return statuses.isEmpty() ? 0 : statuses.getFirst();
    }
  }

  private int statusOfHealth() {
    return statusOf("GET /health/ready HTTP/1.1\r\n" + HOST + "\r\n");
  }

  @Test
  void bodiesOfOneKeyLeaveRoomForOthers() {
    rig.as(key("\"admin\"", "*"));
    String attacker = key("\"submit\"", "mine");
    String victim = key("\"submit\"", "theirs");
    String head = "POST /v1/queues/mine/tasks:batch HTTP/1.1\r\n" + HOST + "Content-Type: application/json\r\n"
        + "Authorization: Bearer " + attacker + "\r\nContent-Length: 1000000\r\n\r\n";
    boolean isRefused = false;
    for (int i = 0; i < 8; i++) {
      isRefused |= attack(head + "[" + " ".repeat(900_000)).receive(Duration.ofMillis(300)).statuses().contains(503);
    }
    assertThat(isRefused).as("the attacker has used up its share").isTrue();
    for (int i = 0; i < 5; i++) {
      Rig.Answer answer = rig.as(victim).post("/v1/queues/theirs/tasks", "{\"delay\": \"1h\"}");
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    }
    Rig.Answer batch = rig.as(victim).post("/v1/queues/theirs/tasks:batch",
        "[{\"delay\": \"1h\"}" + " ".repeat(900_000) + "]");
    assertThat(batch.status()).as(batch.body()).isEqualTo(200);
  }

  @Test
  void connectionsWithoutAKeyLeaveRoomForOthers() {
    rig.as(key("\"admin\"", "*"));
    String kept = "GET /v1/queues HTTP/1.1\r\n" + HOST + "Authorization: Bearer " + key("\"read\"", "theirs")
        + "\r\n\r\n";
    try (RawClient known = new RawClient(rig.server.port())) {
      known.send(kept);
      assertThat(known.receive("}").statuses()).containsExactly(200);
      for (int i = 0; i < ATTACKERS; i++) {
        attack(i % 2 == 0 ? "GET /health/live HTTP/1.1\r\nHost: l" : "");
      }
      for (int i = 0; i < 5; i++) {
        assertThat(statusOfHealth()).isEqualTo(200);
        assertThat(statusOf(kept)).isEqualTo(200);
      }
      known.send(kept);
      assertThat(known.receive("}").statuses()).as("an idle connection of a known key is kept").containsExactly(200);
    }
  }

  @Test
  void idleConnectionsThatWereServedLeaveRoomForOthers() {
    rig.as(key("\"admin\"", "*"));
    for (int i = 0; i < ATTACKERS; i++) {
      attack("GET /health/live HTTP/1.1\r\n" + HOST + "\r\n").receive("}");
    }
    assertThat(statusOfHealth()).isEqualTo(200);
  }

  @Test
  void connectionsOfOneKeyLeaveRoomForOthers() {
    rig.as(key("\"admin\"", "*"));
    String attacker = key("\"read\"", "mine");
    String idle = "GET /v1/queues HTTP/1.1\r\n" + HOST + "Authorization: Bearer " + attacker + "\r\n\r\n";
    for (int i = 0; i < ATTACKERS; i++) {
      attack(idle).receive("}");
    }
    String victim = "GET /v1/queues HTTP/1.1\r\n" + HOST + "Authorization: Bearer " + key("\"read\"", "theirs")
        + "\r\n\r\n";
    assertThat(statusOf(victim)).isEqualTo(200);
    assertThat(statusOfHealth()).isEqualTo(200);
  }

  @Test
  void longPollsOfOneKeyLeaveRoomForOthers() {
    rig.as(key("\"admin\"", "*"));
    String body = "{\"wait\": \"60s\"}";
    String claim = "POST /v1/queues/mine/claims HTTP/1.1\r\n" + HOST + "Content-Type: application/json\r\n"
        + "Authorization: Bearer " + key("\"consume\"", "mine") + "\r\nContent-Length: " + body.length() + "\r\n\r\n"
        + body;
    for (int i = 0; i < ATTACKERS; i++) {
      attack(claim).receive(Duration.ofMillis(20));
    }
    assertThat(statusOfHealth()).isEqualTo(200);
  }

  @Test
  void listsThatAreNotReadLeaveRoomForOthers() {
    for (int i = 0; i < 12; i++) {
      rig.post("/v1/queues/mine/tasks", "{\"delay\": \"1h\", \"payload\": \"" + "x".repeat(200_000) + "\"}");
    }
    rig.post("/v1/queues/theirs/tasks", "{\"delay\": \"1h\"}");
    rig.as(key("\"admin\"", "*"));
    String list = "GET /v1/queues/mine/tasks HTTP/1.1\r\n" + HOST + "Authorization: Bearer "
        + key("\"read\"", "mine") + "\r\n\r\n";
    String victim = key("\"read\"", "theirs");
    for (int i = 0; i < 8; i++) {
      attack(list.repeat(10));
    }
    rig.as(victim);
    for (int i = 0; i < 20; i++) {
      Rig.Answer answer = rig.get("/v1/queues/theirs/tasks?limit=10");
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    }
  }

  @Tag("long")
  @Test
  void aBodyThatStopsAfterAFastStartIsRefusedLongBeforeTheClientTimeout() {
    RawClient slow = attack("POST /v1/queues/mine/tasks HTTP/1.1\r\n" + HOST
        + "Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n" + " ".repeat(190_000));
    // By default, server.client-timeout is 2 minutes.
    RawClient.Received received = slow.receive(BOUND);
    assertThat(received.ended()).isTrue();
  }
}
