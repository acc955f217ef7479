package io.foliot.client;

import java.util.List;

/**
 * The result of a redrive.
 *
 * @param redriven how many failed tasks are live again
 * @param conflicts the ids of tasks that stay failed, because their key has a new live task
 * @param more whether the queue may have further failed tasks that this call did not reach
 */
public record BulkRedriveResult(long redriven, List<String> conflicts, boolean more) {
  public BulkRedriveResult {
    conflicts = List.copyOf(conflicts);
  }

  static BulkRedriveResult of(JsonObject json) {
    return new BulkRedriveResult(json.number("redriven"), json.texts("conflicts"),
        Boolean.TRUE.equals(json.truthOrNull("more")));
  }
}
