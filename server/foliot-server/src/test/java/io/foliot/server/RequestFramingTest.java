package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the server finds the end of each request. It never reads a byte of a body as a request, and it closes a
 * connection after the answer to a request with {@code Connection: close}.
 */
class RequestFramingTest {
  private static final String HOST = "Host: localhost\r\n";
  private static final String JSON = "Content-Type: application/json\r\n";
  private static final String SMUGGLED = "DELETE /v1/queues/victim HTTP/1.1\r\nHost: localhost\r\n\r\n";
  /** Longest wait for the end of a connection. It exceeds the server's wait for a client that still sends. */
  private static final Duration END_BOUND = Duration.ofSeconds(8);

  private Rig rig;

  @BeforeEach
  void start() {
    rig = Rig.start().withQueue("victim").withQueue("q");
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  /** Sends a request, and reads until the server ends the connection. */
  private RawClient.Received send(String request) {
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send(request);
      return raw.receive(END_BOUND);
    }
  }

  /** Sends a request, ends the output, and reads until the server ends the connection. */
  private RawClient.Received sendAll(String request) {
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send(request);
      raw.endOutput();
      return raw.receive(END_BOUND);
    }
  }

  private void assertVictimLives() {
    assertThat(rig.server.scheduler().queue("victim")).isPresent();
  }

  /**
   * Sends a request. Asserts that there is one answer, that the connection ends, and that {@link #SMUGGLED} had no
   * effect.
   */
  private void assertAnsweredOnce(String request, int status) {
    assertAnsweredOnce(request, status, sendAll(request));
  }

  private void assertAnsweredOnce(String request, int status, RawClient.Received received) {
    assertThat(received.statuses().stream().filter(code -> code >= 200)).as(request + "\n" + received.text())
        .containsExactly(status);
    assertThat(received.ended()).as("the connection ends: " + request).isTrue();
    assertThat(received.text().toLowerCase(Locale.ROOT)).contains("connection: close");
    assertVictimLives();
  }

  private static String withExpect(String firstLine, String headers, String body) {
    return firstLine + " HTTP/1.1\r\n" + HOST + headers + "Expect: 100-continue\r\nContent-Length: " + body.length()
        + "\r\n\r\n" + body;
  }

  private static String chunkedWithExpect(String firstLine, String headers, String body) {
    return firstLine + " HTTP/1.1\r\n" + HOST + headers + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
        + body;
  }

  @ParameterizedTest
  @CsvSource({"GET,/health/live,200,", "GET,/v1/queues,200,", "DELETE,/v1/queues/nope,404,",
      "POST,/nowhere,404,", "PATCH,/v1/queues/q/tasks,405,", "POST,/v1/queues/q/tasks,415,text/plain",
      "GET,/v1/queues?x=1,400,", "GET,/v1/queues/q/tasks?limit=0,400,"})
  void anUnreadBodyAfterExpectIsNotARequest(String method, String path, int status, String type) {
    String headers = type == null ? JSON : "Content-Type: " + type + "\r\n";
    String line = method + " " + path;
    assertAnsweredOnce(withExpect(line, headers, SMUGGLED), status);
    assertAnsweredOnce(chunkedWithExpect(line, headers, SMUGGLED), status);
    String chunk = Integer.toHexString(SMUGGLED.length()) + "\r\n" + SMUGGLED + "\r\n0\r\n\r\n";
    assertAnsweredOnce(chunkedWithExpect(line, headers, chunk), status);
    assertAnsweredOnce(withExpect(line, headers, "x".repeat(100_000) + SMUGGLED), status);
  }

  @Test
  void anUnreadBodyOfARefusedCallerIsNotARequest() {
    Rig.Answer admin = rig.post("/v1/keys", "{\"actions\": [\"admin\"]}");
    String reader = rig.as(admin.text("key")).post("/v1/keys", "{\"actions\": [\"read\"], \"queues\": [\"q\"]}")
        .text("key");
    String line = "POST /v1/queues/q/tasks";
    assertAnsweredOnce(withExpect(line, JSON, SMUGGLED), 401);
    assertAnsweredOnce(chunkedWithExpect(line, JSON, SMUGGLED), 401);
    String key = "Authorization: Bearer " + reader + "\r\n";
    String asAdmin = SMUGGLED.replace("\r\n\r\n", "\r\nAuthorization: Bearer " + admin.text("key") + "\r\n\r\n");
    assertAnsweredOnce(withExpect(line, JSON + key, asAdmin), 403);
    assertAnsweredOnce(chunkedWithExpect(line, JSON + key, asAdmin), 403);
    assertAnsweredOnce(withExpect("POST /v1/queues/victim/claims", JSON + key, asAdmin), 403);
    assertAnsweredOnce(withExpect("GET /v1/queues/victim", JSON + key, asAdmin), 404);
  }

  @Test
  void aBodyThatIsTooLargeIsNotARequest() {
    String head = "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + JSON;
    for (String expect : List.of("", "Expect: 100-continue\r\n")) {
      assertAnsweredOnce(head + expect + "Content-Length: 99999999999\r\n\r\n" + SMUGGLED, 413);
      assertAnsweredOnce(head + expect + "Content-Length: 1000000\r\n\r\n" + SMUGGLED, 413);
      String chunk = "80000\r\n" + " ".repeat(0x80000) + "\r\n";
      assertAnsweredOnce(head + expect + "Transfer-Encoding: chunked\r\n\r\n" + chunk + SMUGGLED, 413);
    }
  }

  @Test
  void aBrokenChunkIsABadRequest() {
    String head = "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + JSON + "Transfer-Encoding: chunked\r\n\r\n";
    for (String body : List.of("zz\r\n", "-1\r\n{}\r\n0\r\n\r\n", "2\n{}\r\n", "ffffffffff\r\n",
        "0\r\nTrailer: x\r\n\r\n",
        "2;ext=1\r\n{}\r\n0\r\n\r\n")) {
      assertAnsweredOnce(head + body + SMUGGLED, 400);
    }
  }

  /** A proxy may understand these forms in another way than the server. */
  @Test
  void aFormThatProxiesUnderstandDifferentlyIsABadRequest() {
    String chunked = "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + JSON + "Transfer-Encoding: chunked\r\n\r\n";
    String body = "{\"delay\": \"1h\"}";
    for (String request : List.of(
        chunked + "+f\r\n" + body + "\r\n0\r\n\r\n",
        chunked + "0xf\r\n" + body + "\r\n0\r\n\r\n",
        chunked + " f\r\n" + body + "\r\n0\r\n\r\n",
        chunked + "f\r\n" + body + "XX0\r\n\r\n",
        chunked + "f\r\n" + body + "\n\n0\r\n\r\n",
        chunked + "f\r\n" + body + "\r\n0\r\nXX",
        "delete /v1/queues/nope HTTP/1.1\r\n" + HOST + "\r\n",
        "gEt /v1/queues HTTP/1.1\r\n" + HOST + "\r\n",
        "GET /v1/queues HTTP/1.1\r\n" + HOST + ": b\r\n\r\n",
        "GET /v1/queues HTTP/1.1\r\n" + HOST + "nothing\r\n\r\n",
        "GET /v1/queues HTTP/1.1\r\n" + HOST + "Content-Length: +0\r\n\r\n")) {
      assertAnsweredOnce(request, 400);
    }
    assertThat(rig.get("/v1/queues/q/tasks").list("tasks")).isEmpty();
  }

  @Test
  void theReasonOfABadRequestIsRight() {
    assertThat(send("GET /health/live HTTP/1.1\r\n\r\n").text()).contains("Host header must be present");
    assertThat(send("GET /health/%zz HTTP/1.1\r\n" + HOST + "\r\n").text()).contains("two hexadecimal digits");
    assertThat(send("get /health/live HTTP/1.1\r\n" + HOST + "\r\n").text()).contains("upper case");
  }

  @Test
  void theEarlierRequestsOfAConnectionAreAnswered() {
    RawClient.Received received = send("GET /health/live HTTP/1.1\r\n" + HOST + "\r\nget /health/live HTTP/1.1\r\n"
        + HOST + "\r\n");
    assertThat(received.statuses()).containsExactly(200, 400);
    assertThat(received.ended()).isTrue();
  }

  @Test
  void theExpectedBodyIsReadAndTheConnectionIsKept() {
    String body = "{\"delay\": \"1h\", \"key\": \"k\"}";
    try (RawClient raw = new RawClient(rig.server.port())) {
      String head = withExpect("POST /v1/queues/q/tasks", JSON, body);
      raw.send(head.substring(0, head.length() - body.length()));
      assertThat(raw.receive("\r\n\r\n").statuses()).containsExactly(100);
      raw.send(body);
      assertThat(raw.receive("}").statuses()).containsExactly(201);
      raw.send("GET /health/live HTTP/1.1\r\n" + HOST + "\r\n");
      assertThat(raw.receive("}").statuses()).containsExactly(200);
    }
  }

  @Test
  void aShortUnreadBodyIsSkippedAndTheConnectionIsKept() {
    String request = "DELETE /v1/queues/nope HTTP/1.1\r\n" + HOST + "Content-Length: " + SMUGGLED.length() + "\r\n\r\n"
        + SMUGGLED;
    RawClient.Received received = send(request + request + "GET /health/live HTTP/1.1\r\n" + HOST
        + "Connection: close\r\n\r\n");
    assertThat(received.statuses()).containsExactly(404, 404, 200);
    assertThat(received.ended()).isTrue();
    assertVictimLives();
  }

  @Test
  void aLongUnreadBodyIsNotARequest() {
    String body = "x".repeat(200_000) + SMUGGLED;
    assertAnsweredOnce("DELETE /v1/queues/nope HTTP/1.1\r\n" + HOST + "Content-Length: " + body.length() + "\r\n\r\n"
        + body, 404);
    assertAnsweredOnce("DELETE /v1/queues/nope HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n"
        + Integer.toHexString(body.length()) + "\r\n" + body + "\r\n0\r\n\r\n" + SMUGGLED, 404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "Close", "keep-alive, close", "close, te"})
  void connectionCloseEndsTheConnection(String value) {
    String header = "Connection: " + value + "\r\n";
    String get = "GET /v1/queues HTTP/1.1\r\n" + HOST + header + "\r\n" + SMUGGLED;
    assertAnsweredOnce(get, 200, send(get));
    String nowhere = "GET /nowhere HTTP/1.1\r\n" + HOST + header + "\r\n" + SMUGGLED;
    assertAnsweredOnce(nowhere, 404, send(nowhere));
    String body = "{\"delay\": \"1h\"}";
    String post = "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + JSON + header + "Content-Length: " + body.length()
        + "\r\n\r\n" + body + SMUGGLED;
    assertAnsweredOnce(post, 201, send(post));
  }

  @Test
  void theServerClosesAConnectionThatTheClientKeeps() {
    String unread = withExpect("GET /health/live", "", SMUGGLED);
    assertAnsweredOnce(unread, 200, send(unread));
    String unsupported = "GET / HTTP/2.0\r\n\r\n" + SMUGGLED;
    assertAnsweredOnce(unsupported, 400, send(unsupported));
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() {
    RawClient.Received received = send("GET /health/live HTTP/1.1\r\n" + HOST + "\r\nGET /nowhere HTTP/1.1\r\n" + HOST
        + "\r\nGET /health/ready HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n" + SMUGGLED);
    assertThat(received.statuses()).containsExactly(200, 404, 200);
    assertThat(received.ended()).isTrue();
    assertVictimLives();
  }

  @Test
  void anHttp10ConnectionServesOneRequest() {
    String body = "{\"delay\": \"1h\"}";
    assertAnsweredOnce("GET /v1/queues HTTP/1.0\r\n" + HOST + "Connection: keep-alive\r\n\r\n" + SMUGGLED, 200);
    assertAnsweredOnce("GET /nowhere HTTP/1.0\r\n" + HOST + "\r\n" + SMUGGLED, 404);
    assertAnsweredOnce("POST /v1/queues/q/tasks HTTP/1.0\r\n" + HOST + JSON + "Connection: close\r\nContent-Length: "
        + body.length() + "\r\n\r\n" + body + SMUGGLED, 201);
    // A request of HTTP/1.0 needs no Host. An open server serves it only on open routes, as for any other foreign host.
    assertAnsweredOnce("GET /health/ready HTTP/1.0\r\n\r\n", 200);
    assertAnsweredOnce("GET /health/ready HTTP/1.0\r\nUser-Agent: check\r\n\r\n" + SMUGGLED, 200);
    assertAnsweredOnce("GET /v1/queues HTTP/1.0\r\n\r\n", 403);
    assertAnsweredOnce("GET /v1/queues HTTP/1.0\r\nhost: localhost\r\n\r\n", 200);
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send("GET /health/live HT");
      raw.send("TP/1.0\r\nHost: local");
      raw.send("host\r\n\r\n");
      assertThat(raw.receive(END_BOUND).statuses()).containsExactly(200);
    }
  }

  @Test
  void aMalformedRequestIsABadRequest() {
    for (String head : List.of("G\u0001T / HTTP/1.1\r\n" + HOST + "\r\n", "G{}T / HTTP/1.1\r\n" + HOST + "\r\n",
        "GET / HTTP/2.0\r\n" + HOST + "\r\n", "GET / HTTP/1.1\r\nHo st: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "x".repeat(6000) + "\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/1.1\n\n",
        "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + "Transfer-Encoding: gzip, chunked\r\n\r\n",
        "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
        "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "POST /v1/queues/q/tasks HTTP/1.1\r\n" + HOST + "Content-Length: x\r\n\r\n")) {
      assertAnsweredOnce(head + SMUGGLED, 400);
    }
  }

  @Test
  void anIncompleteHeadIsNotAServerError() {
    try (RawClient raw = new RawClient(rig.server.port())) {
      raw.send("GET / HTTP/1.1\r\nHos");
      raw.endOutput();
      assertThat(raw.receive(END_BOUND).statuses()).doesNotContain(500);
    }
  }
}
