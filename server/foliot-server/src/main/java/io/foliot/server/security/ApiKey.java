package io.foliot.server.security;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The data that the server stores of an API key. The key itself, {@code flt_<id>_<secret>}, is shown once and not
 * stored. One round of SHA-256 is enough to protect the key, because its secret has 256 random bits.
 *
 * @param id the name of the key
 * @param hash the SHA-256 hash of the whole key
 * @param actions the actions that the key allows
 * @param queues the queues that the key covers
 * @param note a note for people, such as the owner and the purpose
 * @param createdAt the time at which the key was created
 * @param expiresAt the time at which the key expires, or null for never
 */
@SuppressWarnings("ArrayRecordComponent") // never compared as a whole
public record ApiKey(String id, byte[] hash, Set<Action> actions, List<QueuePattern> queues, String note,
    Instant createdAt, @Nullable Instant expiresAt) {
  static final String PREFIX = "flt_";
  static final int ID_LENGTH = 12;
  private static final int SECRET_BYTES = 32;
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

  public ApiKey {
    actions = EnumSet.copyOf(actions);
    queues = List.copyOf(queues);
  }

  /** A new key, with the text that its owner receives. */
  public record Issued(ApiKey key, String text) {
    @Override
    public String toString() {
      return "Issued[id=" + key.id + "]"; // the secret must not appear in a log
    }
  }

  /** Creates a key with a random id and secret. The generator must be cryptographically secure. */
  public static Issued issue(RandomGenerator random, Set<Action> actions, List<QueuePattern> queues, String note,
      Instant createdAt, @Nullable Instant expiresAt) {
    StringBuilder id = new StringBuilder(ID_LENGTH);
    while (id.length() < ID_LENGTH) {
      id.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    String text = PREFIX + id + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    return new Issued(new ApiKey(id.toString(), hashOf(text), actions, queues, note, createdAt, expiresAt), text);
  }

  /** Returns the id inside a key, or null if the text does not begin as a key does. */
  static @Nullable String idOf(String text) {
    int end = PREFIX.length() + ID_LENGTH;
    return text.startsWith(PREFIX) && text.length() > end && text.charAt(end) == '_'
        ? text.substring(PREFIX.length(), end)
        : null;
  }

  /** Returns the SHA-256 hash of a key. */
  static byte[] hashOf(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(US_ASCII));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Returns whether the text is this key. The duration of the check does not reveal how much of the text is right. */
  boolean is(String text) {
    return MessageDigest.isEqual(hash, hashOf(text));
  }

  /** Returns whether the key has not expired. */
  public boolean holdsAt(Instant now) {
    return expiresAt == null || now.isBefore(expiresAt);
  }

  /** Returns whether the key permits all actions on the server. */
  public boolean administers() {
    return actions.contains(Action.ADMIN) && queues.stream().anyMatch(QueuePattern::isAll);
  }

  Caller caller() {
    return new Caller("key:" + id, id, actions, queues);
  }

  @Override
  public String toString() {
    return "ApiKey[id=" + id + ", actions=" + actions + ", queues=" + queues + ", expiresAt=" + expiresAt + "]";
  }
}
