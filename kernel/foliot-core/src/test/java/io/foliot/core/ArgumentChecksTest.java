package io.foliot.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.delivery.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests the arguments that callers may pass, and the messages of refusals. */
final class ArgumentChecksTest {
  @Test
  void theBackoffGrowsToAMaximumAndHasJitter() {
    Retry retry = new Retry(10, Duration.ofSeconds(1), 2, Duration.ofSeconds(60), 0.2);
    assertThat(retry.backoffMillis(1, 0.5)).isEqualTo(1_000);
    assertThat(retry.backoffMillis(3, 0.5)).isEqualTo(4_000);
    assertThat(retry.backoffMillis(9, 0.5)).isEqualTo(60_000);
    assertThat(retry.backoffMillis(10_000, 0.5)).isEqualTo(60_000);
    assertThat(retry.backoffMillis(1, 0)).isEqualTo(800);
    assertThat(retry.backoffMillis(1, 0.999_999)).isEqualTo(1_200);
  }

  @Test
  void aWaitIsAtLeastTheRequestedWaitAndTheBackoff() {
    Retry retry = new Retry(10, Duration.ofSeconds(1), 2, Duration.ofSeconds(60), 0.2);
    for (double random : new double[]{0, 0.25, 0.5, 0.999_999}) {
      for (int attempt = 1; attempt < 12; attempt++) {
        long backoff = retry.backoffMillis(attempt, random);
        for (long requested : new long[]{0, 1, 999, 1_000, 30_000, 60_000, 86_400_000, Limits.MAX_DELAY_MILLIS}) {
          assertThat(retry.backoffMillis(attempt, requested, random)).isGreaterThanOrEqualTo(backoff)
              .isGreaterThanOrEqualTo(requested).isLessThanOrEqualTo(Math.max(backoff, requested + 12_000));
        }
      }
    }
    assertThat(retry.backoffMillis(1, 30_000, 0)).isEqualTo(30_000);
    assertThat(retry.backoffMillis(1, 30_000, 0.5)).isEqualTo(33_000);
    assertThat(new Retry(10, Duration.ofSeconds(1), 2, Duration.ofSeconds(60), 0).backoffMillis(1, 30_000, 0.5))
        .isEqualTo(30_000);
  }

  @Test
  void anAnswerWithAnInvalidDurationIsRefused() {
    for (Duration wrong : new Duration[]{Duration.ofMillis(-1), Duration.ofDays(36_526),
        Duration.ofSeconds(Long.MAX_VALUE)}) {
      refused(() -> new Answer.Again(wrong, ""), "next is from 0 to 100 years");
      refused(() -> new Answer.Retry(wrong, Answer.Health.WELL, ""), "after is from 0 to 100 years");
    }
  }

  @Test
  void theBuilderOfASubmissionKeepsUnchangedValues() {
    Submission full = Submission.builder("q").key("k").dueAt(Instant.EPOCH).body(Body.json("1")).maxAttempts(3)
        .onConflict(OnConflict.KEEP).idempotencyKey("request").build();
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThat(full).isEqualTo(
        new Submission("q", "k", null, Instant.EPOCH, Body.json("1"), 3, OnConflict.KEEP, "request"));
    assertThat(full.toBuilder().delay(Duration.ZERO).build()).isEqualTo(
        new Submission("q", "k", Duration.ZERO, null, Body.json("1"), 3, OnConflict.KEEP, "request"));
    assertThat(Submission.builder("q").delay(Duration.ZERO).body(Body.EMPTY).build())
        .isEqualTo(Submission.after("q", Duration.ZERO, Body.EMPTY));
  }

  @Test
  void theRefusalOfASubmissionNamesTheBrokenRule() {
    Body body = Body.EMPTY;
    refused(() -> Submission.after("q", Duration.ofMillis(-1), body), "a delay is not negative");
    refused(() -> Submission.after("q", Duration.ofDays(36_526), body), "at most 100 years");
    refused(() -> Submission.after("q", Duration.ofSeconds(Long.MAX_VALUE), body), "at most 100 years");
    refused(() -> Submission.builder("q").body(body).build(), "either a delay or a dueAt");
    refused(() -> new Submission("q", null, Duration.ZERO, Instant.EPOCH, body, 0, OnConflict.RESET, null),
        "either a delay or a dueAt");
    refused(() -> Submission.builder("q").delay(Duration.ZERO).body(body).key("").build(), "a key has 1 to 256 bytes");
    refused(() -> Submission.builder("q").delay(Duration.ZERO).body(body).key("é".repeat(129)).build(), "bytes=258");
    refused(() -> Submission.builder("q").delay(Duration.ZERO).body(body).key("a\nb").build(), "no control characters");
    refused(() -> Submission.builder("q").delay(Duration.ZERO).body(body).key("\uD800").build(), "lone surrogates");
    refused(() -> Submission.builder("q").delay(Duration.ZERO).body(body).maxAttempts(-1).build(),
        "maxAttempts is from 1");
    refused(() -> Submission.after("q", Duration.ZERO, new Body(new byte[(1 << 20) + 1], "a/b", Map.of())),
        "a payload has at most 1048576 bytes");
    Map<String, String> many = new TreeMap<>();
    for (int i = 0; i < 33; i++) {
      many.put("h" + i, "v");
    }
    refused(() -> Submission.after("q", Duration.ZERO, new Body(new byte[0], "a/b", many)), "at most 32 headers");
  }

  @Test
  void aKeyMayContainAnyPrintableCharacter() {
    for (String key : new String[]{"a", " ", "a/b?c=d&e#f%", "日本語", "😀".repeat(64), "x".repeat(256)}) {
      assertThat(Limits.ensureKey(key)).isEqualTo(key);
    }
  }

  @Test
  void theRefusalOfAQueueNamesTheBrokenRule() {
    for (String name : new String[]{"", " ", "-a", ".", "a/b", "a b", "ä", "x".repeat(129), "a\u0000"}) {
      refused(() -> QueueConfig.of(name, Target.pull()), "a queue's name has 1 to 128");
    }
    assertThat(QueueConfig.of("a-Z_0.9", Target.http("http://127.0.0.1/")).name()).isEqualTo("a-Z_0.9");
    refused(() -> new Retry(0, Duration.ZERO, 2, Duration.ZERO, 0), "retry.maxAttempts");
    refused(() -> new Retry(1, Duration.ZERO, 0.5, Duration.ZERO, 0), "retry.multiplier");
    refused(() -> new Retry(1, Duration.ZERO, 2, Duration.ZERO, 1.1), "retry.jitter");
    refused(() -> new Target("http", Map.of(), Duration.ZERO), "delivery.timeout");
    refused(() -> new Target("http", Map.of(), Duration.ofHours(24).plusMillis(1)), "delivery.timeout");
  }

  private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String rule) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(rule);
  }

  @Test
  void submissionsMayNotSetHeadersOfJobs() {
    for (String name : List.of("foliot-job", "Foliot-Scheduled-At", "foliot-shard-parameter", "foliot-awaited")) {
      Body forged = new Body(new byte[0], "text/plain", Map.of(name, "x"));
      assertThatIllegalArgumentException().isThrownBy(() -> Submission.after("q", Duration.ZERO, forged))
          .withMessageContaining(name);
    }
  }
}
