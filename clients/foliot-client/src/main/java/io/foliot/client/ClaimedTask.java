package io.foliot.client;

import io.foliot.api.TaskNote;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task that this process may run until its lease ends.
 *
 * @param generation the generation. The pair of generation and attempt grows with each delivery, so a receiver can
 *     refuse stale deliveries
 * @param attempt the number of the attempt within its generation, from 1
 * @param leaseEnd when the lease ends, by the server's clock
 * @param leasedFor the duration of the lease, counted from the sending of the claim; null if the server does not return
 *     a duration
 * @param payload the payload; null for none
 * @param note the note that earlier attempts of this generation have left, with the checkpoint to continue from
 */
public record ClaimedTask(
    String id,
    String queue,
    @Nullable String key,
    long generation,
    int attempt,
    Instant dueAt,
    String token,
    Instant leaseEnd,
    @Nullable Duration leasedFor,
    @Nullable Payload payload,
    Map<String, String> headers,
    TaskNote note) {
  public ClaimedTask {
    headers = Map.copyOf(headers);
  }

  /** Returns the tasks in the answer to a claim. */
  static List<ClaimedTask> allOf(JsonObject answer) {
    Duration leasedFor = answer.has("leaseMillis") ? Duration.ofMillis(answer.number("leaseMillis")) : null;
    return answer.objects("tasks").stream().map(task -> of(task, leasedFor)).toList();
  }

  private static ClaimedTask of(JsonObject json, @Nullable Duration leasedFor) {
    return new ClaimedTask(json.text("id"), json.text("queue"), json.textOrNull("key"), json.number("generation"),
        json.integer("attempt"), json.instant("dueAt"), json.text("token"), json.instant("leaseEnd"), leasedFor,
        Payload.of(json), json.textMap("headers"), NoteJson.read(json));
  }

  /** Returns the lease, for the calls that extend the lease or settle the attempt. */
  public Lease lease() {
    return new Lease(id, token, generation);
  }
}
