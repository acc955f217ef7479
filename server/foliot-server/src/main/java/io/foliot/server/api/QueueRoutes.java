package io.foliot.server.api;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.TaskId;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.server.config.Defaults;
import io.foliot.server.security.AuditLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The calls about queues. */
final class QueueRoutes {
  /**
   * Time by which a deletion may take longer than another write. On a shared store a deletion waits about
   * three seconds, see {@link Scheduler#deleteQueue}.
   */
  private static final long DELETION_MILLIS = 4_000;
  // Pages are small, because they contain the payloads of tasks. The number of pages is bounded, so that a call ends
  // even if it finds no task to redrive: the key of each failed task may have a live task again.
  private static final int REDRIVE_PAGE = 100;
  private static final int MAX_REDRIVE_PAGES = 200;

  private final Scheduler scheduler;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  QueueRoutes(Scheduler scheduler, ApiLimits limits, SchedulerBridge calls) {
    this.scheduler = scheduler;
    this.limits = limits;
    this.calls = calls;
  }

  Reply put(Request request) {
    String name = request.variable("queue");
    QueueConfig queue = QueueJson.read(name, request.json(limits.bodyBytes()));
    Optional<QueueConfig> existing = calls.find(scheduler, name);
    // The settings that this node knows may be a second old. Therefore masked secrets are taken from the settings in
    // the store.
    QueueConfig written = calls.write(existing.isPresent() && QueueJson.isMasked(queue)
        ? scheduler.changeQueue(name, old -> QueueJson.unmasked(queue, old))
        : scheduler.putQueue(QueueJson.unmasked(queue, null)));
    QueueJson.audit(request, AuditLog.BEFORE, existing.orElse(null));
    QueueJson.audit(request, AuditLog.AFTER, written);
    return Reply.json(existing.isPresent() ? 200 : 201, json -> QueueJson.write(json, written, null));
  }

  Reply patch(Request request) {
    byte[] body = request.json(limits.bodyBytes());
    AtomicReference<@Nullable QueueConfig> before = new AtomicReference<>();
    QueueConfig written = calls.write(scheduler.changeQueue(request.variable("queue"), queue -> {
      before.set(queue);
      return QueueJson.patched(queue, body);
    }));
    QueueJson.audit(request, AuditLog.BEFORE, before.get());
    QueueJson.audit(request, AuditLog.AFTER, written);
    return Reply.json(200, json -> QueueJson.write(json, written, null));
  }

  Reply get(Request request) {
    String name = request.variable("queue");
    QueueConfig queue = calls.find(scheduler, name).orElseThrow(() -> SchedulerBridge.unknownQueue(name));
    Scheduler.QueueStatus status = calls.read(scheduler.queues()).stream()
        .filter(each -> each.queue().name().equals(name)).findFirst().orElse(null);
    return Reply.json(200, json -> QueueJson.write(json,
        QueueJson.shown(status == null ? queue : status.queue(), request.caller()), status));
  }

  Reply list(Request request) {
    List<Scheduler.QueueStatus> seen = calls.read(scheduler.queues()).stream()
        .filter(status -> request.caller().sees(status.queue().name())).toList();
    return Reply.json(200, 64 + seen.size() * 640, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("queues");
      seen.forEach(status -> QueueJson.write(json, QueueJson.shown(status.queue(), request.caller()), status));
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  Reply delete(Request request) {
    String name = request.variable("queue");
    QueueJson.audit(request, AuditLog.BEFORE, calls.find(scheduler, name).orElse(null));
    if (!calls.write(scheduler.deleteQueue(name), DELETION_MILLIS)) {
      throw SchedulerBridge.unknownQueue(name);
    }
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("result", "DELETED");
      json.writeEndObject();
    });
  }

  Reply pause(Request request) {
    return setPaused(request, true);
  }

  Reply resume(Request request) {
    return setPaused(request, false);
  }

  private Reply setPaused(Request request, boolean paused) {
    request.noBody(limits.bodyBytes());
    QueueConfig queue = calls.write(scheduler.setPaused(request.variable("queue"), paused));
    return Reply.json(200, json -> QueueJson.write(json, queue, null));
  }

  /** The result of a redrive. */
  private static final class Redrive {
    int redriven;
    boolean more;
    final List<String> conflicts = new ArrayList<>();
    final List<String> notFailed = new ArrayList<>();
    final List<String> notFound = new ArrayList<>();

    void add(List<RedriveResult> results) {
      for (RedriveResult result : results) {
        switch (result.kind()) {
          case REDRIVEN -> redriven++;
          case CONFLICT -> conflicts.add(result.id().toString());
          case NOT_FAILED -> notFailed.add(result.id().toString());
          case NOT_FOUND -> notFound.add(result.id().toString());
        }
      }
    }
  }

  /** The body of a redrive. */
  private static final class RedriveFields {
    static final List<String> FIELDS = List.of("limit", "ids");

    @Nullable
    Integer limit;
    @Nullable
    List<String> ids;

    boolean read(JsonIn in, String name) {
      switch (name) {
        case "limit" -> limit = in.integer(name, 1, Limits.MAX_BATCH);
        case "ids" -> ids = in.batch(name, Limits.MAX_BATCH);
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  Reply redrive(Request request) {
    String queue = request.variable("queue");
    RedriveFields fields = new RedriveFields();
    byte[] body = request.json(limits.batchBytes());
    if (body.length > 0) {
      try (JsonIn in = new JsonIn(body)) {
        in.only(RedriveFields.FIELDS, name -> fields.read(in, name));
      }
    }
    if (fields.limit != null && fields.ids != null) {
      throw JsonIn.conflicting("ids", "limit");
    }
    calls.ensureKnown(scheduler, queue);
    Redrive redrive = new Redrive();
    if (fields.ids != null) {
      redrive.add(calls.write(scheduler.redrive(queue, parse(fields.ids))));
      if (fields.ids.size() == 1) {
        refuseSingle(redrive, fields.ids.getFirst());
      }
    } else {
      redriveSome(queue, fields.limit == null ? Defaults.REDRIVE : fields.limit, redrive);
    }
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeNumberProperty("redriven", redrive.redriven);
      list(json, "conflicts", redrive.conflicts);
      if (fields.ids != null) {
        list(json, "notFailed", redrive.notFailed);
        list(json, "notFound", redrive.notFound);
      }
      json.writeBooleanProperty("more", redrive.more);
      json.writeEndObject();
    });
  }

  private static void list(JsonGenerator json, String name, List<String> ids) {
    json.writeArrayPropertyStart(name);
    ids.forEach(json::writeString);
    json.writeEndArray();
  }

  private static List<TaskId> parse(List<String> ids) {
    List<TaskId> parsed = new ArrayList<>(ids.size());
    for (String id : ids) {
      try {
        parsed.add(TaskId.parse(id));
      } catch (IllegalArgumentException e) {
        throw JsonIn.invalidText("ids[" + parsed.size() + "]", "a task id, in the form of a UUID", id);
      }
    }
    return parsed;
  }

  private static void refuseSingle(Redrive redrive, String id) {
    if (!redrive.conflicts.isEmpty()) {
      throw new Problem(ProblemKind.KEY_IN_USE, "the task's key has a live task by now; cancel the live task first, or"
          + " leave the failed task as it is: id=" + id).with("id", id);
    }
    if (!redrive.notFailed.isEmpty()) {
      throw new Problem(ProblemKind.NOT_FAILED, "only tasks in the state FAILED can be redriven: id=" + id).with("id",
          id);
    }
    if (!redrive.notFound.isEmpty()) {
      throw TaskRoutes.unknownTask(id);
    }
  }

  // Continues after tasks that cannot be redriven, because others may follow that can.
  private void redriveSome(String queue, int limit, Redrive redrive) {
    String cursor = null;
    for (int pages = 0; pages < MAX_REDRIVE_PAGES; pages++) {
      int wanted = Math.min(REDRIVE_PAGE, limit - redrive.redriven);
      RecordPage page = calls.read(scheduler.tasks(queue, TaskState.FAILED, wanted, cursor));
      List<TaskId> ids = page.tasks().stream().map(TaskRecord::id).toList();
      if (!ids.isEmpty()) {
        redrive.add(calls.write(scheduler.redrive(queue, ids)));
      }
      cursor = page.cursor();
      redrive.more = cursor != null;
      if (cursor == null || redrive.redriven >= limit) {
        return;
      }
    }
  }
}
