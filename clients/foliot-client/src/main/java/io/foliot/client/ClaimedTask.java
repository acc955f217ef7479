package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task that this process may run until its lease ends.
 *
 * @param generation together with {@code attempt} a number that strictly increases, so a sink can refuse stale
 *     deliveries
 * @param attempt counts the generation's attempts from 1
 * @param leaseEnd by the server's clock
 * @param leasedFor for how long the lease holds, counted from when the claim was sent; null if the server does not say
 * @param note the notes of earlier attempts of this generation: where to continue
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

  /** Reads the answer to a claim. */
  static List<ClaimedTask> allOf(JsonObject answer) {
    Duration leasedFor = answer.has("leaseMillis") ? Duration.ofMillis(answer.number("leaseMillis")) : null;
    return answer.objects("tasks").stream().map(task -> of(task, leasedFor)).toList();
  }

  private static ClaimedTask of(JsonObject json, @Nullable Duration leasedFor) {
    return new ClaimedTask(json.text("id"), json.text("queue"), json.textOrNull("key"), json.number("generation"),
        json.integer("attempt"), json.instant("dueAt"), json.text("token"), json.instant("leaseEnd"), leasedFor,
        Payload.of(json), json.textMap("headers"), TaskNote.of(json));
  }

  /** Returns the lease, with which the attempt is settled. */
  public Lease lease() {
    return new Lease(id, token, generation);
  }
}
