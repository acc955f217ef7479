package io.foliot.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The right to settle one attempt of a task.
 *
 * @param taskId the id of the task
 * @param token the token of the claim
 * @param generation the generation that was claimed; null if it is not known
 */
public record Lease(String taskId, String token, @Nullable Long generation) {
  public Lease {
    Names.requireName("taskId", taskId);
    Names.requireName("token", token);
  }

  void write(JsonGenerator json) {
    json.writeStringProperty("token", token);
  }
}
