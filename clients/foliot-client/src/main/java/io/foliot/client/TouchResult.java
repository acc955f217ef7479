package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of pushing back the deadline of one key.
 *
 * @param generation the new one; null if there is no live task
 * @param dueAt the new one; null if there is no live task
 */
public record TouchResult(String key, KeyOutcome result, @Nullable Long generation, @Nullable Instant dueAt) {
  static TouchResult of(JsonObject json) {
    return new TouchResult(json.text("key"), KeyOutcome.of(json), json.numberOrNull("generation"),
        json.instantOrNull("dueAt"));
  }
}
