package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A signer of callbacks according to <a href="https://www.standardwebhooks.com">Standard Webhooks 1.0.0</a>. It makes
 * one signature for each secret: {@code v1,} followed by the HMAC-SHA256 of {@code id.timestamp.body} in base64.
 */
final class WebhookSigner {
  private static final String PREFIX = "whsec_";
  private static final String ALGORITHM = "HmacSHA256";
  /** Size of the shortest secret. The standard requires 192 to 512 bits. */
  private static final int MIN_SECRET_BYTES = 24;
  private static final int MAX_SECRET_BYTES = 64;
  /** Maximum number of secrets of a queue. A rotation needs two. Each secret costs a pass over the body. */
  static final int MAX_SECRETS = 4;

  /**
   * One MAC for each secret, initialized with the key. For each signature it is cloned, which is cheaper than a new
   * MAC.
   */
  private final List<Mac> prototypes;

  private WebhookSigner(List<Mac> prototypes) {
    this.prototypes = prototypes;
  }

  /**
   * Returns a signer with the secrets in a text, which are separated by spaces; null if the text is null.
   *
   * @throws IllegalArgumentException if a secret is malformed, or if there are more than {@link #MAX_SECRETS}; the
   *     message contains no secret
   */
  static @Nullable WebhookSigner parse(@Nullable String secrets) {
    if (secrets == null) {
      return null;
    }
    List<Mac> prototypes = new ArrayList<>();
    for (String secret : secrets.strip().split(" +", MAX_SECRETS + 2)) {
      prototypes.add(prototype(key(secret)));
    }
    if (prototypes.size() > MAX_SECRETS) {
      throw malformed("at most " + MAX_SECRETS + " secrets, separated by spaces", "more");
    }
    return new WebhookSigner(List.copyOf(prototypes));
  }

  private static byte[] key(String secret) {
    byte[] key = new byte[0];
    try {
      if (secret.startsWith(PREFIX)) {
        key = Base64.getDecoder().decode(secret.substring(PREFIX.length()));
      }
    } catch (IllegalArgumentException e) {
      throw malformed("whsec_ and base64", "a secret that is not base64");
    }
    if (key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES) {
      throw malformed("whsec_ and the base64 of 24 to 64 random bytes",
          "another text; create a secret with: echo whsec_$(openssl rand -base64 32)");
    }
    return key;
  }

  private static IllegalArgumentException malformed(String expected, String got) {
    return new IllegalArgumentException("delivery.secret: expected " + expected + ", but got " + got);
  }

  private static Mac prototype(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no " + ALGORITHM, e);
    }
  }

  /** Returns the value of the {@code webhook-signature} header: the signatures, separated by spaces. */
  String sign(String id, String timestamp, byte[] body) {
    byte[] head = (id + "." + timestamp + ".").getBytes(US_ASCII);
    StringBuilder signatures = new StringBuilder();
    for (Mac prototype : prototypes) {
      Mac mac = copy(prototype);
      mac.update(head);
      signatures.append(signatures.isEmpty() ? "v1," : " v1,")
          .append(Base64.getEncoder().encodeToString(mac.doFinal(body)));
    }
    return signatures.toString();
  }

  private static Mac copy(Mac prototype) {
    try {
      return (Mac) prototype.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the provider of " + ALGORITHM + " cannot clone a MAC", e);
    }
  }
}
