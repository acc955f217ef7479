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
 * @param mark the request to the job that the task belongs to; it counts only if the attempt succeeds
 */
public record TaskNote(double progress, String message, @Nullable String checkpoint, String log, Mark mark) {
  /** A note without content. */
  public static final TaskNote NONE = new TaskNote(-1, "", null, "");

  /** The request of a shard's handler to the job. */
  public enum Mark {
    /** No request. */
    NONE,
    /** The job is over. */
    END_JOB,
    /** The next run begins as soon as this one has ended, with the checkpoints of its shards. */
    RUN_AGAIN
  }

  /** Creates a note without a mark. */
  public TaskNote(double progress, String message, @Nullable String checkpoint, String log) {
    this(progress, message, checkpoint, log, Mark.NONE);
  }

  static TaskNote of(JsonObject json) {
    Double progress = json.decimalOrNull("progress");
    String message = json.textOrNull("message");
    String log = json.textOrNull("log");
    return new TaskNote(progress == null ? -1 : progress, message == null ? "" : message,
        json.textOrNull("checkpoint"), log == null ? "" : log,
        isTrue(json, "endJob") ? Mark.END_JOB : isTrue(json, "runAgain") ? Mark.RUN_AGAIN : Mark.NONE);
  }

  private static boolean isTrue(JsonObject json, String field) {
    Boolean value = json.truthOrNull(field);
    return value != null && value;
  }

  /** Writes the fields of a note that are set. */
  void write(JsonGenerator json) {
    if (progress >= 0) {
      json.writeNumberProperty("progress", progress);
    }
    Json.write(json, "message", message.isEmpty() ? null : Names.requireWellFormed("message", message));
    Json.write(json, "checkpoint", checkpoint == null ? null : Names.requireWellFormed("checkpoint", checkpoint));
    Json.write(json, "log", log.isEmpty() ? null : Names.requireWellFormed("log", log));
    switch (mark) {
      case NONE -> {
      }
      case END_JOB -> json.writeBooleanProperty("endJob", true);
      case RUN_AGAIN -> json.writeBooleanProperty("runAgain", true);
    }
  }
}
