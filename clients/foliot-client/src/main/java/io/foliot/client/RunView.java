package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A run of a job, or a range of scheduled times that did not run, as the server returned it.
 *
 * @param time the scheduled time in the form of RFC 3339; the first one of a range
 * @param count how many scheduled times this is: more than 1 for a range
 * @param origin {@code schedule}, or {@code request-} and a number for a run that a caller has requested
 * @param result RUNNING, SUCCEEDED, FAILED, MISSED, SKIPPED, or another result
 * @param reason why the run failed: the first failure, with the number of its shard; null for none
 * @param shards how many shards the run has; 0 for times that did not run
 * @param failed how many of them have failed
 * @param begunAt when the run began; null for times that did not run
 * @param endedAt when the run ended; null while it is active
 * @param json the unparsed run, with fields that this class does not have
 */
public record RunView(
    String time,
    int count,
    String origin,
    String result,
    @Nullable String reason,
    int shards,
    int failed,
    @Nullable Instant begunAt,
    @Nullable Instant endedAt,
    String json) {
  static RunView of(JsonObject json) {
    return new RunView(json.text("time"), or(json.integerOrNull("count"), 1), json.text("origin"), json.text("result"),
        json.textOrNull("reason"), or(json.integerOrNull("shards"), 0), or(json.integerOrNull("failed"), 0),
        json.instantOrNull("begunAt"), json.instantOrNull("endedAt"), json.json());
  }

  private static int or(@Nullable Integer number, int otherwise) {
    return number == null ? otherwise : number;
  }
}
