package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.client.WebhookVerificationException.Reason;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

final class WebhookVerifierTest {
  // The test vector of the libraries of Standard Webhooks.
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  private static final String TIMESTAMP = "1614265330";
  private static final String SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  private static final byte[] BODY = "{\"test\": 2432232314}".getBytes(UTF_8);

  private static final Instant SENT = Instant.ofEpochSecond(Long.parseLong(TIMESTAMP));
  private static final String OTHER_SECRET = "whsec_" + Base64.getEncoder().encodeToString(new byte[32]);

  private static WebhookVerifier verifier(Instant now, String secret, String... others) {
    WebhookVerifier.Builder builder = WebhookVerifier.builder(secret).clock(InstantSource.fixed(now));
    List.of(others).forEach(builder::secret);
    return builder.build();
  }

  private static final WebhookVerifier VERIFIER = verifier(SENT, SECRET);

  private static void assertRefused(Reason reason, ThrowingCallable verification) {
    assertThatThrownBy(verification).isInstanceOfSatisfying(WebhookVerificationException.class,
        e -> assertThat(e.reason()).isEqualTo(reason));
  }

  private static String sign(String secret, String id, String timestamp, byte[] body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring("whsec_".length())), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
    return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
  }

  @Test
  void thePublishedVectorIsAccepted() throws Exception {
    VERIFIER.verify(ID, TIMESTAMP, SIGNATURE, BODY);
    Map<String, String> headers = Map.of("webhook-id", ID, "webhook-timestamp", TIMESTAMP, "webhook-signature",
        SIGNATURE);
    VERIFIER.verify(headers::get, BODY);
  }

  @Test
  void aChangeOfAnySignedByteIsRefused() {
    for (int i = 0; i < BODY.length; i++) {
      byte[] tampered = BODY.clone();
      tampered[i] ^= 1;
      assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, TIMESTAMP, SIGNATURE, tampered));
    }
    assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, TIMESTAMP, SIGNATURE, new byte[0]));
    assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID + "x", TIMESTAMP, SIGNATURE, BODY));
    assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, "1614265331", SIGNATURE, BODY));
    assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, "0" + TIMESTAMP, SIGNATURE, BODY));
  }

  @Test
  void aMalformedOrDifferentSignatureIsRefused() {
    for (String wrong : List.of("v1,", "v1", SIGNATURE.substring(3), SIGNATURE.replace("v1,", "v1a,"),
        SIGNATURE.replace("v1,", "v2,"), SIGNATURE.substring(0, SIGNATURE.length() - 1), SIGNATURE + "=",
        SIGNATURE.replace("v1,g", "v1,h"), "v1,####", SIGNATURE.replace(" ", "").toLowerCase(java.util.Locale.ROOT),
        SIGNATURE + "," + SIGNATURE)) {
      assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, TIMESTAMP, wrong, BODY));
    }
  }

  @Test
  void oneOfSeveralSignaturesIsEnough() throws Exception {
    String other = sign(OTHER_SECRET, ID, TIMESTAMP, BODY);
    for (String signatures : List.of(SIGNATURE + " " + other, other + " " + SIGNATURE,
        "v1a,abc  " + SIGNATURE + " v9,x", SIGNATURE + " ")) {
      VERIFIER.verify(ID, TIMESTAMP, signatures, BODY);
    }
    assertRefused(Reason.NO_MATCH, () -> VERIFIER.verify(ID, TIMESTAMP, other + " " + other, BODY));
  }

  @Test
  void aSignatureWithAnyOfTheSecretsIsAccepted() throws Exception {
    String fromTheNew = sign(OTHER_SECRET, ID, TIMESTAMP, BODY);
    for (WebhookVerifier both : List.of(verifier(SENT, SECRET, OTHER_SECRET), verifier(SENT, OTHER_SECRET, SECRET))) {
      both.verify(ID, TIMESTAMP, SIGNATURE, BODY);
      both.verify(ID, TIMESTAMP, fromTheNew, BODY);
    }
    assertRefused(Reason.NO_MATCH, () -> verifier(SENT, OTHER_SECRET).verify(ID, TIMESTAMP, SIGNATURE, BODY));
  }

  @Test
  void aTimestampOutsideTheToleranceIsRefused() throws Exception {
    Duration tolerance = Duration.ofMinutes(5);
    verifier(SENT.plus(tolerance), SECRET).verify(ID, TIMESTAMP, SIGNATURE, BODY);
    verifier(SENT.minus(tolerance), SECRET).verify(ID, TIMESTAMP, SIGNATURE, BODY);
    WebhookVerifier late = verifier(SENT.plus(tolerance).plusMillis(1), SECRET);
    WebhookVerifier early = verifier(SENT.minus(tolerance).minusMillis(1), SECRET);
    assertRefused(Reason.TOO_OLD, () -> late.verify(ID, TIMESTAMP, SIGNATURE, BODY));
    assertRefused(Reason.TOO_NEW, () -> early.verify(ID, TIMESTAMP, SIGNATURE, BODY));
    WebhookVerifier.builder(SECRET).clock(InstantSource.fixed(SENT.plus(Duration.ofMinutes(6))))
        .tolerance(Duration.ofHours(1)).build().verify(ID, TIMESTAMP, SIGNATURE, BODY);
    assertThatThrownBy(() -> WebhookVerifier.builder(SECRET).tolerance(Duration.ZERO).build())
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theSystemsClockIsTheDefault() {
    assertRefused(Reason.TOO_OLD, () -> WebhookVerifier.of(SECRET).verify(ID, TIMESTAMP, SIGNATURE, BODY));
  }

  @Test
  void aMissingOrMalformedHeaderIsNamed() {
    Map<String, List<String>> wrong = Map.of("webhook-id", List.of("", "a.b"), "webhook-timestamp",
        List.of("", "-1", "+1614265330", " 1614265330", "1614265330.0", "now", "99999999999999999999", "١٦١٤٢٦٥٣٣٠"),
        "webhook-signature", List.of("", " "));
    wrong.forEach((name, values) -> {
      Map<String, String> headers = new HashMap<>(
          Map.of("webhook-id", ID, "webhook-timestamp", TIMESTAMP, "webhook-signature", SIGNATURE));
      assertThatCode(() -> VERIFIER.verify(headers::get, BODY)).doesNotThrowAnyException();
      headers.remove(name);
      assertRefused(Reason.BAD_HEADER, () -> VERIFIER.verify(headers::get, BODY));
      for (String value : values) {
        headers.put(name, value);
        assertThatThrownBy(() -> VERIFIER.verify(headers::get, BODY)).as("%s=%s", name, value)
            .isInstanceOf(WebhookVerificationException.class).hasMessageContaining(name);
      }
    });
  }

  @Test
  void anIdWithAFullStopIsRefusedThoughItsSignatureMatches() throws Exception {
    byte[] body = (TIMESTAMP + ".5").getBytes(UTF_8);
    String signature = sign(SECRET, ID, TIMESTAMP, body);
    VERIFIER.verify(ID, TIMESTAMP, signature, body);
    assertRefused(Reason.BAD_HEADER,
        () -> VERIFIER.verify(ID + "." + TIMESTAMP, TIMESTAMP, signature, "5".getBytes(UTF_8)));
  }

  @Test
  void aMalformedSecretIsRefusedAndNotPrinted() {
    for (String wrong : List.of("", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqr",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!!", "whsec_" + Base64.getEncoder().encodeToString(new byte[65]))) {
      for (ThrowingCallable use : List.<ThrowingCallable>of(() -> WebhookVerifier.of(wrong),
          () -> WebhookVerifier.of(SECRET, wrong))) {
        assertThatThrownBy(use).isInstanceOf(IllegalArgumentException.class).message().doesNotContain("MfKQ", "AAAA");
      }
    }
  }
}
