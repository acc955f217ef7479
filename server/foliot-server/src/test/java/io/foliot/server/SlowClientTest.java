package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests clients that stop sending or reading: none of them uses memory or a connection for long. */
class SlowClientTest {
  private static final String HOST = "Host: localhost\r\n";
  private static final String SUBMIT = "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST
      + "Content-Type: application/json\r\n";
  /** Time between two sends of a slow client, much shorter than {@code client-timeout}. */
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int MAX_PAUSES = 400;
  /** Longest wait for the end of a connection. */
  private static final Duration END_BOUND = Duration.ofSeconds(20);

  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start(Map.of("client-timeout", "1s")).withQueue("q");
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  /** Repeats the bytes until an answer arrives or the connection ends. */
  private static RawClient.Received drip(RawClient raw, String bytes) {
    RawClient.Received received = raw.receive(PAUSE);
    for (int i = 0; i < MAX_PAUSES && received.text().isEmpty() && !received.ended(); i++) {
      raw.send(bytes);
      received = raw.receive(PAUSE);
    }
    return received;
  }

  private static void assertNoBodyIsHeld() {
    rig.eventually("/metrics", answer -> answer.body().contains("foliot_http_bodies_bytes 0.0"));
  }

  private static void assertCounted() {
    rig.eventually("/metrics", answer -> answer.body().contains("foliot_http_requests_seconds_count{method=\"POST\","
        + "path=\"/v1/queues/{queue}/tasks\",status=\"408\"}"));
  }

  @Test
  void aBodyThatArrivesTooSlowlyIsAnswered() {
    for (String head : new String[]{"Content-Length: 200000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"}) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        raw.send(SUBMIT + head);
        RawClient.Received received = drip(raw, head.startsWith("T") ? "1\r\n \r\n" : " ");
        assertThat(received.statuses()).as(received.text()).containsExactly(408);
        assertThat(received.text()).contains("urn:foliot:problem:request-timeout");
        assertNoBodyIsHeld();
      }
    }
    assertCounted();
  }

  @Test
  void aBodyThatStopsEndsItsConnection() {
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send(SUBMIT + "Content-Length: 200000\r\n\r\n" + " ".repeat(100_000));
      rig.eventually("/metrics", answer -> !answer.body().contains("foliot_http_bodies_bytes 0.0"));
      assertThat(raw.receive(END_BOUND).ended()).isTrue();
    }
    assertNoBodyIsHeld();
    assertCounted();
  }

  @Test
  void aHeadThatDoesNotArriveEndsItsConnection() {
    for (String begun : new String[]{"", "GET /hea", "GET /health/live HTTP/1.1\r\nHos"}) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        raw.send(begun);
        assertThat(raw.receive(END_BOUND).ended()).as(begun).isTrue();
      }
      try (RawClient raw = new RawClient(rig.server.port())) {
        raw.send(begun);
        assertThat(drip(raw, "x").ended()).as("dripping: " + begun).isTrue();
      }
    }
  }

  @Test
  void anIdleConnectionServesARequestUntilItIsClosed() {
    for (int tried = 0;; tried++) {
      try (RawClient raw = new RawClient(rig.server.port())) {
        raw.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(raw.receive("}").statuses()).containsExactly(200);
        long begunNanos = System.nanoTime();
        // This wait is longer than client-timeout, but shorter than the time after which an idle connection ends.
        assertThat(raw.receive(Duration.ofMillis(1_200)).text()).isEmpty();
        raw.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
        RawClient.Received second = raw.receive("}");
        if (!second.ended() || Duration.ofNanos(System.nanoTime() - begunNanos).toSeconds() < 2) {
          assertThat(second.statuses()).containsExactly(200);
          return;
        }
        assertThat(tried).as("tries on a machine that was too slow").isLessThan(20);
      }
    }
  }

  @Test
  void anAnswerThatIsNotReadEndsItsConnection() {
    for (int i = 0; i < 10; i++) {
      rig.post("/v1/queues/q/tasks", "{\"delay\": \"1h\", \"payload\": \"" + "x".repeat(200_000) + "\"}");
    }
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send(("GET /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + "\r\n").repeat(20));
      rig.eventually("/metrics", answer -> !answer.body().contains("foliot_http_answers_bytes 0.0"));
      // Between two answers the gauge is 0 for a moment, too.
      int[] inARow = {0};
      rig.eventually("/metrics", answer -> {
        inARow[0] = answer.body().contains("foliot_http_answers_bytes 0.0") ? inARow[0] + 1 : 0;
        return inARow[0] == 10;
      });
      RawClient.Received received = raw.receive(END_BOUND);
      assertThat(received.ended()).isTrue();
      assertThat(received.statuses()).hasSizeLessThan(20);
    }
  }

  @Test
  void aRequestThatWaitsIsNotSlow() {
    Rig.Answer claim = rig.post("/v1/queues/q/claims", "{\"wait\": \"4s\"}");
    assertThat(claim.status()).isEqualTo(200);
  }

  @Test
  void timeInTheStoreIsNotTheClients() {
    try (Rig guarded = Rig.start(Map.of("client-timeout", "1s", "call-timeout", "20s")).withQueue("q");
        RawClient raw = new RawClient(guarded.server.port())) {
      TaskId id = TaskId.parse(guarded.post("/v1/queues/q/tasks", "{\"delay\": \"1h\", \"payload\": 1}").text("id"));
      Optional<TaskRecord> task = guarded.server.scheduler().find(new TaskRef.ById(id)).join();
      String admin = guarded.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
      String key = guarded.as(admin).post("/v1/keys", "{\"actions\": [\"submit\"], \"queues\": [\"q\"]}").text("key");
      // Whether this key may run the task depends on the task's queue. The server therefore reads the task before the
      // body.
      CompletableFuture<Optional<TaskRecord>> found = new CompletableFuture<>();
      guarded.engineResult = found;
      raw.send("POST /v1/tasks/" + id + "/run HTTP/1.1\r\n" + HOST + "Authorization: Bearer " + key
          + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n");
      assertThat(raw.receive(Duration.ofMillis(2_500)).text()).isEmpty();
      guarded.engineResult = null;
      found.complete(task);
      raw.send("{}");
      RawClient.Received received = raw.receive("}");
      assertThat(received.statuses()).as(received.text()).containsExactly(200);
    }
  }
}
