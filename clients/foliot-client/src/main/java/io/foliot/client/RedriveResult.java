package io.foliot.client;

import java.util.List;

/**
 * The result of a redrive.
 *
 * @param redriven how many failed tasks are live again
 * @param conflicts the ids of tasks that stay failed, because their key has a new live task
 * @param more whether the queue may have further failed tasks that this call did not reach
 */
public record RedriveResult(long redriven, List<String> conflicts, boolean more) {
  public RedriveResult {
    conflicts = List.copyOf(conflicts);
  }

  static RedriveResult of(JsonObject json) {
    return new RedriveResult(json.number("redriven"), json.texts("conflicts"),
        Boolean.TRUE.equals(json.truthOrNull("more")));
  }
}
