package io.foliot.server.api;

import io.foliot.api.FieldType;
import io.foliot.api.RunPhase;
import io.foliot.api.TaskState;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.RunTask;
import tools.jackson.core.JsonGenerator;

/** Writes the tasks of a run as JSON. */
final class RunJson {
  private RunJson() {}

  /**
   * Returns whether a task has something to show beside the logs.
   *
   * @param isFailed whether the task is listed as failed: then its reason is enough
   */
  static boolean hasLog(RunTask task, boolean isFailed) {
    TaskRecord record = task.task();
    return record == null ? isFailed && task.id() != null : isFailed || !record.note().log().isEmpty();
  }

  /** Writes a shard or listener: its task, its latest attempt, and with {@code withLog} its log. */
  static void write(JsonGenerator json, RunTask task, long nowMillis, boolean withLog) {
    json.writeStartObject();
    json.writeStringProperty("origin", JobJson.origin(task.origin()));
    if (task.phase() != RunPhase.SHARDS) {
      json.writeStringProperty("phase", FieldType.word(task.phase()));
    }
    if (!task.zone().isEmpty()) {
      TaskJson.text(json, "zone", task.zone());
    }
    json.writeNumberProperty("shard", task.shard());
    TaskRecord record = task.task();
    json.writeStringProperty("state", record == null ? task.presence().name() : record.stateAt(nowMillis).name());
    if (task.id() != null) {
      json.writeStringProperty("task", task.id().toString());
    }
    if (record == null) {
      String reason = absence(task);
      if (!reason.isEmpty()) {
        TaskJson.text(json, "reason", reason);
      }
    } else {
      stored(json, record, withLog);
    }
    json.writeEndObject();
  }

  private static void stored(JsonGenerator json, TaskRecord record, boolean withLog) {
    json.writeNumberProperty("attempt", record.attempt());
    AttemptRecord last = record.attempts().isEmpty() ? null : record.attempts().getLast();
    String reason = !record.reason().isEmpty()
        ? record.reason()
        : record.isLive() && last != null ? last.message() : "";
    if (!reason.isEmpty()) {
      TaskJson.text(json, "reason", reason);
    }
    if (last != null) {
      TaskJson.maker(json, last.maker());
    }
    if (record.state() == TaskState.RUNNING) {
      TaskJson.instant(json, "begunAt", record.claimedAt());
    } else if (last != null) {
      TaskJson.instant(json, "begunAt", last.begunAt());
      TaskJson.instant(json, "endedAt", last.endedAt());
    }
    if (record.note().checkpoint() != null) {
      TaskJson.text(json, "checkpoint", record.note().checkpoint());
    }
    if (withLog) {
      TaskJson.text(json, "log", record.note().log());
    }
  }

  private static String absence(RunTask task) {
    return switch (task.presence()) {
      case STORED, WAITING -> "";
      case REMOVED -> "the record of its task was removed after the retention of its queue, or it was never inserted"
          + (task.reason().isEmpty() ? "" : "; its reason was: " + task.reason());
      case UNREADABLE -> "the record of its task cannot be read; the server's log names the reason";
      case UNKNOWN -> "the job no longer keeps which worker had the shard, so its task is not known";
    };
  }
}
