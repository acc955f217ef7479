package io.foliot.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker, as the server returned it: a process that claims with a name, or a node with handlers of its own.
 *
 * @param worker the name of the worker
 * @param state LIVE, DISABLED, GONE, or a state of a newer server
 * @param seat the number that addresses tasks to the worker; null if the server has not read the number yet
 * @param zone the data centre, rack or cell of the worker; may be empty
 * @param node the name of the node that the worker calls; null if the node is not known
 * @param queues the queues that the worker claims from, except those that the API key does not permit
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
