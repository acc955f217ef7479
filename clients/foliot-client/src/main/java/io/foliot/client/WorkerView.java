package io.foliot.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker as the server knows it: a process that claims with a name, or a server with handlers of its own.
 *
 * @param worker its name
 * @param state LIVE, DISABLED, GONE, or a state of a newer server
 * @param seat the number by which tasks are addressed to it; null if the server has not read it yet
 * @param zone its data centre, rack or cell; may be empty
 * @param node the name of the server that it calls; null if that is not known
 * @param queues the queues that it claims from and that the API key permits
 */
public record WorkerView(String worker, String state, @Nullable Integer seat, String zone, @Nullable String node,
    List<String> queues) {
  public WorkerView {
    queues = List.copyOf(queues);
  }

  static WorkerView of(JsonObject json) {
    String zone = json.textOrNull("zone");
    return new WorkerView(json.text("worker"), json.text("state"), json.integerOrNull("seat"),
        zone == null ? "" : zone, json.textOrNull("node"), json.texts("queues"));
  }
}
