package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a task.
 *
 * @param generation the generation of the task to which the attempt belongs
 * @param attempt the number of the attempt within its generation, from 1
 * @param endedAt when the attempt ended; null while no end is recorded
 * @param outcome FINISHED, RETRIED, FAILED, REARMED, LEASE_ENDED, NOT_BEGUN, or an outcome of a newer server; null while no end is
 *     recorded
 * @param detail a human-readable text from the receiver or worker; null for none
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
