package io.foliot.core;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A task as a caller asks for it.
 *
 * @param queue the queue, which must exist
 * @param key the task's name in its queue, or null
 * @param delay how long from now, or null if {@code dueAt} says it
 * @param dueAt when; in the past means now; or null if {@code delay} says it
 * @param body what it carries; null keeps what the live task of that key carries, or nothing
 * @param maxAttempts instead of the queue's, or 0
 * @param onConflict what to do when the key has a live task
 * @param idempotencyKey a name for this very request, so that it can be repeated safely within 24 hours; or null
 */
public record Submission(String queue, @Nullable String key, @Nullable Duration delay, @Nullable Instant dueAt,
    @Nullable Body body, int maxAttempts, OnConflict onConflict, @Nullable String idempotencyKey) {
  public Submission {
    requireNonNull(queue, "queue");
    Limits.ensureKey(key);
    if (idempotencyKey != null) {
      try {
        Limits.ensureKey(idempotencyKey);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("the idempotency key: " + e.getMessage(), e);
      }
    }
    if ((delay == null) == (dueAt == null)) {
      throw new IllegalArgumentException("a task has either a delay or a dueAt: delay=" + delay + ", dueAt=" + dueAt);
    }
    if (delay != null && delay.isNegative()) {
      throw new IllegalArgumentException("a delay is not negative: delay=" + delay);
    }
    if (delay != null && delay.compareTo(Duration.ofMillis(Limits.MAX_DELAY_MILLIS)) > 0) {
      throw new IllegalArgumentException("a delay is at most 100 years: delay=" + delay);
    }
    if (maxAttempts < 0 || maxAttempts > Retry.MAX_ATTEMPTS) {
      throw new IllegalArgumentException(
          "maxAttempts is from 1 to 10000, or 0 for the queue's: maxAttempts=" + maxAttempts);
    }
    if (body != null) {
      ensureBody(body);
    }
  }

  private static void ensureBody(Body body) {
    if (body.payload().length > Limits.MAX_PAYLOAD_BYTES) {
      throw new IllegalArgumentException("a payload has at most 1048576 bytes: bytes=" + body.payload().length);
    }
    if (body.headers().size() > Limits.MAX_HEADERS) {
      throw new IllegalArgumentException("a task has at most 32 headers: headers=" + body.headers().size());
    }
    int bytes = 0;
    for (var header : body.headers().entrySet()) {
      bytes += header.getKey().length() + header.getValue().length();
    }
    if (bytes > Limits.MAX_HEADER_BYTES) {
      throw new IllegalArgumentException("the headers of a task have at most 8192 characters: characters=" + bytes);
    }
  }

  /** A task without a key after a delay. */
  public static Submission after(String queue, Duration delay, Body body) {
    return new Submission(queue, null, delay, null, body, 0, OnConflict.RESET, null);
  }

  /** A task without a key at an instant. */
  public static Submission at(String queue, Instant dueAt, Body body) {
    return new Submission(queue, null, null, dueAt, body, 0, OnConflict.RESET, null);
  }

  /** The same with a key. */
  public Submission withKey(@Nullable String newKey) {
    return new Submission(queue, newKey, delay, dueAt, body, maxAttempts, onConflict, idempotencyKey);
  }

  /** The same with another answer to a live key. */
  public Submission withOnConflict(OnConflict newOnConflict) {
    return new Submission(queue, key, delay, dueAt, body, maxAttempts, newOnConflict, idempotencyKey);
  }

  /** The same with an idempotency key. */
  public Submission withIdempotencyKey(@Nullable String newIdempotencyKey) {
    return new Submission(queue, key, delay, dueAt, body, maxAttempts, onConflict, newIdempotencyKey);
  }

  /** The same with its own number of attempts. */
  public Submission withMaxAttempts(int newMaxAttempts) {
    return new Submission(queue, key, delay, dueAt, body, newMaxAttempts, onConflict, idempotencyKey);
  }
}
