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
 * Verifies signed callbacks as in <a href="https://www.standardwebhooks.com">Standard Webhooks 1.0.0</a>, by a secret
 * that is shared (HMAC-SHA256, {@code v1}). Immutable, and safe for use by any number of threads.
 *
 * <p>Verify the body as it came, byte by byte, before anything parses it. The signature covers the id, the timestamp
 * and the body, and no other header. A callback may come more than once, under the same id: to act once, remember ids.
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

  /** By the standard: 192 to 512 bits. */
  private static final int MIN_SECRET_BYTES = 24;

  private static final int MAX_SECRET_BYTES = 64;

  private static final Duration DEFAULT_TOLERANCE = Duration.ofMinutes(5);

  /** Seconds up to the year 33658, so that no sum overflows. */
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
   * @param secret {@code whsec_} and Base64 of 24 to 64 bytes
   * @param others more of them, while secrets are changed; a callback signed with any of them is accepted
   * @throws IllegalArgumentException if one is no such secret
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
   * @param secret {@code whsec_} and Base64 of 24 to 64 bytes
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

    /** Adds a secret, while secrets are changed; a callback signed with any of them is accepted. */
    public Builder secret(String value) {
      secrets.add(value);
      return this;
    }

    /** Sets how far the timestamp may be from now, on either side; positive, by default 5 minutes. */
    public Builder tolerance(Duration value) {
      tolerance = value;
      return this;
    }

    /** Sets where the time now comes from; the system's clock by default. */
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
          DurationText.requirePositive("tolerance", tolerance), clock);
    }
  }

  /** Decodes a secret. No message of a failure repeats a part of it. */
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
   * Returns if a callback is the server's and recent.
   *
   * @param header gives the value of the header of a name (in lower case), or null
   * @param body the body as it was received
   * @throws WebhookVerificationException if it is not
   */
  public void verify(Function<? super String, ? extends @Nullable String> header, byte[] body)
      throws WebhookVerificationException {
    verify(header.apply("webhook-id"), header.apply("webhook-timestamp"), header.apply("webhook-signature"), body);
  }

  /**
   * As {@link #verify(Function, byte[])}.
   *
   * @param id the header {@code webhook-id}
   * @param timestamp the header {@code webhook-timestamp}
   * @param signatures the header {@code webhook-signature}
   */
  public void verify(@Nullable String id, @Nullable String timestamp, @Nullable String signatures, byte[] body)
      throws WebhookVerificationException {
    // With a stop in the id the same signed bytes could be cut into id, timestamp and body in another way.
    if (id == null || id.isEmpty() || id.indexOf('.') >= 0) {
      throw badHeader("webhook-id must be there and have no full stop");
    }
    if (timestamp == null || !TIMESTAMP.matcher(timestamp).matches()) {
      throw badHeader("webhook-timestamp must be there, in seconds since 1970");
    }
    if (signatures == null || signatures.isBlank()) {
      throw badHeader("webhook-signature must be there");
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
        // The time this takes shows neither how much of it is right nor which one matches.
        match |= MessageDigest.isEqual(expected, signature.getBytes(UTF_8));
      }
    }
    if (!match) {
      throw new WebhookVerificationException(WebhookVerificationException.Reason.NO_MATCH,
          "no v1 signature matches: another secret, or not the body that was signed, bodyBytes=" + body.length);
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
          "a callback must be from within the tolerance: sentAt=" + sentAt + ", now=" + now + ", tolerance="
              + tolerance);
    }
  }
}
