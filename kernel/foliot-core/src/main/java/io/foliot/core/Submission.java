package io.foliot.core;

import static java.util.Objects.requireNonNull;

import io.foliot.api.Body;
import io.foliot.api.JobHeaders;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.Retry;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A caller's request to submit a task.
 *
 * @param queue the queue, which must exist
 * @param key the task's name in its queue, or null
 * @param delay the time from now until the task is due, or null if {@code dueAt} is set
 * @param dueAt the instant at which the task is due, or null if {@code delay} is set; an instant in the past means now
 * @param body the payload and headers. If null, a live task with the key keeps its payload and headers, and a new task
 *     has none
 * @param maxAttempts the number of attempts, or 0 for the number of the queue
 * @param onConflict the action if the key has a live task
 * @param idempotencyKey a name for this request, so that the request can be repeated safely within 24 hours; or null
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
      JobHeaders.ensureFree(header.getKey());
      bytes += header.getKey().length() + header.getValue().length();
    }
    if (bytes > Limits.MAX_HEADER_BYTES) {
      throw new IllegalArgumentException("the headers of a task have at most 8192 characters: characters=" + bytes);
    }
  }

  /** Returns a request for a task without a key that is due after a delay. {@link #builder} offers all settings. */
  public static Submission after(String queue, Duration delay, Body body) {
    return new Submission(queue, null, delay, null, body, 0, OnConflict.RESET, null);
  }

  /** Returns a request for a task without a key that is due at an instant. {@link #builder} offers all settings. */
  public static Submission at(String queue, Instant dueAt, Body body) {
    return new Submission(queue, null, null, dueAt, body, 0, OnConflict.RESET, null);
  }

  /** Returns a builder of a request. The task needs a delay or a due time; all other settings have defaults. */
  public static Builder builder(String queue) {
    return new Builder(queue);
  }

  /** Returns a builder with the settings of this submission. */
  public Builder toBuilder() {
    Builder builder = new Builder(queue);
    builder.key = key;
    builder.delay = delay;
    builder.dueAt = dueAt;
    builder.body = body;
    builder.maxAttempts = maxAttempts;
    builder.onConflict = onConflict;
    builder.idempotencyKey = idempotencyKey;
    return builder;
  }

  /** Builds a {@link Submission}. Not safe for use by several threads. */
  public static final class Builder {
    private final String queue;
    private @Nullable String key;
    private @Nullable Duration delay;
    private @Nullable Instant dueAt;
    private @Nullable Body body;
    private int maxAttempts;
    private OnConflict onConflict = OnConflict.RESET;
    private @Nullable String idempotencyKey;

    private Builder(String queue) {
      this.queue = queue;
    }

    /** Sets the task's name in its queue, at most 256 bytes of UTF-8; null, the default, for none. */
    public Builder key(@Nullable String value) {
      key = value;
      return this;
    }

    /** Sets the time from now until the task is due, from 0 to 100 years. Replaces a due time. */
    public Builder delay(Duration value) {
      delay = value;
      dueAt = null;
      return this;
    }

    /** Sets when the task is due; an instant in the past means now. Replaces a delay. */
    public Builder dueAt(Instant value) {
      dueAt = value;
      delay = null;
      return this;
    }

    /**
     * Sets the payload, of at most 1 MiB, and the headers, at most 32 with 8,192 characters in all. The headers of jobs
     * ({@link JobHeaders}) are refused. With null, the default, a live task with the key keeps its payload and headers,
     * and a new task has none.
     */
    public Builder body(@Nullable Body value) {
      body = value;
      return this;
    }

    /** Sets how many attempts the task gets, from 1 to 10,000; 0, the default, for the number of its queue. */
    public Builder maxAttempts(int value) {
      maxAttempts = value;
      return this;
    }

    /** Sets what happens when the key has a live task; by default the task is reset. */
    public Builder onConflict(OnConflict value) {
      onConflict = value;
      return this;
    }

    /**
     * Sets a name for this request, at most 256 bytes of UTF-8, so that the request can be repeated safely within 24
     * hours; null, the default, for none.
     */
    public Builder idempotencyKey(@Nullable String value) {
      idempotencyKey = value;
      return this;
    }

    /**
     * Returns the submission.
     *
     * @throws IllegalArgumentException if a setting is out of its range, or neither a delay nor a due time is set
     */
    public Submission build() {
      return new Submission(queue, key, delay, dueAt, body, maxAttempts, onConflict, idempotencyKey);
    }
  }
}
