package io.foliot.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A recurring job, as the server returned it.
 *
 * @param job the name of the job
 * @param state ACTIVE, PAUSED, COMPLETED, ERROR, or a state of a newer server
 * @param nextTimes the next scheduled times of the job in the form of RFC 3339, each with the offset of its time zone
 * @param totals the counts of scheduled times and runs of the job, by name: {@code fired}, {@code missed},
 *     {@code succeeded} and others
 * @param json the unparsed answer, with the definition, and with fields that this class does not have
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
