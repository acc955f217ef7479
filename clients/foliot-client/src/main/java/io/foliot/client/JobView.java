package io.foliot.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A recurring job as the server sees it.
 *
 * @param job its name
 * @param state ACTIVE, PAUSED, COMPLETED, ERROR, or a state of a newer server
 * @param nextTimes its next times, each with the offset of its zone, as RFC 3339 has them
 * @param totals the results of its times and runs, by {@code fired}, {@code missed}, {@code succeeded} and others
 * @param json the answer as it is: the definition, and fields that this client does not know
 */
public record JobView(String job, String state, List<String> nextTimes, Map<String, Long> totals, String json) {
  public JobView {
    nextTimes = List.copyOf(nextTimes);
    totals = Map.copyOf(totals);
  }

  static JobView of(JsonObject json) {
    JsonObject figures = json.has("totals") ? json.object("totals") : JsonObject.EMPTY;
    Map<String, Long> totals = new LinkedHashMap<>();
    figures.names().forEach(name -> totals.put(name, figures.number(name)));
    return new JobView(json.text("job"), json.text("state"),
        json.has("nextTimes") ? json.texts("nextTimes") : List.of(),
        totals, json.json());
  }
}
