package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a task.
 *
 * @param attempt counts the generation's attempts from 1
 * @param endedAt null while no end is recorded
 * @param outcome null while no end is recorded
 * @param detail the words of the receiver or worker, for people
 */
public record AttemptView(
    long generation,
    int attempt,
    Instant begunAt,
    @Nullable Instant endedAt,
    @Nullable String outcome,
    @Nullable String detail) {
  static AttemptView of(JsonObject json) {
    return new AttemptView(json.number("generation"), json.integer("attempt"), json.instant("begunAt"),
        json.instantOrNull("endedAt"), json.textOrNull("outcome"), json.textOrNull("detail"));
  }
}
