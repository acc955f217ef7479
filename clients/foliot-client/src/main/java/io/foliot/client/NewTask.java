package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A task to submit, for example {@code NewTask.builder().delay(delay).key("order-7").build()}.
 *
 * @param delay the time until the task is due, from its acceptance by the server; null if {@code dueAt} is given
 * @param dueAt when the task is due; at once if that is past; null if {@code delay} is given
 * @param key the name of the task in its queue, which has at most one live task per key; null for none
 * @param headers the headers that are sent with every delivery
 * @param maxAttempts the number of attempts; null for that of the queue
 * @param onConflict the action to take if the key has a live task; null for the server's default, a reset
 * @param idempotencyKey a name for this one request. It makes it safe to submit the task again if the outcome is
 *     unknown, and lets the client do so by itself: for 24 hours a repeat has no effect, and returns the task of the
 *     first request. It is visible ASCII, because it may be sent in a header
 */
public record NewTask(
    @Nullable Duration delay,
    @Nullable Instant dueAt,
    @Nullable String key,
    @Nullable Payload payload,
    Map<String, String> headers,
    @Nullable Integer maxAttempts,
    @Nullable OnConflict onConflict,
    @Nullable String idempotencyKey) {
  /** Checks all settings. A batch is encoded while it is sent, and a failure then would have an unknown outcome. */
  public NewTask {
    if ((delay == null) == (dueAt == null)) {
      throw new IllegalArgumentException("a task has a delay or a dueAt: delay=" + delay + ", dueAt=" + dueAt);
    }
    if (delay != null) {
      DurationText.requireNotNegative("delay", delay);
    }
    if (key != null) {
      Names.requireName("key", key);
    }
    if (maxAttempts != null && maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be positive: maxAttempts=" + maxAttempts);
    }
    if (idempotencyKey != null) {
      Names.requireVisibleAscii("idempotencyKey", idempotencyKey);
    }
    headers = Map.copyOf(headers);
    headers.forEach((name, value) -> {
      Names.requireVisibleAscii("the name of a header", name);
      Names.requireWellFormed("the value of a header", value);
    });
  }

  /** Returns a task without a key that is due after a delay; zero for at once. {@link #builder} sets the rest. */
  public static NewTask after(Duration delay) {
    return builder().delay(delay).build();
  }

  /** Returns a task without a key that is due at an instant; at once if that is past. */
  public static NewTask at(Instant dueAt) {
    return builder().dueAt(dueAt).build();
  }

  /** Returns a builder of a task. It needs a delay or a due time; all other settings have defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder with the settings of this task. */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.delay = delay;
    builder.dueAt = dueAt;
    return builder.key(key).payload(payload).headers(headers).maxAttempts(maxAttempts).onConflict(onConflict)
        .idempotencyKey(idempotencyKey);
  }

  /** Builds a {@link NewTask}. Not safe for use by several threads. */
  public static final class Builder {
    private @Nullable Duration delay;
    private @Nullable Instant dueAt;
    private @Nullable String key;
    private @Nullable Payload payload;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private @Nullable Integer maxAttempts;
    private @Nullable OnConflict onConflict;
    private @Nullable String idempotencyKey;

    private Builder() {}

    /** Sets the delay from the acceptance by the server until the task is due; not negative. Replaces a due time. */
    public Builder delay(Duration value) {
      delay = value;
      dueAt = null;
      return this;
    }

    /** Sets when the task is due; at once if that is past. Replaces a delay. */
    public Builder dueAt(Instant value) {
      dueAt = value;
      delay = null;
      return this;
    }

    /** Sets the key of the task; a queue has at most one live task per key. Null, the default, for none. */
    public Builder key(@Nullable String value) {
      key = value;
      return this;
    }

    /** Sets the payload. Null, the default, keeps the payload of the key's live task; a new task then has none. */
    public Builder payload(@Nullable Payload value) {
      payload = value;
      return this;
    }

    /** Adds a header, or replaces the one of that name. It is sent with every delivery. The name is visible ASCII. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    /** Sets the headers that are sent with every delivery, and removes those set before; none by default. */
    public Builder headers(Map<String, String> value) {
      headers.clear();
      headers.putAll(value);
      return this;
    }

    /** Sets how many attempts the task gets, at least 1; null, the default, for the number of the queue. */
    public Builder maxAttempts(@Nullable Integer value) {
      maxAttempts = value;
      return this;
    }

    /** Sets the action to take if the key has a live task; null, the default, for the server's default, a reset. */
    public Builder onConflict(@Nullable OnConflict value) {
      onConflict = value;
      return this;
    }

    /**
     * Sets a name for this one request, of visible ASCII; null, the default, for none. It makes it safe to submit the
     * task again if the outcome is unknown, and lets the client do so by itself: for 24 hours a repeat has no effect,
     * and returns the task of the first request.
     */
    public Builder idempotencyKey(@Nullable String value) {
      idempotencyKey = value;
      return this;
    }

    /**
     * Returns the task.
     *
     * @throws IllegalArgumentException if a setting is out of its range, or neither a delay nor a due time is set
     */
    public NewTask build() {
      return new NewTask(delay, dueAt, key, payload, headers, maxAttempts, onConflict, idempotencyKey);
    }
  }

  /** Writes all fields except the key and the idempotency key, whose place depends on the route. */
  void write(JsonGenerator json) {
    Json.write(json, "delay", delay);
    Json.write(json, "dueAt", dueAt);
    if (payload != null) {
      payload.write(json);
    }
    Json.write(json, "headers", headers);
    Json.write(json, "maxAttempts", maxAttempts);
    Json.write(json, "onConflict", onConflict == null ? null : onConflict.wireName());
  }
}
