package io.foliot.client;

import java.time.Instant;

/** The result of {@link FoliotClient#putKey}. */
public record KeyResult(KeyOutcome result, String id, long generation, Instant dueAt) {
  static KeyResult of(JsonObject json) {
    return new KeyResult(KeyOutcome.of(json), json.text("id"), json.number("generation"), json.instant("dueAt"));
  }
}
