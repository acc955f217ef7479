package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a task.
 *
 * @param generation the generation of the task to which the attempt belongs
 * @param attempt the number of the attempt within its generation, from 1
 * @param endedAt when the attempt ended; null while no end is recorded
 * @param outcome FINISHED, RETRIED, FAILED, REARMED, LEASE_ENDED, NOT_BEGUN, or an outcome of a newer server; null
 *     while no end is recorded
 * @param detail a human-readable text from the receiver or worker; null for none
 * @param worker the worker that made the attempt; null if it is not known
 * @param node the node that made the attempt or gave it to the worker; null if it is not known
 */
public record AttemptView(
    long generation,
    int attempt,
    Instant begunAt,
    @Nullable Instant endedAt,
    @Nullable String outcome,
    @Nullable String detail,
    @Nullable String worker,
    @Nullable String node) {
  static AttemptView of(JsonObject json) {
    return new AttemptView(json.number("generation"), json.integer("attempt"), json.instant("begunAt"),
        json.instantOrNull("endedAt"), json.textOrNull("outcome"), json.textOrNull("detail"),
        json.textOrNull("worker"), json.textOrNull("node"));
  }
}
