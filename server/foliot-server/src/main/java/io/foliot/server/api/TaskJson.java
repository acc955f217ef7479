package io.foliot.server.api;

import io.foliot.api.Body;
import io.foliot.api.InstantText;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.AttemptMaker;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import io.foliot.server.text.WellFormed;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Writes tasks, and the results of calls that change tasks, as JSON for answers of the API. */
final class TaskJson {
  private TaskJson() {}

  static void instant(JsonGenerator json, String name, long millis) {
    json.writeStringProperty(name, InstantText.format(millis));
  }

  static void text(JsonGenerator json, String name, @Nullable String text) {
    if (text == null) {
      json.writeNullProperty(name);
    } else {
      json.writeStringProperty(name, WellFormed.of(text));
    }
  }

  static void submitted(JsonGenerator json, Submission submission, SubmitResult result, long nowMillis) {
    json.writeStartObject();
    json.writeStringProperty("id", result.id().toString());
    json.writeStringProperty("queue", submission.queue());
    text(json, "key", submission.key());
    json.writeNumberProperty("generation", result.generation());
    instant(json, "dueAt", result.dueAt());
    json.writeStringProperty("result", result.kind().name());
    boolean ready = result.state() == TaskState.DELAYED && result.dueAt() <= nowMillis;
    json.writeStringProperty("state", (ready ? TaskState.READY : result.state()).name());
    json.writeEndObject();
  }

  static void put(JsonGenerator json, SubmitResult result) {
    json.writeStartObject();
    json.writeStringProperty("result", result.kind().name());
    json.writeStringProperty("id", result.id().toString());
    json.writeNumberProperty("generation", result.generation());
    instant(json, "dueAt", result.dueAt());
    json.writeEndObject();
  }

  static void touched(JsonGenerator json, @Nullable String key, TouchResult result) {
    json.writeStartObject();
    if (key != null) {
      json.writeStringProperty("key", key);
    }
    json.writeStringProperty("result", result.kind().name());
    if (key == null && result.id() != null) {
      json.writeStringProperty("id", result.id().toString());
    }
    if (result.generation() != 0) {
      json.writeNumberProperty("generation", result.generation());
    }
    if (result.dueAt() != 0) {
      instant(json, "dueAt", result.dueAt());
    }
    json.writeEndObject();
  }

  static void cancelled(JsonGenerator json, CancelResult result) {
    json.writeStartObject();
    json.writeStringProperty("result", result.kind().name());
    if (result.id() != null) {
      json.writeStringProperty("id", result.id().toString());
    }
    if (result.generation() != 0) {
      json.writeNumberProperty("generation", result.generation());
    }
    json.writeEndObject();
  }

  /**
   * Writes all fields of a task.
   *
   * @param queueAttempts the queue's maximum number of attempts, for a task that sets none; 0 if it is unknown
   */
  static void task(JsonGenerator json, TaskRecord task, int queueAttempts, long nowMillis) {
    json.writeStartObject();
    json.writeStringProperty("id", task.id().toString());
    json.writeStringProperty("queue", task.queue());
    text(json, "key", task.key());
    json.writeNumberProperty("generation", task.generation());
    instant(json, "dueAt", task.dueAt());
    json.writeStringProperty("state", task.stateAt(nowMillis).name());
    json.writeNumberProperty("attempt", task.attempt());
    int maxAttempts = task.maxAttempts() == 0 ? queueAttempts : task.maxAttempts();
    if (maxAttempts != 0) {
      json.writeNumberProperty("maxAttempts", maxAttempts);
    }
    instant(json, "createdAt", task.createdAt());
    if (task.state() == TaskState.RUNNING) {
      instant(json, "leaseEnd", task.leaseEnd());
      if (task.leaseEnd() <= nowMillis) {
        json.writeBooleanProperty("leaseExpired", true);
      }
    }
    if (task.cancelRequested()) {
      json.writeBooleanProperty("cancelRequested", true);
    }
    successor(json, task.successor());
    // A key that may read tasks may not act in the name of the program that submitted them.
    body(json, task.body(), true);
    if (!task.reason().isEmpty()) {
      text(json, "reason", task.reason());
    }
    note(json, task.note());
    json.writeArrayPropertyStart("attempts");
    task.attempts().forEach(attempt -> attempt(json, attempt));
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void successor(JsonGenerator json, TaskRecord.@Nullable Successor successor) {
    if (successor != null) {
      json.writeObjectPropertyStart("successor");
      json.writeNumberProperty("generation", successor.generation());
      instant(json, "dueAt", successor.dueAt());
      json.writeEndObject();
    }
  }

  private static void attempt(JsonGenerator json, AttemptRecord attempt) {
    json.writeStartObject();
    json.writeNumberProperty("generation", attempt.generation());
    json.writeNumberProperty("attempt", attempt.attempt());
    instant(json, "begunAt", attempt.begunAt());
    instant(json, "endedAt", attempt.endedAt());
    json.writeStringProperty("outcome", attempt.end().name());
    text(json, "detail", attempt.message());
    maker(json, attempt.maker());
    json.writeEndObject();
  }

  /** Writes the worker and the node that made an attempt, as far as they are known. */
  static void maker(JsonGenerator json, AttemptMaker maker) {
    if (!maker.worker().isEmpty()) {
      text(json, "worker", maker.worker());
    }
    if (!maker.node().isEmpty()) {
      text(json, "node", maker.node());
    }
  }

  /**
   * Writes the payload, the content type and the headers, if any. A payload that is one JSON value and has a content
   * type of JSON is written as it was sent; any other payload is written in Base64.
   */
  static void body(JsonGenerator json, Body body) {
    body(json, body, false);
  }

  private static void body(JsonGenerator json, Body body, boolean isMasked) {
    boolean asItIs = Request.isJson(Request.mediaType(body.contentType())) && Json.isOneValue(body.payload());
    if (asItIs) {
      json.writeName("payload");
      json.writeRawValue(new String(body.payload(), StandardCharsets.UTF_8));
    } else {
      json.writeStringProperty("payloadBase64", Base64.getEncoder().encodeToString(body.payload()));
    }
    text(json, "contentType", body.contentType());
    if (!body.headers().isEmpty()) {
      json.writeObjectPropertyStart("headers");
      body.headers().forEach((name, value) -> text(json, WellFormed.of(name),
          isMasked && Secrets.isSecret(name) ? Secrets.MASK : value));
      json.writeEndObject();
    }
  }

  /** Writes a task as a claim returns it. */
  static void claimed(JsonGenerator json, TaskRecord task) {
    json.writeStartObject();
    json.writeStringProperty("id", task.id().toString());
    json.writeStringProperty("queue", task.queue());
    text(json, "key", task.key());
    json.writeNumberProperty("generation", task.generation());
    json.writeNumberProperty("attempt", task.attempt());
    instant(json, "dueAt", task.dueAt());
    text(json, "token", String.valueOf(task.token()));
    instant(json, "leaseEnd", task.leaseEnd());
    body(json, task.body());
    note(json, task.note());
    json.writeEndObject();
  }

  /** Writes the parts of a note that are set. */
  static void note(JsonGenerator json, TaskNote note) {
    if (note.progress() >= 0) {
      json.writeNumberProperty("progress", note.progress());
    }
    if (!note.message().isEmpty()) {
      text(json, "message", note.message());
    }
    if (note.checkpoint() != null) {
      text(json, "checkpoint", note.checkpoint());
    }
    if (!note.log().isEmpty()) {
      text(json, "log", note.log());
    }
    switch (note.mark()) {
      case NONE -> {
      }
      case END_JOB -> json.writeBooleanProperty("endJob", true);
      case RUN_AGAIN -> json.writeBooleanProperty("runAgain", true);
    }
  }

  /** Writes why a task has not fired, with its slot, the slot's owner, its lane and its destination. */
  static void explanation(JsonGenerator json, Scheduler.Explanation why, Fleet fleet) {
    json.writeStartObject();
    json.writeStringProperty("id", why.task().id().toString());
    json.writeStringProperty("queue", why.task().queue());
    text(json, "key", why.task().key());
    json.writeStringProperty("state", why.state().name());
    instant(json, "dueAt", why.task().dueAt());
    json.writeArrayPropertyStart("reasons");
    why.reasons().forEach(reason -> json.writeString(WellFormed.of(EngineWords.of(reason, why, fleet))));
    json.writeEndArray();
    json.writeNumberProperty("slot", why.slot());
    text(json, "owner", why.owner());
    json.writeObjectPropertyStart("lane");
    json.writeNumberProperty("waiting", why.laneWaiting());
    json.writeNumberProperty("running", why.laneRunning());
    json.writeEndObject();
    json.writeObjectPropertyStart("destination");
    text(json, "name", why.destination());
    json.writeNumberProperty("limit", why.destinationLimit());
    json.writeNumberProperty("running", why.destinationRunning());
    json.writeEndObject();
    json.writeEndObject();
  }
}
