package io.foliot.client;

import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue, as the server returned it. Secrets in the settings are masked. If a mask is sent back in the settings, the
 * server keeps the secret.
 *
 * @param queue the name of the queue
 * @param counts the number of tasks by state ({@code delayed}, {@code parked}, {@code running}, {@code finished},
 *     {@code failed}, {@code cancelled}), usually at most 10 seconds old; empty if the answer has none. The delayed
 *     tasks include the due tasks, the parked tasks and the tasks whose lease has ended
 * @param lag how late the oldest due task is; null if the answer does not contain the lag
 * @param json the unparsed answer, with fields that this class does not have
 */
public record QueueView(
    String queue,
    QueueConfig settings,
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
    QueueConfig settings = json.made(QueueFields.TABLE, values -> QueueConfig.of(json.text("queue"), values));
    return new QueueView(json.text("queue"), settings, counts,
        stats.durationOrNull("lag"), json.json());
  }

  /** Returns a text without the unparsed answer, because the server does not mask all secrets in the answer's URLs. */
  @Override
  public String toString() {
    return "QueueView[queue=" + queue + ", settings=" + settings + ", counts=" + counts + ", lag=" + lag + "]";
  }
}
