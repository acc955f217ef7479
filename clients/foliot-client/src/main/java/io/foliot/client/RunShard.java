package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A shard or listener of a run, with its latest attempt, as the server returned it.
 *
 * @param origin the {@linkplain RunView#origin origin} of its run
 * @param phase {@code before} or {@code after} for a listener; null for a shard
 * @param zone the zone of the shard; null for none
 * @param shard the number of the shard; with a zone, in that zone
 * @param state a state of a task; WAITING if the task is not inserted yet; REMOVED, UNREADABLE or UNKNOWN if its record
 *     cannot be shown
 * @param task the id of the task; null if it is not known
 * @param attempt how many attempts have begun
 * @param worker the worker of the latest attempt that has ended; null if it is not known
 * @param node the node of the latest attempt that has ended; null if it is not known
 * @param reason why the shard failed, or why its record cannot be shown; null for none
 * @param begunAt when the latest attempt began; null for none
 * @param endedAt when the latest attempt ended; null for none
 * @param checkpoint the latest checkpoint; null for none
 * @param log the end of the log; null for none, and in an answer without logs
 */
public record RunShard(
    String origin,
    @Nullable String phase,
    @Nullable String zone,
    int shard,
    String state,
    @Nullable String task,
    int attempt,
    @Nullable String worker,
    @Nullable String node,
    @Nullable String reason,
    @Nullable Instant begunAt,
    @Nullable Instant endedAt,
    @Nullable String checkpoint,
    @Nullable String log) {
  static RunShard of(JsonObject json) {
    Integer attempt = json.integerOrNull("attempt");
    return new RunShard(json.text("origin"), json.textOrNull("phase"), json.textOrNull("zone"), json.integer("shard"),
        json.text("state"), json.textOrNull("task"), attempt == null ? 0 : attempt, json.textOrNull("worker"),
        json.textOrNull("node"), json.textOrNull("reason"), json.instantOrNull("begunAt"),
        json.instantOrNull("endedAt"), json.textOrNull("checkpoint"), json.textOrNull("log"));
  }
}
