package io.foliot.client;

import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task, as the server returned it. In a list, the server may leave out fields, which are then null or empty here.
 *
 * @param attempt how many attempts of this generation have begun
 * @param maxAttempts the largest number of attempts; null if the answer does not contain the number
 * @param leaseEnd when the lease of a running task ends, unless the lease is extended; null if the task is not running
 * @param leaseExpired whether the task is running and its lease has ended. The attempt may still be settled until the
 *     next claim of the task
 * @param reason the reason why the task failed or was cancelled; null for none
 * @param attempts the records of the latest attempts, at most 16, the oldest first
 * @param note the latest note of the attempts of this generation
 */
public record TaskView(
    String id,
    String queue,
    @Nullable String key,
    long generation,
    Instant dueAt,
    TaskState state,
    int attempt,
    @Nullable Integer maxAttempts,
    @Nullable Instant createdAt,
    @Nullable Instant leaseEnd,
    boolean leaseExpired,
    @Nullable Payload payload,
    Map<String, String> headers,
    @Nullable String reason,
    List<AttemptView> attempts,
    TaskNote note) {
  public TaskView {
    headers = Map.copyOf(headers);
    attempts = List.copyOf(attempts);
  }

  static TaskView of(JsonObject json) {
    Integer attempt = json.integerOrNull("attempt");
    return new TaskView(json.text("id"), json.text("queue"), json.textOrNull("key"), json.number("generation"),
        json.instant("dueAt"), json.constant("state", TaskState.values()), attempt == null ? 0 : attempt,
        json.integerOrNull("maxAttempts"), json.instantOrNull("createdAt"),
        json.instantOrNull("leaseEnd"), json.has("leaseExpired"), Payload.of(json), json.textMap("headers"),
        json.textOrNull("reason"), json.objects("attempts").stream().map(AttemptView::of).toList(),
        NoteJson.read(json));
  }
}
