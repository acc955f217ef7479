package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Verifies signed callbacks according to <a href="https://www.standardwebhooks.com">Standard Webhooks 1.0.0</a>, with a
 * shared secret (HMAC-SHA256, {@code v1}). Immutable, and safe for use by any number of threads.
 *
 * <p>Verify the bytes of the body exactly as they were received, before anything parses them. The signature covers the
 * id, the timestamp and the body, but no other header. A callback may be received more than once with the same id. To
 * act only once, store the ids.
 *
 * <pre>{@code
 * WebhookVerifier verifier = WebhookVerifier.of(System.getenv("FOLIOT_WEBHOOK_SECRET"));
 * verifier.verify(request::getHeader, body);
 * }</pre>
 */
public final class WebhookVerifier {
  private static final String SECRET_PREFIX = "whsec_";
  private static final String SIGNATURE_PREFIX = "v1,";
  private static final String ALGORITHM = "HmacSHA256";

  /** Minimum number of bytes of a secret. The standard requires 192 to 512 bits. */
  private static final int MIN_SECRET_BYTES = 24;
  /** Maximum number of bytes of a secret. */
  private static final int MAX_SECRET_BYTES = 64;

  private static final Duration DEFAULT_TOLERANCE = Duration.ofMinutes(5);

  /** A timestamp in seconds since 1970, with at most 12 digits, so that calculations with it cannot overflow. */
  private static final Pattern TIMESTAMP = Pattern.compile("[0-9]{1,12}");

  private final List<SecretKeySpec> secrets;
  private final Duration tolerance;
  private final InstantSource clock;

  private WebhookVerifier(List<SecretKeySpec> secrets, Duration tolerance, InstantSource clock) {
    this.secrets = secrets;
    this.tolerance = tolerance;
    this.clock = clock;
  }

  /**
   * Returns a verifier with a tolerance of 5 minutes. {@link #builder} sets another tolerance.
   *
   * @param secret {@code whsec_}, followed by 24 to 64 bytes in Base64
   * @param others further secrets, during a rotation; a callback signed with any of the secrets is accepted
   * @throws IllegalArgumentException if a secret is malformed
   */
  public static WebhookVerifier of(String secret, String... others) {
    Builder builder = builder(secret);
    for (String other : others) {
      builder.secret(other);
    }
    return builder.build();
  }

  /**
   * Returns a builder of a verifier.
   *
   * @param secret {@code whsec_}, followed by 24 to 64 bytes in Base64
   */
  public static Builder builder(String secret) {
    return new Builder().secret(secret);
  }

  /** Builds a {@link WebhookVerifier}. Not safe for use by several threads. */
  public static final class Builder {
    private final List<String> secrets = new ArrayList<>();
    private Duration tolerance = DEFAULT_TOLERANCE;
    private InstantSource clock = Clock.systemUTC();

    private Builder() {}

    /** Adds a secret, during a rotation; a callback signed with any of the secrets is accepted. */
    public Builder secret(String value) {
      secrets.add(value);
      return this;
    }

    /** Sets how far the timestamp may be in the past or in the future; positive, by default 5 minutes. */
    public Builder tolerance(Duration value) {
      tolerance = value;
      return this;
    }

    /** Sets the source of the current time; the system's clock by default. */
    public Builder clock(InstantSource value) {
      clock = value;
      return this;
    }

    /**
     * Returns the verifier.
     *
     * @throws IllegalArgumentException if a secret is malformed, or the tolerance is not positive
     */
    public WebhookVerifier build() {
      return new WebhookVerifier(secrets.stream().map(WebhookVerifier::parseSecret).toList(),
          Durations.requirePositive("tolerance", tolerance), clock);
    }
  }

  /** Decodes a secret. The message of an exception does not contain any part of the secret. */
  private static SecretKeySpec parseSecret(String secret) {
    if (!secret.startsWith(SECRET_PREFIX)) {
      throw new IllegalArgumentException("a webhook secret must begin with " + SECRET_PREFIX);
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(secret.substring(SECRET_PREFIX.length()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a webhook secret must be Base64 after " + SECRET_PREFIX);
    }
    if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
      throw new IllegalArgumentException("a webhook secret must have " + MIN_SECRET_BYTES + " to " + MAX_SECRET_BYTES
          + " bytes: bytes=" + bytes.length);
    }
    return new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Verifies that a callback was signed with one of the secrets, and that its timestamp is within the tolerance.
   * Returns normally if both are true.
   *
   * @param header returns the value of the header with the given name, which is in lower case; null if there is none
   * @param body the body as it was received
   * @throws WebhookVerificationException if the callback must not be trusted
   */
  public void verify(Function<? super String, ? extends @Nullable String> header, byte[] body)
      throws WebhookVerificationException {
    verify(header.apply("webhook-id"), header.apply("webhook-timestamp"), header.apply("webhook-signature"), body);
  }

  /**
   * As {@link #verify(Function, byte[])}. The caller passes the values of the headers; null if a header is absent.
   *
   * @param id the header {@code webhook-id}
   * @param timestamp the header {@code webhook-timestamp}
   * @param signatures the header {@code webhook-signature}
   */
  public void verify(@Nullable String id, @Nullable String timestamp, @Nullable String signatures, byte[] body)
      throws WebhookVerificationException {
    // A full stop in the id would permit a second way to split the signed bytes into id, timestamp and body.
    if (id == null || id.isEmpty() || id.indexOf('.') >= 0) {
      throw badHeader("webhook-id must be present, and must not contain a full stop");
    }
    if (timestamp == null || !TIMESTAMP.matcher(timestamp).matches()) {
      throw badHeader("webhook-timestamp must be present, in seconds since 1970");
    }
    if (signatures == null || signatures.isBlank()) {
      throw badHeader("webhook-signature must be present");
    }
    verifySignature(id + "." + timestamp + ".", signatures, body);
    verifyTime(Instant.ofEpochSecond(Long.parseLong(timestamp)));
  }

  private static WebhookVerificationException badHeader(String message) {
    return new WebhookVerificationException(WebhookVerificationException.Reason.BAD_HEADER, message);
  }

  private void verifySignature(String signedBefore, String signatures, byte[] body)
      throws WebhookVerificationException {
    boolean match = false;
    for (SecretKeySpec secret : secrets) {
      byte[] expected = (SIGNATURE_PREFIX + Base64.getEncoder().encodeToString(hmac(secret, signedBefore, body)))
          .getBytes(UTF_8);
      for (String signature : signatures.split(" ", -1)) {
        // The duration of the comparison must reveal neither how many bytes are equal nor which signature matches.
        match |= MessageDigest.isEqual(expected, signature.getBytes(UTF_8));
      }
    }
    if (!match) {
      throw new WebhookVerificationException(WebhookVerificationException.Reason.NO_MATCH,
          "no v1 signature matches, because the secret differs or the body was changed: bodyBytes=" + body.length);
    }
  }

  private static byte[] hmac(SecretKeySpec secret, String signedBefore, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      mac.update(signedBefore.getBytes(UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }

  private void verifyTime(Instant sentAt) throws WebhookVerificationException {
    Instant now = clock.instant();
    Duration age = Duration.between(sentAt, now);
    if (age.abs().compareTo(tolerance) > 0) {
      boolean old = age.isPositive();
      throw new WebhookVerificationException(
          old ? WebhookVerificationException.Reason.TOO_OLD : WebhookVerificationException.Reason.TOO_NEW,
          "the timestamp of a callback must be within the tolerance: sentAt=" + sentAt + ", now=" + now + ", tolerance="
              + tolerance);
    }
  }
}
