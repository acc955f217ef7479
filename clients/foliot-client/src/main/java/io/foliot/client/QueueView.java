package io.foliot.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue as the server sees it. Secrets in the settings are masked; the server keeps those whose mask is sent back.
 *
 * @param counts tasks by their state ({@code delayed}, {@code parked}, {@code running}, {@code finished},
 *     {@code failed}, {@code cancelled}), at most 10 seconds old; empty if the answer has none
 * @param lag how late the oldest task that is due is by now; null if the answer has none
 * @param json the answer as it is, with fields that this client does not know
 */
public record QueueView(
    String queue,
    QueueSettings settings,
    Map<String, Long> counts,
    @Nullable Duration lag,
    String json) {
  public QueueView {
    counts = Map.copyOf(counts);
  }

  static QueueView of(JsonObject json) {
    JsonObject stats = json.has("stats") ? json.object("stats") : JsonObject.EMPTY;
    JsonObject states = stats.has("counts") ? stats.object("counts") : JsonObject.EMPTY;
    Map<String, Long> counts = new LinkedHashMap<>();
    states.names().forEach(name -> counts.put(name, states.number(name)));
    return new QueueView(json.text("queue"), QueueSettings.of(json), counts, stats.durationOrNull("lag"), json.json());
  }

  /** Leaves out the answer, because it may contain a secret. */
  @Override
  public String toString() {
    return "QueueView[queue=" + queue + ", settings=" + settings + ", counts=" + counts + ", lag=" + lag + "]";
  }
}
