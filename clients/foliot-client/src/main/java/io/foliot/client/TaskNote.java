package io.foliot.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A worker's report on its work. The next attempt of the same firing gets this note.
 *
 * @param progress the part that is done, from 0 to 1; negative if the part is not known
 * @param message the current step, at most 200 characters; may be empty
 * @param checkpoint the state from which the next attempt continues, at most 16 KiB in UTF-8; null for none
 * @param log the last lines of the worker's log; may be empty; the server keeps the last 4,096 characters
 * @param mark the request to the job of the task; it has an effect only if the attempt succeeds
 */
public record TaskNote(double progress, String message, @Nullable String checkpoint, String log, Mark mark) {
  /** A note without content. */
  public static final TaskNote NONE = new TaskNote(-1, "", null, "");

  /** The request of a shard's handler to the job. */
  public enum Mark {
    /** No request. */
    NONE,
    /** Ends the job: its schedule starts no further run. */
    END_JOB,
    /** Starts the next run as soon as this run has ended. The shards begin from their checkpoints. */
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

  /** Writes the fields of the note that are set. Question marks replace unpaired surrogates of message and log. */
  void write(JsonGenerator json) {
    if (progress >= 0) {
      json.writeNumberProperty("progress", progress);
    }
    Json.write(json, "message", message.isEmpty() ? null : ShardNote.sendable(message));
    Json.write(json, "checkpoint", checkpoint == null ? null : Names.requireWellFormed("checkpoint", checkpoint));
    Json.write(json, "log", log.isEmpty() ? null : ShardNote.sendable(log));
    switch (mark) {
      case NONE -> {
      }
      case END_JOB -> json.writeBooleanProperty("endJob", true);
      case RUN_AGAIN -> json.writeBooleanProperty("runAgain", true);
    }
  }
}
