package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReplyTest {
  private static final long NOW = Instant.parse("2026-11-21T14:00:00Z").toEpochMilli();

  private static Answer answer(int status, @Nullable String next, @Nullable String ack, @Nullable String retryAfter) {
    return new Reply(status, next, ack, retryAfter, null, null, new byte[0]).answer(NOW, List.of());
  }

  private static Answer plain(int status) {
    return answer(status, null, null, null);
  }

  private static String detail(String contentType, String body, String... secrets) {
    return new Reply(400, null, null, null, contentType, null, body.getBytes(UTF_8)).answer(NOW, List.of(secrets))
        .detail();
  }

  @Test
  void aBodyIsReadInItsCharset() {
    byte[] latin = "Größe fehlt".getBytes(ISO_8859_1);
    for (String type : List.of("text/plain; charset=ISO-8859-1", "text/plain;Charset=\"latin1\"; x=y")) {
      assertThat(new Reply(400, null, null, null, type, null, latin).answer(NOW, List.of()).detail()).as(type)
          .isEqualTo("HTTP 400: Größe fehlt");
    }
    assertThat(new Reply(400, null, null, null, "text/plain; charset=x?y", null, "Größe".getBytes(UTF_8))
        .answer(NOW, List.of()).detail()).isEqualTo("HTTP 400: Größe");
    assertThat(new Reply(400, null, null, null, "text/plain; charset=utf-16le", null, "key s3cret".getBytes(UTF_16LE))
        .answer(NOW, List.of("s3cret")).detail()).isEqualTo("HTTP 400: key [redacted]");
  }

  @Test
  void aCompressedBodyIsNotShown() {
    byte[] gzip = {0x1f, (byte) 0x8b, 8, 0, 0};
    assertThat(new Reply(500, null, null, null, "text/plain", "gzip", gzip).answer(NOW, List.of()).detail())
        .isEqualTo("HTTP 500; the body is not shown: content-encoding=gzip");
    assertThat(new Reply(500, null, null, null, "text/plain", "identity", "no".getBytes(UTF_8))
        .answer(NOW, List.of()).detail()).isEqualTo("HTTP 500: no");
  }

  @Test
  void notModifiedIsNoRedirect() {
    assertThat(new Reply(304, null, null, null, null, null, new byte[0]).answer(NOW, List.of()).detail())
        .isEqualTo("HTTP 304: expected 2xx; 304 answers conditional requests only");
  }

  @Test
  void everyStatusHasItsAnswer() {
    for (int status = 200; status < 600; status++) {
      Answer answer = plain(status);
      if (status < 300) {
        assertThat(answer).as("%s", status).isInstanceOf(Answer.Done.class);
      } else if (status == 410) {
        assertThat(answer).isInstanceOf(Answer.Fail.class);
      } else {
        Health health = status == 429 || status == 503
            ? Health.OVERLOADED
            : status >= 500 ? Health.FAILING : Health.WELL;
        assertThat(answer).as("%s", status)
            .isInstanceOfSatisfying(Answer.Retry.class, retry -> assertThat(retry.health()).isEqualTo(health));
      }
      assertThat(answer.detail()).startsWith("HTTP " + status);
    }
    assertThat(plain(301).detail()).contains("redirects are not followed");
  }

  @Test
  void aDurationInFoliotNextRequestsAnotherCall() {
    assertThat(List.of("30s", " 30S ", "PT30S", "pt30s", "30000ms", "0.5m"))
        .allSatisfy(next -> assertThat(answer(200, next, null, null))
            .isEqualTo(new Answer.Again(Duration.ofSeconds(30), "HTTP 200")));
    assertThat(answer(204, "1d", null, null)).isEqualTo(new Answer.Again(Duration.ofDays(1), "HTTP 204"));
    assertThat(answer(200, "5m", null, null)).isEqualTo(new Answer.Again(Duration.ofMinutes(5), "HTTP 200"));
    assertThat(answer(200, "2h", null, null)).isEqualTo(new Answer.Again(Duration.ofHours(2), "HTTP 200"));
    assertThat(answer(202, "2h", "no", null)).isEqualTo(new Answer.Again(Duration.ofHours(2), "HTTP 202"));
  }

  @Test
  void aMalformedDurationIsAFailureThatNamesTheExpectedForm() {
    assertThat(List.of("", "soon", "30", "-30s", "PT-30S", "36526d", "101y", "9999999999999999999s", "PT", "s",
        "PT9999999999999999999S", "30s\u0000\u0007"))
        .allSatisfy(next -> assertThat(answer(200, next, null, null)).as(next)
            .isInstanceOfSatisfying(Answer.Retry.class, retry -> {
              assertThat(retry.detail()).startsWith("HTTP 200; foliot-next: expected a duration")
                  .doesNotContain("\u0007");
              assertThat(retry.health()).isEqualTo(Health.WELL);
              assertThat(retry.after()).isNull();
            }));
    assertThat(answer(200, "x", null, null).detail())
        .isEqualTo("HTTP 200; foliot-next: expected a duration such as \"30m\", but got \"x\"");
  }

  @Test
  void acceptanceRequiresStatus202AndTheHeader() {
    assertThat(answer(202, "30s", "Later", null)).isInstanceOf(Answer.Accepted.class);
    assertThat(answer(202, null, "now", null)).isInstanceOf(Answer.Done.class);
    assertThat(answer(200, null, "later", null)).isInstanceOf(Answer.Done.class);
    assertThat(answer(500, null, "later", null)).isInstanceOf(Answer.Retry.class);
  }

  @Test
  void retryAfterIsReadAndBounded() {
    assertThat(after("120")).isEqualTo(Duration.ofMinutes(2));
    assertThat(after("0")).isEqualTo(Duration.ZERO);
    assertThat(after("Sat, 21 Nov 2026 14:01:00 GMT")).isEqualTo(Duration.ofMinutes(1));
    assertThat(after("Sat, 21 Nov 2026 13:59:00 GMT")).isEqualTo(Duration.ZERO);
    assertThat(after("Fri, 21 Nov 2036 14:01:00 GMT")).isEqualTo(Duration.ofHours(24));
    assertThat(after("86401")).isEqualTo(Duration.ofHours(24));
    assertThat(after("9".repeat(400))).isEqualTo(Duration.ofHours(24));
    assertThat(List.of("", "-1", "soon", "1.5", "Xyz, 99 Nov 2026 14:01:00 GMT", "\u0661"))
        .allSatisfy(text -> assertThat(after(text)).as(text).isNull());
    assertThat(((Answer.Retry) answer(500, null, null, "120")).after()).isNull();
    assertThat(((Answer.Retry) answer(429, null, null, "120")).after()).isEqualTo(Duration.ofMinutes(2));
  }

  private static @Nullable Duration after(String text) {
    return ((Answer.Retry) answer(503, null, null, text)).after();
  }

  @Test
  void aDetailShowsTheCleanedBeginningOfATextOnly() {
    assertThat(detail("text/plain", "no such order")).isEqualTo("HTTP 400: no such order");
    assertThat(detail("application/problem+json; charset=utf-8", "{\n  \"a\":\t1\r\n}"))
        .isEqualTo("HTTP 400: { \"a\": 1 }");
    assertThat(detail("text/html", "a\u001b[31mred\u202eb\u2028c\u0000")).isEqualTo("HTTP 400: a [31mred b c");
    assertThat(detail("application/octet-stream", "bytes")).isEqualTo("HTTP 400");
    assertThat(detail("text/plain", "  ")).isEqualTo("HTTP 400");
    assertThat(detail("text/plain", "x".repeat(1_000))).hasSize("HTTP 400: ".length() + 203).endsWith("x...");
    assertThat(detail("text/plain", "x".repeat(199) + "\ud83d\ude00".repeat(9))).endsWith("x...")
        .matches(text -> text.chars().noneMatch(c -> Character.isSurrogate((char) c)));
  }

  @Test
  void aDetailNeverShowsASecretThatTheReceiverRepeats() {
    assertThat(detail("text/plain", "authorization: Bearer abcdefgh token=00112233", "Bearer abcdefgh", "00112233"))
        .isEqualTo("HTTP 400: authorization: [redacted] token=[redacted]");
  }

  @Test
  void aDetailNeverShowsTheBeginningOfASecret() {
    String secret = "eyJhbGciOiJIUzI1NiJ9.00112233";
    for (int length = 4; length < secret.length(); length++) {
      assertThat(detail("text/plain", "bad token " + secret.substring(0, length), secret))
          .isEqualTo("HTTP 400: bad token [redacted]");
    }
    assertThat(detail("text/plain", "bad token " + secret.substring(0, 9) + "\uFFFD", secret))
        .isEqualTo("HTTP 400: bad token [redacted]");
  }

  @Test
  void headersAreCleanedAndReservedNamesAreRecognized() {
    assertThat(HeaderText.value("plain text")).isEqualTo("plain text");
    assertThat(HeaderText.value("a\r\nx-evil: 1\u0000\u007f")).isEqualTo("a  x-evil: 1  ");
    assertThat(HeaderText.value("na\u00efve \u010a\u560a")).isEqualTo("na%C3%AFve %C4%8A%E5%98%8A");
    assertThat(HeaderText.key("order-17/x?")).isEqualTo("order-17/x?");
    assertThat(HeaderText.key("100% \u00e9")).isEqualTo("100%25%20%C3%A9");
    assertThat(
        List.of("host", "content-length", "transfer-encoding", "connection", "webhook-id", "foliot-x", "a b", "a:b",
            "a\r\nb", "", "\u00e9", "te", "upgrade", "traceparent", "user-agent", "content-type", "expect"))
        .allSatisfy(name -> assertThat(HeaderText.isFree(name)).as(name).isFalse());
    assertThat(List.of("authorization", "x-tenant", "accept", "tracestate", "foliot-job", "foliot-scheduled-at",
        "foliot-shard",
        "foliot-shards", "foliot-shard-parameter", "foliot-missed", "foliot-phase", "foliot-run-result",
        "foliot-run-failed"))
        .allSatisfy(name -> assertThat(HeaderText.isFree(name)).as(name).isTrue());
  }
}
