package io.foliot.client;

import java.time.Instant;

/**
 * The result of {@link FoliotClient#putKey}.
 *
 * @param result the effect of the call
 * @param id the id of the key's task
 * @param generation the new generation of the task
 * @param dueAt the new due time of the task
 */
public record KeyResult(KeyOutcome result, String id, long generation, Instant dueAt) {
  static KeyResult of(JsonObject json) {
    return new KeyResult(json.constant("result", KeyOutcome.values()), json.text("id"), json.number("generation"),
        json.instant("dueAt"));
  }
}
