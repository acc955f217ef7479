package io.foliot.client;

import io.foliot.api.TaskNote;
import io.foliot.api.TaskNote.Mark;
import tools.jackson.core.JsonGenerator;

/** The JSON of the note of an attempt. Its fields are part of the object around them. */
final class NoteJson {
  private NoteJson() {}

  static TaskNote read(JsonObject json) {
    Double progress = json.decimalOrNull("progress");
    String message = json.textOrNull("message");
    String log = json.textOrNull("log");
    try {
      return new TaskNote(progress == null ? -1 : progress, message == null ? "" : message,
          json.textOrNull("checkpoint"), log == null ? "" : log,
          json.isTrue("endJob") ? Mark.END_JOB : json.isTrue("runAgain") ? Mark.RUN_AGAIN : Mark.NONE);
    } catch (IllegalArgumentException e) {
      throw new UnreadableAnswerException("an answer must have a valid note: " + e.getMessage(), e);
    }
  }

  /** Writes the fields that are set. Question marks replace unpaired surrogates of message and log. */
  static void write(JsonGenerator json, TaskNote note) {
    if (note.progress() >= 0) {
      json.writeNumberProperty("progress", note.progress());
    }
    Json.write(json, "message", note.message().isEmpty() ? null : ShardNote.sendable(note.message()));
    String checkpoint = note.checkpoint();
    Json.write(json, "checkpoint",
        checkpoint == null ? null : Names.requireWellFormed("checkpoint", checkpoint));
    Json.write(json, "log", note.log().isEmpty() ? null : ShardNote.sendable(note.log()));
    switch (note.mark()) {
      case NONE -> {
      }
      case END_JOB -> json.writeBooleanProperty("endJob", true);
      case RUN_AGAIN -> json.writeBooleanProperty("runAgain", true);
    }
  }
}
