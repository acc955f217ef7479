package io.foliot.client;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task that this process may run until its lease ends.
 *
 * @param generation together with {@code attempt} a number that strictly increases, so a sink can refuse stale
 *     deliveries
 * @param attempt counts the generation's attempts from 1
 * @param leaseEnd by the server's clock
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
    @Nullable Payload payload,
    Map<String, String> headers,
    TaskNote note) {
  public ClaimedTask {
    headers = Map.copyOf(headers);
  }

  static ClaimedTask of(JsonObject json) {
    return new ClaimedTask(json.text("id"), json.text("queue"), json.textOrNull("key"), json.number("generation"),
        json.integer("attempt"), json.instant("dueAt"), json.text("token"), json.instant("leaseEnd"),
        Payload.of(json), json.textMap("headers"), TaskNote.of(json));
  }

  /** Returns the lease, with which the attempt is settled. */
  public Lease lease() {
    return new Lease(id, token, generation);
  }
}
