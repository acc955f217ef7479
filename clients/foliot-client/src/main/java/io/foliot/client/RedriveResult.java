package io.foliot.client;

import java.util.List;

/**
 * The result of a redrive.
 *
 * @param redriven how many failed tasks are live again
 * @param conflicts ids of those that stay failed because their key has a live task again
 * @param more whether the limit left some that could be redriven
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
