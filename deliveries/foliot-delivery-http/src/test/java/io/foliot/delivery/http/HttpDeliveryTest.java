package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Target;
import io.foliot.core.SystemClock;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.delivery.http.ScriptedReceiver.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** Attempts against a receiver on this machine. */
class HttpDeliveryTest {
  private static final HttpDeliveryOptions LOOPBACK = HttpDeliveryOptions.builder().allowLoopback(true).build();
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OLD_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDZbnOCSEBqxU=";

  private static InetAddress address(int... bytes) {
    byte[] all = new byte[bytes.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) bytes[i];
    }
    try {
      return InetAddress.getByAddress(all);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private static HttpDelivery delivery() {
    return new HttpDelivery(LOOPBACK);
  }

  private static HttpDelivery delivery(HttpDeliveryOptions options, Resolver resolver) {
    return new HttpDelivery(options, new SystemClock(), resolver, null);
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited 20 s").isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private static void failsWith(Answer answer, Health health, String... detailParts) {
    assertThat(answer).isInstanceOfSatisfying(Answer.Retry.class, retry -> {
      assertThat(retry.health()).as(retry.detail()).isEqualTo(health);
      assertThat(retry.detail()).contains(detailParts);
    });
  }

  private static Request next(ScriptedReceiver receiver) throws InterruptedException {
    return requireNonNull(receiver.received.poll(20, TimeUnit.SECONDS));
  }

  @Test
  void aCallbackHasAllHeadersOfItsTask() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      assertThat(Attempts.answer(delivery, receiver.url() + "?a=b")).isEqualTo(new Answer.Done("HTTP 200"));
      Request request = next(receiver);
      DeliveryAttempt attempt = Attempts.attempt(Attempts.target(receiver.url()));
      assertThat(request.line()).isEqualTo("POST /hook?a=b HTTP/1.1");
      assertThat(new String(request.bytes(), UTF_8)).isEqualTo("{\"order\":17}");
      Map<String, String> expected = new HashMap<>();
      expected.put("host", "127.0.0.1:" + receiver.port());
      expected.put("content-type", "application/json");
      expected.put("content-length", "12");
      expected.put("webhook-id", attempt.firingId());
      expected.put("foliot-task-id", attempt.task().id().toString());
      expected.put("foliot-queue", "orders");
      expected.put("foliot-key", "order-17");
      expected.put("foliot-generation", "1234567");
      expected.put("foliot-attempt", "2");
      expected.put("foliot-checkpoint", Base64.getEncoder().encodeToString("page=\u00fc".getBytes(UTF_8)));
      expected.put("foliot-due-at", "2026-11-21T14:00:00.123Z");
      expected.put("foliot-lease-token", "00112233445566778899aabbccddeeff");
      expected.put("traceparent", Attempts.TRACE);
      expected.put("user-agent", "Foliot/0.1");
      expected.put("connection", "keep-alive");
      assertThat(request.headers().keySet()).containsAll(expected.keySet()).contains("webhook-timestamp");
      expected.forEach((name, value) -> assertThat(request.headers().get(name)).as(name).containsExactly(value));
      assertThat(request.headers()).hasSize(expected.size() + 1);
    }
  }

  @Test
  void eachSecretSignsAsTheStandardRequires() throws Exception {
    TimeSource clock = new TimeSource() {
      @Override
      public long wallMicros() {
        return 1_614_265_330_999_999L;
      }

      @Override
      public long monotonicNanos() {
        return System.nanoTime();
      }
    };
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(LOOPBACK, clock, Resolver.system(), null)) {
      Target target = new Target("http", Map.of("url", receiver.url(), "secret", SECRET + " " + OLD_SECRET),
          Duration.ofSeconds(10));
      byte[] payload = {0, -1, 13, 10, 46};
      Attempts.answer(delivery,
          Attempts.attempt(target, new Body(payload, "application/octet-stream", Map.of()), null));
      Request request = next(receiver);
      assertThat(request.header("webhook-timestamp")).isEqualTo("1614265330");
      assertThat(request.header("foliot-key")).isNull();
      assertThat(request.bytes()).isEqualTo(payload);
      String id = requireNonNull(request.header("webhook-id"));
      assertThat(request.header("webhook-signature"))
          .isEqualTo("v1," + hmac(SECRET, id, payload) + " v1," + hmac(OLD_SECRET, id, payload));
    }
    // This is the example in the specification of Standard Webhooks.
    assertThat(requireNonNull(WebhookSigner.parse(SECRET)).sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
        "{\"test\": 2432232314}".getBytes(UTF_8))).isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  }

  private static String hmac(String secret, String id, byte[] payload) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring(6)), "HmacSHA256"));
    mac.update((id + ".1614265330.").getBytes(UTF_8));
    mac.update(payload);
    return Base64.getEncoder().encodeToString(mac.doFinal());
  }

  @Test
  void aTaskCannotSetReservedHeadersOrSplitHeaders() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      Map<String, String> headers = new HashMap<>(Map.of("Host", "evil.test", "Content-Length", "1", "Connection",
          "close",
          "Transfer-Encoding", "chunked", "Webhook-Id", "forged", "Foliot-Generation", "9", "bad name", "x",
          "x-split\r\nx-evil", "1", "X-Value", "a\r\nx-evil: 1\r\n\r\nGET / HTTP/1.1", "Authorization", "Bearer t"));
      headers.put("X-Unicode", "\u560d\u560ax-evil: 1");
      headers.put("", "x");
      headers.put("Content-Type", "text/evil");
      headers.put("Expect", "100-continue");
      Target target = Attempts.target(receiver.url());
      Attempts.answer(delivery,
          Attempts.attempt(target, new Body(new byte[3], "text/plain\r\nx-evil: 1", headers), "a b\u00e9%"));
      Request request = next(receiver);
      assertThat(request.headers()).doesNotContainKeys("x-evil", "transfer-encoding", "bad name", "expect", "")
          .containsEntry("host", List.of("127.0.0.1:" + receiver.port())).containsEntry("content-length", List.of("3"))
          .containsEntry("x-value", List.of("a  x-evil: 1    GET / HTTP/1.1"))
          .containsEntry("x-unicode", List.of("%E5%98%8D%E5%98%8Ax-evil: 1"))
          .containsEntry("authorization", List.of("Bearer t")).containsEntry("foliot-key", List.of("a%20b%C3%A9%25"))
          .containsEntry("foliot-generation", List.of("1234567"))
          .containsEntry("content-type", List.of("text/plain  x-evil: 1"));
      assertThat(request.headers().get("webhook-id")).hasSize(1).doesNotContain("forged");
      Attempts.answer(delivery, Attempts.attempt(target));
      assertThat(next(receiver).line()).isEqualTo("POST /hook HTTP/1.1");
    }
  }

  @Test
  void payloadsOfAnySizeArriveWhole() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      for (int size : new int[]{0, 1, 8_191, 8_192, 65_537, 1 << 20}) {
        byte[] payload = new byte[size];
        new Random(size).nextBytes(payload);
        DeliveryAttempt attempt = Attempts.attempt(Attempts.target(receiver.url()), new Body(payload, "x/y", Map.of()),
            null);
        assertThat(Attempts.answer(delivery, attempt)).isInstanceOf(Answer.Done.class);
        Request request = next(receiver);
        assertThat(request.header("content-length")).isEqualTo(Integer.toString(size));
        assertThat(request.bytes()).isEqualTo(payload);
      }
      assertThat(receiver.connections).hasValue(1);
    }
  }

  @Test
  void answersAreReadFromTheWire() throws Exception {
    AtomicReference<String> answerText = new AtomicReference<>("");
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      out.write(requireNonNull(answerText.get()).getBytes(UTF_8));
      return true;
    }); HttpDelivery delivery = delivery()) {
      String end = "\r\ncontent-length: 0\r\n\r\n";
      Map<String, Answer> rows = Map.of("HTTP/1.1 204 No Content\r\n\r\n", new Answer.Done("HTTP 204"),
          "HTTP/1.1 200 OK\r\nFoliot-Next: 30s" + end, new Answer.Again(Duration.ofSeconds(30), "HTTP 200"),
          "HTTP/1.1 202 Accepted\r\nFoliot-Ack: later" + end, new Answer.Accepted("HTTP 202"),
          "HTTP/1.1 410 Gone\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nover",
          new Answer.Fail("HTTP 410: over"),
          "HTTP/1.1 503 Busy\r\nRetry-After: 7" + end,
          new Answer.Retry(Duration.ofSeconds(7), Health.OVERLOADED, "HTTP 503"),
          "HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n",
          new Answer.Retry(null, Health.FAILING, "HTTP 500: a b"), "HTTP/1.1 404 Nowhere" + end,
          new Answer.Retry(null, Health.WELL, "HTTP 404"), "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK" + end,
          new Answer.Done("HTTP 200"));
      for (Map.Entry<String, Answer> row : rows.entrySet()) {
        answerText.set(row.getKey());
        assertThat(Attempts.answer(delivery, receiver.url())).as(row.getKey()).isEqualTo(row.getValue());
      }
      answerText.set("HTTP/1.1 418 Teapot\r\ncontent-type: text/plain\r\ncontent-length: 32\r\n\r\n" + Attempts.TOKEN);
      assertThat(Attempts.answer(delivery, receiver.url()).detail()).isEqualTo("HTTP 418: [redacted]");
    }
  }

  @Test
  void aDetailMasksEachFormOfASecretHeader() throws Exception {
    String echo = "token abcdefgh-1234 of Bearer abcdefgh-1234, key schl\u00fcssel-9 as schl%C3%BCssel-9";
    byte[] bytes = echo.getBytes(UTF_8);
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      out.write(("HTTP/1.1 400 No\r\ncontent-type: text/plain\r\ncontent-length: " + bytes.length + "\r\n\r\n")
          .getBytes(UTF_8));
      out.write(bytes);
      return true;
    }); HttpDelivery delivery = delivery()) {
      Body body = new Body("x".getBytes(UTF_8), "text/plain",
          Map.of("authorization", "Bearer abcdefgh-1234", "x-api-key", "schl\u00fcssel-9"));
      Answer answer = Attempts.answer(delivery, Attempts.attempt(Attempts.target(receiver.url()), body, null));
      assertThat(answer.detail())
          .isEqualTo("HTTP 400: token [redacted] of [redacted], key [redacted] as [redacted]");
    }
  }

  @Test
  void redirectsAreNotFollowed() throws Exception {
    try (ScriptedReceiver trap = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      for (int status : new int[]{300, 301, 302, 303, 304, 305, 307, 308}) {
        try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(
            "HTTP/1.1 " + status + " Elsewhere\r\nlocation: " + trap.url() + "\r\ncontent-length: 0\r\n\r\n"))) {
          failsWith(Attempts.answer(delivery, receiver.url()), Health.WELL, "HTTP " + status,
              status == 304 ? "conditional requests" : "not followed");
        }
      }
      assertThat(trap.connections).hasValue(0);
    }
  }

  @Test
  void anAttemptEndsAtItsTimeoutWhateverTheReceiverDoes() throws Exception {
    byte[] head = "HTTP/1.1 200 OK\r\n".getBytes(UTF_8);
    byte[] headers = "HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"
        .getBytes(UTF_8);
    CountDownLatch over = new CountDownLatch(1);
    byte[] silent = "HTTP/1.1 404 Nowhere\r\ncontent-length: 9\r\n\r\nhalf".getBytes(UTF_8);
    List<ScriptedReceiver.Reply> replies = List.of((request, out) -> true, (request, out) -> {
      out.write(silent);
      return true;
    },
        (request, out) -> drip(out, over, head, "H".getBytes(UTF_8)),
        (request, out) -> drip(out, over, headers, "1\r\nx\r\n".getBytes(UTF_8)),
        (request, out) -> drip(out, over, new byte[0], "HTTP/1.1 100 Continue\r\n\r\n".getBytes(UTF_8)));
    try (HttpDelivery delivery = delivery()) {
      for (ScriptedReceiver.Reply reply : replies) {
        try (ScriptedReceiver receiver = new ScriptedReceiver(reply)) {
          long start = System.nanoTime();
          Answer answer = Attempts.answer(delivery, Attempts.attempt(Attempts.target(receiver.url(), SHORT)));
          assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(SHORT, Duration.ofSeconds(10));
          assertThat(answer).isInstanceOf(Answer.Retry.class);
          assertThat(receiver.closedByClient.poll(20, TimeUnit.SECONDS)).as("the connection is closed").isTrue();
        }
      }
      assertThat(delivery.inFlight()).isZero();
    } finally {
      over.countDown();
    }
  }

  /** Writes a piece every 5 ms until the client closes the connection or the test is over. */
  private static boolean drip(OutputStream out, CountDownLatch over, byte[] first, byte[] piece) throws IOException,
      InterruptedException {
    out.write(first);
    do {
      out.write(piece);
      out.flush();
    } while (!over.await(5, TimeUnit.MILLISECONDS));
    return false;
  }

  @Test
  void aTimeoutReportsThatTheWorkMayBeDone() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> over.await(60, TimeUnit.SECONDS));
        HttpDelivery delivery = delivery()) {
      failsWith(Attempts.answer(delivery, Attempts.attempt(Attempts.target(receiver.url(), SHORT))), Health.UNREACHABLE,
          "no answer in time; the receiver may have done the work");
    } finally {
      over.countDown();
    }
  }

  @Test
  void endlessHeadersAndBodiesAreCutOff() throws Exception {
    byte[] header = ("x: " + "y".repeat(1_000) + "\r\n").getBytes(UTF_8);
    byte[] line = "z".repeat(1_000).getBytes(UTF_8);
    byte[] chunk = ("3e8\r\n" + "b".repeat(1_000) + "\r\n").getBytes(UTF_8);
    String chunked = " X\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
    try (HttpDelivery delivery = delivery()) {
      failsWith(endless(delivery, "HTTP/1.1 200 OK\r\n", header), Health.FAILING, "headers");
      failsWith(endless(delivery, "HTTP/1.1 200 OK\r\nx: ", line), Health.FAILING, "headers");
      assertThat(endless(delivery, "HTTP/1.1 200" + chunked, chunk)).isEqualTo(new Answer.Done("HTTP 200"));
      failsWith(endless(delivery, "HTTP/1.1 500" + chunked, chunk), Health.FAILING, "HTTP 500");
    }
  }

  private static Answer endless(HttpDelivery delivery, String head, byte[] piece) throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      out.write(head.getBytes(UTF_8));
      while (true) {
        out.write(piece);
      }
    })) {
      Answer answer = Attempts.answer(delivery, receiver.url());
      assertThat(receiver.closedByClient.poll(20, TimeUnit.SECONDS)).as("the connection is closed").isTrue();
      return answer;
    }
  }

  @Test
  void aMalformedAnswerIsAFailure() throws Exception {
    try (HttpDelivery delivery = delivery()) {
      for (String text : List.of("SSH-2.0-OpenSSH\r\n\r\n", "\r\n".repeat(50), "HTTP/1.1 abc\r\n\r\n",
          "HTTP/1.1 101 Switching\r\nupgrade: tls\r\nconnection: upgrade\r\n\r\n", "")) {
        try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
          out.write(text.getBytes(UTF_8));
          return false;
        })) {
          assertThat(Attempts.answer(delivery, receiver.url())).as(text).isInstanceOf(Answer.Retry.class);
          assertThat(receiver.requests).as(text).hasValue(1);
        }
      }
    }
  }

  /** A receiver that sent 200 has done the work, even if the body is truncated. */
  @Test
  void theStatusDecidesHoweverTheBodyEnds() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      out.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".getBytes(UTF_8));
      return false;
    }); HttpDelivery delivery = delivery()) {
      assertThat(Attempts.answer(delivery, receiver.url())).isEqualTo(new Answer.Done("HTTP 200"));
    }
  }

  @Test
  void connectionsAreUsedAgain() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      for (int i = 0; i < 50; i++) {
        assertThat(Attempts.answer(delivery, receiver.url())).isInstanceOf(Answer.Done.class);
      }
      assertThat(receiver.connections).hasValue(1);
      assertThat(receiver.requests).hasValue(50);
    }
  }

  @Test
  void aRequestOnAClosedIdleConnectionIsNotSentTwice() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery()) {
      int lost = 0;
      for (int i = 0; i < 100; i++) {
        assertThat(receiver.requests.get()).isLessThanOrEqualTo(i);
        if (!(Attempts.answer(delivery, receiver.url()) instanceof Answer.Done)) {
          lost++;
        }
        receiver.hangUp();
      }
      // A request that is on its way while the receiver closes the connection fails, and is not resent.
      assertThat(receiver.requests.get()).isBetween(100 - lost, 100);
    }
  }

  @Test
  void aReceiverThatClosesWithoutAnAnswerGetsTheRequestOnce() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      // The first request of each connection is answered, so that the second one reuses the connection.
      if (requests.incrementAndGet() % 2 == 1) {
        out.write(ScriptedReceiver.ok().getBytes(UTF_8));
        return true;
      }
      return false;
    }); HttpDelivery delivery = delivery()) {
      for (int i = 1; i <= 20; i++) {
        Answer answer = Attempts.answer(delivery, receiver.url());
        assertThat(requests).hasValue(i);
        if (i % 2 == 0) {
          failsWith(answer, Health.UNREACHABLE, "the receiver may have done the work");
        }
      }
    }
  }

  @Test
  void aRefusedConnectionIsReported() throws Exception {
    int port;
    try (ServerSocket server = ScriptedReceiver.newServer()) {
      port = server.getLocalPort();
    }
    try (HttpDelivery delivery = delivery()) {
      failsWith(Attempts.answer(delivery, "http://127.0.0.1:" + port + "/secret-path"), Health.UNREACHABLE, "refused",
          "nothing was sent", "receiver=127.0.0.1:" + port);
      assertThat(Attempts.answer(delivery, "http://127.0.0.1:" + port + "/secret-path").detail())
          .doesNotContain("secret-path");
    }
  }

  @Test
  void connectionsUseTheCheckedAddress() throws Exception {
    List<String> lookups = new ArrayList<>();
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery(LOOPBACK, host -> {
          lookups.add(host);
          return List.of(address(127, 0, 0, 1));
        })) {
      String url = "http://Receiver.Test:" + receiver.port() + "/";
      for (int i = 0; i < 10; i++) {
        assertThat(Attempts.answer(delivery, url)).isInstanceOf(Answer.Done.class);
      }
      assertThat(next(receiver).header("host")).isEqualTo("receiver.test:" + receiver.port());
      assertThat(lookups).containsExactly("receiver.test");
    }
  }

  @Test
  void theNextAddressIsTriedIfOneRefuses() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery(LOOPBACK, host -> List.of(address(127, 0, 0, 2), address(127, 0, 0, 1)))) {
      assertThat(Attempts.answer(delivery, "http://a.test:" + receiver.port() + "/")).isInstanceOf(Answer.Done.class);
      assertThat(receiver.requests).hasValue(1);
    }
  }

  /** DNS rebinding: the name resolves to a public address during the check, and to loopback when the attempt begins. */
  @Test
  void aHostWhoseAddressBecomesDeniedIsNotConnectedTo() throws Exception {
    AtomicInteger lookups = new AtomicInteger();
    AtomicLong nanos = new AtomicLong();
    TimeSource clock = new TimeSource() {
      @Override
      public long wallMicros() {
        return 0;
      }

      @Override
      public long monotonicNanos() {
        return nanos.get();
      }
    };
    Resolver rebinding = host -> List
        .of(lookups.incrementAndGet() == 1 ? address(93, 184, 216, 34) : address(127, 0, 0, 1));
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(HttpDeliveryOptions.DEFAULT, clock, rebinding, null)) {
      Target target = Attempts.target("http://rebind.test:" + receiver.port() + "/");
      HttpTargetTest.check(delivery, target);
      nanos.addAndGet(HttpDeliveryOptions.DEFAULT.addressTtl().toNanos());
      failsWith(Attempts.answer(delivery, Attempts.attempt(target)), Health.UNREACHABLE, "loopback", "--allow-network",
          "host=rebind.test");
      assertThat(lookups).hasValue(2);
      assertThat(receiver.connections).hasValue(0);
    }
  }

  @Test
  void anOpenConnectionIsNotUsedAfterItsHostBecomesDenied() throws Exception {
    AtomicReference<InetAddress> address = new AtomicReference<>(address(127, 0, 0, 1));
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery(
            LOOPBACK.toBuilder().connectTimeout(Duration.ofSeconds(1)).addressTtl(Duration.ofMillis(1)).build(),
            host -> List.of(requireNonNull(address.get())))) {
      String url = "http://a.test:" + receiver.port() + "/";
      assertThat(Attempts.answer(delivery, url)).isInstanceOf(Answer.Done.class);
      address.set(address(10, 0, 0, 1));
      await(() -> delivery.lookup().known("a.test") == null);
      failsWith(Attempts.answer(delivery, url), Health.UNREACHABLE, "private");
      assertThat(receiver.requests).hasValue(1);
    }
  }

  @Test
  void deniedAddressesAreNotConnectedTo() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT,
            host -> List.of(address(8, 8, 8, 8), address(127, 0, 0, 1)))) {
      for (String host : List.of("127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
          "[64:ff9b::7f00:1]", "169.254.169.254")) {
        failsWith(Attempts.answer(delivery, "http://" + host + ":" + receiver.port() + "/"), Health.UNREACHABLE,
            "callbacks may not reach");
      }
      for (String host : List.of("127.1", "0x7f000001", "2130706433", "0177.0.0.1", "localhost.", "127.0.0.1%00",
          "[::1%25lo]", "\u2460\u2461\u2466.0.0.1")) {
        failsWith(Attempts.answer(delivery, "http://" + host + ":" + receiver.port() + "/"), Health.WELL,
            "the queue cannot deliver: delivery.url");
      }
      assertThat(receiver.connections).hasValue(0);
    }
  }

  @Test
  void anUnresolvedNameIsReportedWithARemedy() throws Exception {
    try (HttpDelivery delivery = delivery(LOOPBACK, host -> {
      throw new UnknownHostException(host);
    })) {
      failsWith(Attempts.answer(delivery, "http://a.test/"), Health.UNREACHABLE, "does not resolve",
          "create its DNS entry", "host=a.test");
    }
  }

  @Test
  void anAttemptThatTimesOutDuringItsLookUpSendsNothing() throws Exception {
    CountDownLatch answers = new CountDownLatch(1);
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = delivery(LOOPBACK, host -> {
          try {
            answers.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return List.of(address(127, 0, 0, 1));
        })) {
      Target target = Attempts.target("http://slow.test:" + receiver.port() + "/", SHORT);
      failsWith(Attempts.answer(delivery, Attempts.attempt(target)), Health.UNREACHABLE, "did not resolve in time");
      answers.countDown();
      await(() -> delivery.lookup().known("slow.test") != null);
      assertThat(Attempts.answer(delivery, Attempts.attempt(target))).isInstanceOf(Answer.Done.class);
      assertThat(receiver.requests).hasValue(1);
    }
  }

  @Test
  void theCallerNeverWaitsForNameServers() throws Exception {
    List<Runnable> lookups = new ArrayList<>();
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(LOOPBACK, new SystemClock(),
            host -> List.of(address(127, 0, 0, 1)), lookups::add)) {
      DeliveryAttempt attempt = Attempts.attempt(Attempts.target("http://a.test:" + receiver.port() + "/"));
      CompletableFuture<Answer> first = delivery.deliver(attempt).toCompletableFuture();
      CompletableFuture<Answer> second = delivery.deliver(attempt).toCompletableFuture();
      assertThat(first).isNotDone();
      assertThat(lookups).as("one look-up serves all attempts that wait for it").hasSize(1);
      lookups.getFirst().run();
      assertThat(first.get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.Done.class);
      assertThat(second.get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.Done.class);
    }
  }

  @Test
  void aRejectedLookUpFailsTheAttempt() throws Exception {
    Executor refusing = task -> {
      throw new RejectedExecutionException();
    };
    try (HttpDelivery delivery = new HttpDelivery(LOOPBACK, new SystemClock(), Resolver.system(), refusing)) {
      failsWith(Attempts.answer(delivery, "http://a.test/"), Health.UNREACHABLE, "too many name look-ups");
    }
  }

  @Test
  void aBrokenTargetOrResolverFailsTheAttempt() throws Exception {
    try (HttpDelivery delivery = delivery(LOOPBACK, host -> {
      throw new IllegalStateException("broken");
    })) {
      failsWith(Attempts.answer(delivery, "http://a.test/"), Health.UNREACHABLE, "IllegalStateException");
      failsWith(Attempts.answer(delivery, "nonsense"), Health.WELL, "the queue cannot deliver");
      failsWith(Attempts.answer(delivery, Attempts.attempt(Target.pull())), Health.WELL, "type=pull");
    }
  }

  @Test
  void fiveHundredConcurrentAttemptsAreEachSentOnce() throws Exception {
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(
            LOOPBACK.toBuilder().connectionsPerDestination(64).maxInFlight(1_000).ioThreads(2).build())) {
      List<CompletableFuture<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        answers.add(delivery.deliver(Attempts.attempt(Attempts.target(receiver.url()), Body.json("{}"), "key-" + i))
            .toCompletableFuture());
      }
      for (CompletableFuture<Answer> answer : answers) {
        assertThat(answer.get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.Done.class);
      }
      assertThat(receiver.requests).hasValue(500);
      assertThat(receiver.received.stream().map(request -> request.header("foliot-key")).distinct()).hasSize(500);
      assertThat(receiver.connections.get()).isLessThanOrEqualTo(64);
      assertThat(delivery.inFlight()).isZero();
    }
  }

  @Test
  void anAttemptWaitingForAConnectionTimesOutUnsent() throws Exception {
    Semaphore permits = new Semaphore(0);
    try (ScriptedReceiver receiver = new ScriptedReceiver((request, out) -> {
      permits.acquire();
      out.write(ScriptedReceiver.ok().getBytes(UTF_8));
      return true;
    });
        HttpDelivery delivery = new HttpDelivery(
            LOOPBACK.toBuilder().connectionsPerDestination(2).maxInFlight(1_000).ioThreads(1).build())) {
      List<CompletableFuture<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        Duration timeout = i < 2 ? Duration.ofSeconds(20) : SHORT;
        answers.add(delivery.deliver(Attempts.attempt(Attempts.target(receiver.url(), timeout))).toCompletableFuture());
      }
      for (CompletableFuture<Answer> answer : answers.subList(2, 20)) {
        failsWith(answer.get(20, TimeUnit.SECONDS), Health.UNREACHABLE, "no connection was ready in time",
            "nothing was sent");
      }
      permits.release(1_000);
      for (CompletableFuture<Answer> answer : answers.subList(0, 2)) {
        assertThat(answer.get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.Done.class);
      }
      // The connections of the ended attempts can be used again.
      for (int i = 0; i < 5; i++) {
        assertThat(Attempts.answer(delivery, receiver.url())).isInstanceOf(Answer.Done.class);
      }
      assertThat(receiver.requests).hasValue(2 + 5);
    }
  }

  @Test
  void aHangingDestinationDelaysNoOtherDestination() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedReceiver hanging = new ScriptedReceiver((request, out) -> over.await(60, TimeUnit.SECONDS));
        ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(
            LOOPBACK.toBuilder().connectionsPerDestination(8).maxInFlight(1_000).ioThreads(1).build())) {
      for (int i = 0; i < 200; i++) {
        var unused = delivery.deliver(Attempts.attempt(Attempts.target(hanging.url())));
      }
      assertThat(Attempts.answer(delivery, receiver.url())).isInstanceOf(Answer.Done.class);
      assertThat(delivery.inFlight()).isEqualTo(200);
    } finally {
      over.countDown();
    }
  }

  @Test
  void attemptsAboveTheBoundAreRefusedAsOverload() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedReceiver hanging = new ScriptedReceiver((request, out) -> over.await(60, TimeUnit.SECONDS));
        HttpDelivery delivery = new HttpDelivery(
            LOOPBACK.toBuilder().connectionsPerDestination(8).maxInFlight(3).ioThreads(1).build())) {
      for (int i = 0; i < 3; i++) {
        var unused = delivery.deliver(Attempts.attempt(Attempts.target(hanging.url())));
      }
      failsWith(Attempts.answer(delivery, hanging.url()), Health.OVERLOADED, "maxInFlight=3");
    } finally {
      over.countDown();
    }
  }

  @Test
  void closeEndsRunningAttemptsAndRefusesNewOnes() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedReceiver hanging = new ScriptedReceiver((request, out) -> over.await(60, TimeUnit.SECONDS))) {
      HttpDelivery delivery = new HttpDelivery(
          LOOPBACK.toBuilder().connectionsPerDestination(2).maxInFlight(1_000).ioThreads(1).build());
      List<CompletableFuture<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        answers.add(delivery.deliver(Attempts.attempt(Attempts.target(hanging.url()))).toCompletableFuture());
      }
      next(hanging);
      delivery.close();
      delivery.close();
      for (CompletableFuture<Answer> answer : answers) {
        failsWith(answer.get(20, TimeUnit.SECONDS), Health.WELL, "stopped");
      }
      failsWith(Attempts.answer(delivery, hanging.url()), Health.WELL, "stopped");
      assertThat(delivery.inFlight()).isZero();
    } finally {
      over.countDown();
    }
  }
}
