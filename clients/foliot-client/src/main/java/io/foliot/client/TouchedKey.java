package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of a touch of one key.
 *
 * @param result the effect on the task of the key
 * @param generation the new generation; null if there is no live task
 * @param dueAt the new due time; null if there is no live task
 */
public record TouchedKey(String key, KeyOutcome result, @Nullable Long generation, @Nullable Instant dueAt) {
  static TouchedKey of(JsonObject json) {
    return new TouchedKey(json.text("key"), json.constant("result", KeyOutcome.values()),
        json.numberOrNull("generation"),
        json.instantOrNull("dueAt"));
  }
}
