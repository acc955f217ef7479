package io.foliot.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.foliot.api.Cancellation;
import io.foliot.client.StubServer.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests which calls are repeated, when they are repeated, and how outcomes are reported. */
final class TransportTest {
  private static final NewTask TASK = NewTask.after(Duration.ofSeconds(1));
  private static final NewTask SAFE_TASK = TASK.toBuilder().idempotencyKey("i1").build();
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final String SUBMITTED = """
      {"id":"t1","queue":"mail","key":null,"generation":1,"dueAt":"2026-11-21T10:00:00Z","state":"DELAYED","result":"CREATED"}""";
  private static final Reply DONE = Reply.json(201, SUBMITTED);
  private static final RawServer.Conversation DONE_RAW = RawServer.reply("HTTP/1.1 201 Created",
      "Content-Length: " + SUBMITTED.length(), "Connection: close", "", SUBMITTED);

  private final ManualClock clock = ManualClock.hasty();

  private FoliotClient client(URI url) {
    return FoliotClient.builder(url).clock(clock).build();
  }

  private FoliotClient impatient(URI url) {
    return FoliotClient.builder(url).clock(clock).requestTimeout(SHORT).build();
  }

  private static URI refusing() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aConnectionCutAfterTheRequestWasSentIsAnUnknownOutcome() {
    try (RawServer server = RawServer.having(RawServer.CUT); FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining("the connection broke").hasCauseInstanceOf(IOException.class);
      assertThat(server.request()).contains("POST /v1/queues/mail/tasks", "\"delay\":\"PT1S\"");
      assertThat(server.unseen()).as("a second request").isZero();
      assertThat(clock.waits()).isEmpty();
    }
  }

  @Test
  void aTimeoutIsAnUnknownOutcomeAndClosesTheConnection() {
    try (RawServer server = RawServer.having(RawServer.SILENT); FoliotClient client = impatient(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining("timeout=PT0.2S");
      server.awaitEnd();
    }
  }

  @Test
  void anAnswerThatNeverEndsTimesOut() {
    RawServer.Conversation half = (in, out) -> {
      RawServer.reply("HTTP/1.1 201 Created", "Content-Length: 1000", "", "{").answer(in, out);
      RawServer.SILENT.answer(in, out);
    };
    try (RawServer server = RawServer.having(half); FoliotClient client = impatient(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnknownOutcomeException.class);
      server.awaitEnd();
    }
  }

  @Test
  void anAnswerThatIsCutIsAnUnknownOutcome() {
    try (
        RawServer server = RawServer
            .having(RawServer.reply("HTTP/1.1 201 Created", "Content-Length: 1000", "", SUBMITTED));
        FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(server.request()).isNotEmpty();
      assertThat(server.unseen()).isZero();
    }
  }

  @Test
  void aFailedConnectionIsReportedAsUnreachable() {
    try (FoliotClient client = client(refusing())) {
      assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnreachableException.class);
      assertThat(clock.waits()).as("no retry without an idempotency key").isEmpty();
      assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(UnreachableException.class);
      assertThat(clock.waits()).hasSize(3);
    }
  }

  @Test
  void aSubmitWithAnIdempotencyKeyIsRepeatedUnchanged() {
    try (RawServer server = RawServer.having(RawServer.CUT, RawServer.CUT, DONE_RAW);
        FoliotClient client = client(server.url())) {
      assertThat(client.submit("mail", SAFE_TASK).id()).isEqualTo("t1");
      String first = server.request();
      assertThat(first).contains("Idempotency-Key: i1");
      assertThat(server.request()).isEqualTo(first);
      assertThat(server.request()).isEqualTo(first);
    }
  }

  @Test
  void aBatchIsRepeatedIfEachTaskHasAnIdempotencyKey() {
    String answer = "[" + SUBMITTED + "," + SUBMITTED + "]";
    try (StubServer server = StubServer.answeringInTurn(Reply.empty(503), Reply.json(200, answer));
        FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.submitBatch("mail", List.of(SAFE_TASK, TASK)))
          .isInstanceOf(FoliotException.class);
      String body = server.request().body();
      assertThat(client.submitBatch("mail", List.of(SAFE_TASK, SAFE_TASK))).hasSize(2);
      assertThat(body).isNotEmpty();
    }
    try (StubServer server = StubServer.answeringInTurn(Reply.empty(503), Reply.json(200, answer));
        FoliotClient client = client(server.url())) {
      assertThat(client.submitBatch("mail", List.of(SAFE_TASK, SAFE_TASK))).hasSize(2);
      assertThat(server.request().body()).isEqualTo(server.request().body()).hasLineCount(2);
    }
  }

  @Test
  void attemptsAreBoundedAndTheLastFailureIsReported() {
    try (StubServer server = StubServer.answeringInTurn(Reply.empty(503)); FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.getTask("t1")).isInstanceOfSatisfying(FoliotException.class,
          e -> assertThat(e.status()).isEqualTo(503));
      assertThat(server.unseen()).isEqualTo(RetryPolicy.standard().maxAttempts());
    }
  }

  @Test
  void theClientWaitsAsLongAsRetryAfterRequires() {
    String date = DateTimeFormatter.RFC_1123_DATE_TIME
        .format(ManualClock.START.plusSeconds(7 + 20).atOffset(ZoneOffset.UTC));
    try (
        StubServer server = StubServer.answeringInTurn(Reply.retryAfter(429, "7"), Reply.retryAfter(503, date),
            Reply.retryAfter(429, "soon"), DONE);
        FoliotClient client = client(server.url())) {
      assertThat(client.submit("mail", SAFE_TASK).id()).isEqualTo("t1");
      assertThat(clock.waits()).startsWith(Duration.ofSeconds(7), Duration.ofSeconds(20)).hasSize(3);
      assertThat(clock.waits().getLast()).as("a malformed Retry-After").isBetween(Duration.ofMillis(200),
          Duration.ofMillis(400));
    }
  }

  @Test
  void aRetryAfterBeyondThePolicyFailsTheCall() {
    try (StubServer server = StubServer.answeringInTurn(Reply.retryAfter(429, "31"));
        FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.getTask("t1")).isInstanceOfSatisfying(FoliotException.class,
          e -> assertThat(e.retryAfter()).isEqualTo(Optional.of(Duration.ofSeconds(31))));
      assertThat(clock.waits()).isEmpty();
    }
  }

  @Test
  void anUnsafeCallIsNotRepeatedAndItsRetryAfterIsReported() {
    try (StubServer server = StubServer.answeringInTurn(Reply.retryAfter(429, "1"));
        FoliotClient client = client(server.url())) {
      for (Runnable call : List.<Runnable>of(() -> client.submit("mail", TASK), () -> client.runNow("t1"),
          () -> client.redrive("mail", 1),
          () -> client.claim("mail", new ClaimRequest(1, Duration.ZERO, Duration.ofSeconds(1), null)))) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(FoliotException.class,
            e -> assertThat(e.retryAfter()).isEqualTo(Optional.of(Duration.ofSeconds(1))));
        assertThat(server.request()).isNotNull();
        assertThat(server.unseen()).isZero();
      }
    }
  }

  @Test
  void aCancelIsRepeatedOnlyIfTheServerDidNothing() {
    Reply cancelled = Reply.json(200, "{\"result\":\"CANCELLED\"}");
    try (StubServer server = StubServer.answeringInTurn(Reply.retryAfter(503, "1"), Reply.empty(429), cancelled);
        FoliotClient client = client(server.url())) {
      assertThat(client.cancel("t1")).isEqualTo(Cancellation.CANCELLED);
      assertThat(server.unseen()).isEqualTo(3);
    }
    try (StubServer server = StubServer.answeringInTurn(Reply.empty(503), cancelled);
        FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.cancel("t1")).as("a 503 without Retry-After may come from a proxy")
          .isInstanceOf(FoliotException.class);
    }
    try (RawServer server = RawServer.having(RawServer.CUT); FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.cancel("t1")).as("a second answer would be ALREADY_FINISHED")
          .isInstanceOf(UnknownOutcomeException.class);
      assertThat(server.request()).startsWith("DELETE");
      assertThat(server.unseen()).isZero();
    }
  }

  @Test
  void anUnknownOutcomeStaysUnknownAfterARejectedRepeat() {
    RawServer.Conversation tooMany = RawServer.reply("HTTP/1.1 429 Slow down", "Content-Length: 0",
        "Connection: close", "", "");
    RawServer.Conversation forbidden = RawServer.reply("HTTP/1.1 403 No", "Content-Length: 0", "Connection: close", "",
        "");
    for (RawServer.Conversation last : List.of(tooMany, forbidden)) {
      try (RawServer server = RawServer.having(RawServer.CUT, last); FoliotClient client = client(server.url())) {
        assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(UnknownOutcomeException.class)
            .hasCauseInstanceOf(FoliotException.class);
      }
    }
    CompletableFuture<RawServer> gone = new CompletableFuture<>();
    try (RawServer server = RawServer.having((in, out) -> gone.join().close())) {
      assertThat(gone.complete(server)).isTrue();
      try (FoliotClient client = client(server.url())) {
        assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(UnknownOutcomeException.class)
            .hasCauseInstanceOf(UnreachableException.class);
      }
    }
  }

  @Test
  void aRefusalOfTheTaskReplacesAnUnknownOutcome() {
    RawServer.Conversation otherBody = RawServer.reply("HTTP/1.1 422 Other body", "Content-Length: 0",
        "Connection: close", "", "");
    try (RawServer server = RawServer.having(RawServer.CUT, otherBody); FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOfSatisfying(FoliotException.class,
          e -> assertThat(e.status()).isEqualTo(422));
    }
  }

  @Test
  void anErrorOfAGatewayIsAnUnknownOutcome() {
    for (int status : new int[]{502, 504}) {
      try (StubServer server = StubServer.answering(status, "<h1>Gateway</h1>");
          FoliotClient client = client(server.url())) {
        assertThatThrownBy(() -> client.submit("mail", TASK)).isInstanceOf(UnknownOutcomeException.class)
            .hasCauseInstanceOf(FoliotException.class);
        assertThat(server.unseen()).isOne();
        assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(UnknownOutcomeException.class);
        assertThat(server.unseen()).isEqualTo(1 + RetryPolicy.standard().maxAttempts());
      }
    }
  }

  @Test
  void anInternalErrorIsAnUnknownOutcomeAndNotRepeated() {
    try (StubServer server = StubServer.answering(500, "{}");
        FoliotClient client = client(server.url())) {
      assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining("status=500").hasCauseInstanceOf(FoliotException.class);
      assertThat(server.unseen()).isOne();
    }
  }

  @Test
  void redirectsAreNotFollowed() {
    try (StubServer elsewhere = StubServer.answering(201, SUBMITTED)) {
      for (int status : new int[]{301, 302, 303, 307, 308}) {
        try (
            StubServer server = StubServer.answeringInTurn(
                new Reply(status, Map.of("Location", elsewhere.url() + "/v1/queues/mail/tasks"), ""));
            FoliotClient client = client(server.url())) {
          assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOfSatisfying(FoliotException.class,
              e -> assertThat(e.status()).isEqualTo(status));
        }
      }
      assertThat(elsewhere.unseen()).isZero();
    }
  }

  @Test
  void aPolicyOfOneAttemptDoesNotRepeat() {
    try (StubServer server = StubServer.answeringInTurn(Reply.retryAfter(429, "0"));
        FoliotClient client = FoliotClient.builder(server.url()).clock(clock).retry(RetryPolicy.none()).build()) {
      assertThatThrownBy(() -> client.submit("mail", SAFE_TASK)).isInstanceOf(FoliotException.class);
      assertThat(server.unseen()).isOne();
    }
  }

  @Test
  void backoffDoublesUpToItsMaximum() {
    RetryPolicy policy = new RetryPolicy(100, Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ZERO);
    assertThat(IntStream.rangeClosed(1, 8).mapToObj(attempt -> policy.backoff(attempt, 0).toMillis())).containsExactly(
        50L, 100L, 200L, 400L, 800L, 1600L, 2500L, 2500L);
    assertThat(policy.backoff(3, 0.5)).isEqualTo(Duration.ofMillis(300));
    assertThat(policy.backoff(Integer.MAX_VALUE, 1)).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void anInterruptIsAnUnknownOutcomeAndStaysSet() throws InterruptedException {
    try (RawServer server = RawServer.having(RawServer.SILENT); FoliotClient client = client(server.url())) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      CompletableFuture<Boolean> stillSet = new CompletableFuture<>();
      Thread caller = Thread.ofVirtual().start(() -> {
        failure.set(catchThrowable(() -> client.submit("mail", SAFE_TASK)));
        stillSet.complete(Thread.currentThread().isInterrupted());
      });
      assertThat(server.request()).startsWith("POST");
      caller.interrupt();
      assertThat(Bound.get(stillSet)).isTrue();
      assertThat(failure.get()).isInstanceOf(UnknownOutcomeException.class);
      server.awaitEnd();
      caller.join();
    }
  }

  @Test
  void cancellingAFutureAbortsItsCall() {
    try (RawServer server = RawServer.having(RawServer.SILENT); FoliotClient client = client(server.url())) {
      CompletableFuture<SubmittedTask> answer = client.async().submit("mail", SAFE_TASK);
      assertThat(server.request()).startsWith("POST");
      assertThat(answer.cancel(true)).isTrue();
      server.awaitEnd();
      assertThat(server.unseen()).as("a repeated request").isZero();
    }
  }

  @Test
  void cancellingAFutureEndsTheWaitForARepeat() {
    ManualClock patient = ManualClock.patient();
    try (StubServer server = StubServer.answeringInTurn(Reply.retryAfter(429, "5"));
        FoliotClient client = FoliotClient.builder(server.url()).clock(patient).build()) {
      CompletableFuture<SubmittedTask> answer = client.async().submit("mail", SAFE_TASK);
      Bound.awaitTrue(() -> patient.waiting() == 1);
      assertThat(answer.cancel(true)).isTrue();
      assertThat(patient.waiting()).isZero();
      assertThat(server.unseen()).isOne();
    }
  }

  @Test
  void closingTheClientEndsACallWithAnUnknownOutcome() {
    try (RawServer server = RawServer.having(RawServer.SILENT)) {
      FoliotClient client = client(server.url());
      CompletableFuture<SubmittedTask> answer = client.async().submit("mail", SAFE_TASK);
      assertThat(server.request()).startsWith("POST");
      client.close();
      assertThatThrownBy(() -> Bound.get(answer)).hasRootCauseInstanceOf(Throwable.class)
          .satisfies(e -> assertThat(e.getCause()).isInstanceOf(UnknownOutcomeException.class));
    }
  }
}
