package io.foliot.client;

import io.foliot.api.TaskState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A task that the server has accepted. The task is as durable as the server's store.
 *
 * @param result the effect of the submit
 * @param key the key of the task; null for none
 * @param generation the generation of the task; a receiver can use it to drop stale deliveries
 */
public record SubmittedTask(
    KeyOutcome result,
    String id,
    String queue,
    @Nullable String key,
    long generation,
    Instant dueAt,
    TaskState state) implements BatchResult {
  static SubmittedTask of(JsonObject json) {
    return new SubmittedTask(json.constant("result", KeyOutcome.values()), json.text("id"), json.text("queue"),
        json.textOrNull("key"),
        json.number("generation"),
        json.instant("dueAt"), json.constant("state", TaskState.values()));
  }
}
