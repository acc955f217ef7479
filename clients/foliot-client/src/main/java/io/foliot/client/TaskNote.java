package io.foliot.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A worker's report on its work. The next attempt of the same firing gets it.
 *
 * @param progress the part that is done, from 0 to 1; negative if it is not known
 * @param message the current step, at most 200 characters; may be empty
 * @param checkpoint from where the next attempt continues, at most 16 KiB of UTF-8, or null if there is none
 * @param log the last lines of the worker's log; the server keeps the last 4,096 characters
 */
public record TaskNote(double progress, String message, @Nullable String checkpoint, String log) {
  /** Nothing was said. */
  public static final TaskNote NONE = new TaskNote(-1, "", null, "");

  static TaskNote of(JsonObject json) {
    Double progress = json.decimalOrNull("progress");
    String message = json.textOrNull("message");
    String log = json.textOrNull("log");
    return new TaskNote(progress == null ? -1 : progress, message == null ? "" : message,
        json.textOrNull("checkpoint"), log == null ? "" : log);
  }

  /** Writes the fields of a report. */
  void write(JsonGenerator json) {
    if (progress >= 0) {
      json.writeNumberProperty("progress", progress);
    }
    Json.write(json, "message", message.isEmpty() ? null : Names.requireWellFormed("message", message));
    Json.write(json, "checkpoint", checkpoint == null ? null : Names.requireWellFormed("checkpoint", checkpoint));
    Json.write(json, "log", log.isEmpty() ? null : Names.requireWellFormed("log", log));
  }
}
