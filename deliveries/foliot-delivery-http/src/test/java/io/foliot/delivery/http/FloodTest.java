package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Receivers that send without end, and faster than a delivery with a single I/O thread reads. */
class FloodTest {
  private static final HttpDeliveryOptions ONE_THREAD = HttpDeliveryOptions.builder().allowLoopback(true)
      .connectionsPerDestination(256).maxInFlight(1_000).ioThreads(1).build();
  /** Timeout of an attacked attempt: long enough that only the limits can end a flood during the test. */
  private static final Duration FLOODED_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration HEALTHY_TIMEOUT = Duration.ofSeconds(10);
  private static final int FLOODS = 4;
  private static final int CALLBACKS = 50;

  /** A flood: a head, a piece that repeats without end, and a text that the attempt's detail must contain. */
  enum Flood {
    EARLY_HINTS("", "HTTP/1.1 103 E\r\n\r\n", "more informational responses"), LONG_HINTS("",
        "HTTP/1.1 103 E\r\n" + ("l: " + "x".repeat(8_000) + "\r\n").repeat(90) + "\r\n",
        "longer than the limit"), CONTINUE("", "HTTP/1.1 100 Continue\r\n\r\n", "longer than the limit"), HEADERS(
            "HTTP/1.1 200 OK\r\n", "a: b\r\n", "headers"), HEADER_BYTES("HTTP/1.1 200 OK\r\na: ", "b",
                "headers"), STATUS_LINE("HTTP/1.1 ", "2", "headers"), EMPTY_LINES("", "\r\n", "headers"), BODY(
                    "HTTP/1.1 500 X\r\ncontent-type: text/plain\r\n\r\n", "b",
                    "HTTP 500"), CHUNKS("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n",
                        "HTTP 500"), CHUNK_EXTENSIONS("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n",
                            "1;" + "e".repeat(8_000) + "\r\nx\r\n",
                            "HTTP 500"), CHUNK_SIZE("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n", "0",
                                "HTTP 500"), TRAILERS(
                                    "HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", "a: b\r\n",
                                    "HTTP 500");

    private final String head;
    private final String piece;
    private final String detailPart;

    Flood(String head, String piece, String detailPart) {
      this.head = head;
      this.piece = piece;
      this.detailPart = detailPart;
    }

    boolean send(OutputStream out, CountDownLatch begun) throws IOException {
      // Many pieces per write make the sender faster than the reader.
      byte[] pieces = piece.repeat(Math.max(1, (64 << 10) / piece.length())).getBytes(ISO_8859_1);
      out.write(head.getBytes(ISO_8859_1));
      while (true) {
        try {
          out.write(pieces);
        } finally {
          // The client may close the connection during the first write.
          begun.countDown();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFloodDelaysNoOtherCallback(Flood flood) throws Exception {
    CountDownLatch begun = new CountDownLatch(FLOODS);
    try (ScriptedReceiver flooding = new ScriptedReceiver((request, out) -> flood.send(out, begun));
        ScriptedReceiver healthy = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(ONE_THREAD)) {
      List<CompletableFuture<Answer>> attacked = new ArrayList<>();
      for (int i = 0; i < FLOODS; i++) {
        attacked.add(delivery.deliver(Attempts.attempt(Attempts.target(flooding.url(), FLOODED_TIMEOUT)))
            .toCompletableFuture());
      }
      assertThat(begun.await(20, TimeUnit.SECONDS)).as("the floods have begun").isTrue();
      for (int i = 0; i < CALLBACKS; i++) {
        assertThat(Attempts.answer(delivery, Attempts.attempt(Attempts.target(healthy.url(), HEALTHY_TIMEOUT))))
            .as("callback %s beside the flood", i).isEqualTo(new Answer.Done("HTTP 200"));
      }
      for (CompletableFuture<Answer> answer : attacked) {
        assertThat(answer.get(20, TimeUnit.SECONDS)).isInstanceOfSatisfying(Answer.Retry.class, retry -> {
          assertThat(retry.health()).isEqualTo(Health.FAILING);
          assertThat(retry.detail()).contains(flood.detailPart);
        });
        assertThat(flooding.closedByClient.poll(20, TimeUnit.SECONDS)).as("the connection is closed").isTrue();
      }
      assertThat(delivery.inFlight()).isZero();
    }
  }

  @Test
  void someInformationalResponsesAreNoFlood() throws Exception {
    String hints = "HTTP/1.1 103 E\r\nlink: </style.css>\r\n\r\n".repeat(ReplyReader.MAX_INFORMATIONAL);
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(hints + ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(ONE_THREAD)) {
      for (int i = 0; i < 3; i++) {
        assertThat(Attempts.answer(delivery, receiver.url())).isEqualTo(new Answer.Done("HTTP 200"));
      }
      assertThat(receiver.connections).hasValue(1);
    }
  }

  /** The limit applies to an answer, not to a connection. */
  @Test
  void manyAnswersOnOneConnectionAreNoFlood() throws Exception {
    String body = "b".repeat(ReplyReader.MAX_BODY_BYTES);
    String answer = "HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
    int answers = 3 * BoundedSession.MAX_ANSWER_BYTES / body.length();
    try (ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(answer));
        HttpDelivery delivery = new HttpDelivery(ONE_THREAD)) {
      for (int i = 0; i < answers; i++) {
        assertThat(Attempts.answer(delivery, receiver.url())).isEqualTo(new Answer.Done("HTTP 200"));
      }
      assertThat(receiver.connections).hasValue(1);
    }
  }

  @Test
  void aFloodAfterAnAnswerClosesTheConnection() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    try (ScriptedReceiver flooding = new ScriptedReceiver((request, out) -> {
      out.write(ScriptedReceiver.ok().getBytes(ISO_8859_1));
      return Flood.EARLY_HINTS.send(out, begun);
    });
        ScriptedReceiver healthy = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));
        HttpDelivery delivery = new HttpDelivery(ONE_THREAD)) {
      assertThat(Attempts.answer(delivery, Attempts.attempt(Attempts.target(flooding.url(), FLOODED_TIMEOUT))))
          .isEqualTo(new Answer.Done("HTTP 200"));
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      for (int i = 0; i < CALLBACKS; i++) {
        assertThat(Attempts.answer(delivery, healthy.url())).isEqualTo(new Answer.Done("HTTP 200"));
      }
      assertThat(flooding.closedByClient.poll(20, TimeUnit.SECONDS)).as("the connection is closed").isTrue();
    }
  }
}
