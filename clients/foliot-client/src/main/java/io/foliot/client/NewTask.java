package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A task to submit. Made by {@link #after} or {@link #at}, then refined:
 * {@code NewTask.after(delay).withKey("order-7")}.
 *
 * @param delay from when the server takes it on until it is due; null if {@code dueAt} is given
 * @param dueAt when it is due, at once if that is past; null if {@code delay} is given
 * @param key its name inside the queue; at most one live task per key
 * @param headers go with every delivery
 * @param maxAttempts null for what the queue says
 * @param onConflict null for the server's default, a reset
 * @param idempotencyKey makes it safe to submit the task again if the outcome is unknown, and has the client do so by
 *     itself: the server answers the same key and the same task with the same result for 24 hours. Visible ASCII,
 *     because it may travel in a header
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
  /** Checks it all here, because a batch is written while it is sent, when a failure has an unknown outcome. */
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

  /** A task that is due after a delay; zero for at once. */
  public static NewTask after(Duration delay) {
    return new NewTask(delay, null, null, null, Map.of(), null, null, null);
  }

  /** A task that is due at an instant; at once if that is past. */
  public static NewTask at(Instant dueAt) {
    return new NewTask(null, dueAt, null, null, Map.of(), null, null, null);
  }

  public NewTask withKey(String newKey) {
    return new NewTask(delay, dueAt, newKey, payload, headers, maxAttempts, onConflict, idempotencyKey);
  }

  public NewTask withPayload(Payload newPayload) {
    return new NewTask(delay, dueAt, key, newPayload, headers, maxAttempts, onConflict, idempotencyKey);
  }

  /** Adds a header, or replaces the one of that name. */
  public NewTask withHeader(String name, String value) {
    Map<String, String> newHeaders = new LinkedHashMap<>(headers);
    newHeaders.put(name, value);
    return new NewTask(delay, dueAt, key, payload, newHeaders, maxAttempts, onConflict, idempotencyKey);
  }

  public NewTask withMaxAttempts(int newMaxAttempts) {
    return new NewTask(delay, dueAt, key, payload, headers, newMaxAttempts, onConflict, idempotencyKey);
  }

  public NewTask withOnConflict(OnConflict newOnConflict) {
    return new NewTask(delay, dueAt, key, payload, headers, maxAttempts, newOnConflict, idempotencyKey);
  }

  public NewTask withIdempotencyKey(String newIdempotencyKey) {
    return new NewTask(delay, dueAt, key, payload, headers, maxAttempts, onConflict, newIdempotencyKey);
  }

  /** All fields but the key and the idempotency key, whose place depends on the route. */
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
