package io.foliot.client;

import io.foliot.api.OnConflict;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A task to submit, for example {@code NewTask.builder().delay(delay).key("order-7").build()}.
 *
 * @param delay the delay until the task is due, counted from when the server accepts the task; null if {@code dueAt} is
 *     given
 * @param dueAt when the task is due, which may be in the past; null if {@code delay} is given
 * @param key the key of the task; a queue has at most one live task per key; null for none
 * @param payload the payload. If null, a live task of the key keeps its payload, and a new task has none
 * @param headers the headers that are sent with every delivery
 * @param maxAttempts the largest number of attempts; null for the number of the queue
 * @param onConflict the action to take if the key has a live task; null for the server's default, a reset
 * @param idempotencyKey a name for this one request, in visible ASCII; null for none. For 24 hours, a repeat with the
 *     same name has no effect, and returns the task of the first request. The client can therefore repeat the request
 *     by itself if the outcome is unknown
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
  /**
   * Checks all settings here. A failure in the middle of sending a batch would leave the outcome of the batch unknown.
   */
  public NewTask {
    if ((delay == null) == (dueAt == null)) {
      throw new IllegalArgumentException("a task must have a delay or a dueAt: delay=" + delay + ", dueAt=" + dueAt);
    }
    if (delay != null) {
      Durations.requireNotNegative("delay", delay);
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

  /** Returns a task that has no key and is due after a delay, which may be zero. Use {@link #builder} to set more. */
  public static NewTask after(Duration delay) {
    return builder().delay(delay).build();
  }

  /** Returns a task that has no key and is due at an instant, which may be in the past. */
  public static NewTask at(Instant dueAt) {
    return builder().dueAt(dueAt).build();
  }

  /** Returns a builder of a task. The task needs a delay or a due time; all other settings have defaults. */
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

    /**
     * Sets the delay until the task is due, counted from when the server accepts the task; not negative. Replaces a due
     * time.
     */
    public Builder delay(Duration value) {
      delay = value;
      dueAt = null;
      return this;
    }

    /** Sets when the task is due, which may be in the past. Replaces a delay. */
    public Builder dueAt(Instant value) {
      dueAt = value;
      delay = null;
      return this;
    }

    /** Sets the key of the task. If null or not set, the task has no key. A queue has at most one live task per key. */
    public Builder key(@Nullable String value) {
      key = value;
      return this;
    }

    /**
     * Sets the payload; null by default. If it is null, a live task of the key keeps its payload, and a new task has
     * none.
     */
    public Builder payload(@Nullable Payload value) {
      payload = value;
      return this;
    }

    /** Sets a header, which is sent with every delivery. The name is visible ASCII. Replaces an earlier value. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    /** Sets the headers that are sent with every delivery, and removes all earlier headers; none by default. */
    public Builder headers(Map<String, String> value) {
      headers.clear();
      headers.putAll(value);
      return this;
    }

    /** Sets the largest number of attempts, at least 1. If null or not set, the number of the queue applies. */
    public Builder maxAttempts(@Nullable Integer value) {
      maxAttempts = value;
      return this;
    }

    /** Sets the action to take if the key has a live task. If null or not set, the server resets the task. */
    public Builder onConflict(@Nullable OnConflict value) {
      onConflict = value;
      return this;
    }

    /**
     * Sets a name for this one request, in visible ASCII. If null or not set, the request has no name. For 24 hours, a
     * repeat with the same name has no effect, and returns the task of the first request. The client can therefore
     * repeat the request by itself if the outcome is unknown.
     */
    public Builder idempotencyKey(@Nullable String value) {
      idempotencyKey = value;
      return this;
    }

    /**
     * Returns the task.
     *
     * @throws IllegalArgumentException if a setting is out of its range, or the task has no delay and no due time
     */
    public NewTask build() {
      return new NewTask(delay, dueAt, key, payload, headers, maxAttempts, onConflict, idempotencyKey);
    }
  }

  /** Writes all fields except the key and the idempotency key, which some routes place outside of the body. */
  void write(JsonGenerator json) {
    Json.write(json, "delay", delay);
    Json.write(json, "dueAt", dueAt);
    if (payload != null) {
      payload.write(json);
    }
    Json.write(json, "headers", headers);
    Json.write(json, "maxAttempts", maxAttempts);
    Json.write(json, "onConflict", onConflict == null ? null : onConflict.name().toLowerCase(Locale.ROOT));
  }
}
