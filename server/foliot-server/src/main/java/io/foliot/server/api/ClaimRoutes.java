package io.foliot.server.api;

import static java.util.Objects.requireNonNull;

import io.foliot.api.DurationText;
import io.foliot.api.TaskNote;
import io.foliot.core.Scheduler;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls with which workers claim tasks, and settle or extend their claims. */
final class ClaimRoutes {
  private static final Logger log = LoggerFactory.getLogger(ClaimRoutes.class);
  private static final Duration MIN_LEASE = Duration.ofMillis(1);
  private static final Duration MAX_LEASE = Duration.ofHours(24);

  private final Scheduler scheduler;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  ClaimRoutes(Scheduler scheduler, ApiLimits limits, SchedulerBridge calls) {
    this.scheduler = scheduler;
    this.limits = limits;
    this.calls = calls;
  }

  /** The body of a claim. */
  private static final class ClaimFields {
    static final List<String> FIELDS = List.of("max", "wait", "lease", "worker", "zone", "leave");

    int max = 1;
    Duration wait = Duration.ZERO;
    Duration lease = Duration.ZERO;
    String worker = "";
    String zone = "";
    boolean leaves;

    boolean read(JsonIn in, String name) {
      switch (name) {
        case "max" -> max = or(in.integer(name, 1, Scheduler.Pull.MAX_TASKS), max);
        case "wait" -> wait = within(name, or(in.duration(name), wait),
            Duration.ofMillis(Scheduler.Pull.MAX_WAIT_MILLIS));
        case "lease" -> lease = within(name, or(in.duration(name), lease), MAX_LEASE);
        case "worker" -> worker = WorkerNames.worker(name, or(in.text(name), worker));
        case "zone" -> zone = WorkerNames.zone(name, or(in.text(name), zone));
        case "leave" -> leaves = or(in.truth(name), false);
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private static Duration within(String field, Duration value, Duration max) {
    if (value.isNegative() || value.compareTo(max) > 0) {
      throw JsonIn.invalidText(field, "a duration from 0s to " + max.toSeconds() + "s", DurationText.format(value));
    }
    return value;
  }

  Reply claim(Request request) {
    ClaimFields fields = new ClaimFields();
    byte[] body = request.json(limits.bodyBytes());
    if (body.length > 0) {
      try (JsonIn in = new JsonIn(body)) {
        in.only(ClaimFields.FIELDS, name -> fields.read(in, name));
      }
    }
    if (fields.leaves) {
      return left(request, fields);
    }
    Scheduler.Pull pull = new Scheduler.Pull(request.variable("queue"), fields.max, fields.wait.toMillis(),
        fields.lease.toMillis(), worker(request, fields.worker), fields.zone);
    // Completes when the answer has been sent. Until then, its payloads count against the queue's share of this node's
    // memory.
    CompletableFuture<Void> payloadsTaken = new CompletableFuture<>();
    ClaimWatch watch = new ClaimWatch(request);
    CompletableFuture<Scheduler.Pulled> call = scheduler.pull(pull, payloadsTaken, watch.gone());
    try (watch) {
      Scheduler.Pulled pulled = calls.write(call, pull.waitMillis(), watch);
      watch.ensureThere();
      List<TaskRecord> tasks = pulled.tasks();
      // The engine has already bounded these payloads. They are also counted as memory of answers, so that answers to
      // reads get less memory until this answer is sent.
      long payloads = tasks.stream().mapToLong(task -> task.body().payload().length).sum();
      request.memory().holds(tasks.size() * (long) AnswerMemory.RECORD_BYTES + AnswerMemory.COPIES * payloads);
      return Reply.json(200, Math.toIntExact(64 + tasks.size() * 512L + payloads * 4 / 3), json -> {
        json.writeStartObject();
        json.writeArrayPropertyStart("tasks");
        tasks.forEach(task -> TaskJson.claimed(json, task));
        json.writeEndArray();
        if (!tasks.isEmpty()) {
          json.writeNumberProperty("leaseMillis", pulled.leaseMillis());
        }
        json.writeEndObject();
      }).whenSent(isWritten -> {
        payloadsTaken.complete(null);
        if (!isWritten) {
          giveBack(tasks);
        }
      });
    } catch (RuntimeException | Error e) {
      watch.leave();
      payloadsTaken.complete(null);
      CompletableFuture<Void> unused = call.thenAccept(late -> giveBack(late.tasks()));
      throw e;
    }
  }

  /** Gives back tasks that their worker has not seen. */
  private void giveBack(List<TaskRecord> tasks) {
    for (TaskRecord task : tasks) {
      CompletableFuture<?> unused = scheduler
          .giveBack(task.id(), requireNonNull(task.token()), "the answer to the claim could not be written")
          .exceptionally(failure -> {
            log.debug("a task was not given back; it is repeated when its lease ends: task={}", task.id(), failure);
            return null;
          });
    }
  }

  private static WorkerId worker(Request request, String name) {
    return name.isEmpty()
        ? WorkerId.ANONYMOUS
        : new WorkerId(request.caller().owner(), name);
  }

  /** Ends the waiting claims of a worker that stops. The answer to this call has no tasks. */
  private Reply left(Request request, ClaimFields fields) {
    if (fields.worker.isEmpty()) {
      throw TaskRoutes.missing("worker", "\"worker\": \"shop-3f2a9c41\", as in the claims that it has sent");
    }
    String queue = request.variable("queue");
    calls.ensureKnown(scheduler, queue);
    scheduler.left(worker(request, fields.worker), queue);
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("tasks");
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  /** The body of a report: of an ack, a nack or an extension. */
  private static final class Report {
    private static final List<String> NOTE = List.of("progress", "message", "checkpoint", "log");

    final List<String> fields;
    @Nullable
    Token token;
    @Nullable
    Duration next;
    @Nullable
    Duration delay;
    @Nullable
    Duration lease;
    boolean last;
    boolean begun = true;
    String worker = "";
    private boolean endJob;
    private boolean runAgain;
    String reason = "";
    private @Nullable Double progress;
    private @Nullable String message;
    private @Nullable String checkpoint;
    private @Nullable String log;

    /** Creates a report that may have these fields, besides the token, the generation and the fields of the note. */
    Report(String... fields) {
      this.fields = Stream.concat(Stream.concat(Stream.of("token", "generation"), Stream.of(fields)), NOTE.stream())
          .toList();
    }

    TaskNote note() {
      try {
        return new TaskNote(progress == null ? -1 : progress, or(message, ""), checkpoint, or(log, ""), mark());
      } catch (IllegalArgumentException e) {
        throw new Problem(ProblemKind.INVALID_REQUEST, String.valueOf(e.getMessage()));
      }
    }

    private TaskNote.Mark mark() {
      if (endJob && runAgain) {
        throw JsonIn.conflicting("endJob", "runAgain");
      }
      if ((endJob || runAgain) && next != null) {
        throw JsonIn.conflicting("next", endJob ? "endJob" : "runAgain");
      }
      return endJob ? TaskNote.Mark.END_JOB : runAgain ? TaskNote.Mark.RUN_AGAIN : TaskNote.Mark.NONE;
    }

    Report read(Request request, ApiLimits limits) {
      try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
        in.only(fields, name -> fields.contains(name) && readField(in, name));
      }
      return this;
    }

    private boolean readField(JsonIn in, String name) {
      switch (name) {
        case "token" -> token = token(in.text(name));
        // The token alone identifies the claim; the generation is for people who read the requests.
        case "generation" -> in.anyInteger(name);
        case "next" -> next = delay(name, in.duration(name));
        case "delay" -> delay = delay(name, in.duration(name));
        case "lease" -> lease = in.duration(name);
        case "reason" -> reason = or(in.text(name), "");
        case "worker" -> worker = WorkerNames.worker(name, or(in.text(name), worker));
        case "final" -> last = or(in.truth(name), false);
        case "begun" -> begun = or(in.truth(name), true);
        case "endJob" -> endJob = or(in.truth(name), false);
        case "runAgain" -> runAgain = or(in.truth(name), false);
        case "progress" -> progress = in.number(name, 0, 1);
        case "message" -> message = in.text(name);
        case "checkpoint" -> checkpoint = in.text(name);
        case "log" -> log = in.text(name);
        default -> {
          return false;
        }
      }
      return true;
    }

    private static @Nullable Duration delay(String field, @Nullable Duration value) {
      if (value != null) {
        TaskFields.checkDelay(field, value);
      }
      return value;
    }

    private static @Nullable Token token(@Nullable String text) {
      try {
        return text == null ? null : Token.parse(text);
      } catch (IllegalArgumentException e) {
        throw JsonIn.invalidText("token", "the lease token that the claim returned, 32 hexadecimal digits", text);
      }
    }

    Token token() {
      if (token == null) {
        throw TaskRoutes.missing("token", "\"token\": \"...\", as the claim returned it");
      }
      return token;
    }
  }

  Reply ack(Request request) {
    Report report = new Report("next", "endJob", "runAgain").read(request, limits);
    TaskId id = TaskRoutes.id(request);
    return settled(id, calls.write(scheduler.ack(id, report.token(), report.next, report.note())));
  }

  Reply nack(Request request) {
    Report report = new Report("reason", "delay", "final", "begun").read(request, limits);
    if (report.last && report.delay != null) {
      throw JsonIn.conflicting("delay", "final");
    }
    if (!report.begun && (report.last || report.delay != null)) {
      throw JsonIn.conflicting("begun", report.last ? "final" : "delay");
    }
    TaskId id = TaskRoutes.id(request);
    if (!report.begun) {
      return settled(id, calls.write(scheduler.notBegun(id, report.token(), report.reason, report.note())));
    }
    return settled(id, calls.write(report.last
        ? scheduler.fail(id, report.token(), report.reason, report.note())
        : scheduler.nack(id, report.token(), report.delay, report.reason, report.note())));
  }

  private static Reply settled(TaskId id, SettleResult result) {
    return switch (result.kind()) {
      case NOT_FOUND -> throw TaskRoutes.unknownTask(id.toString());
      case STALE -> throw stale(id);
      case SETTLED, REPEATED -> Reply.json(200, json -> {
        json.writeStartObject();
        json.writeStringProperty("result", result.kind().name());
        json.writeStringProperty("id", id.toString());
        json.writeStringProperty("state", result.state().name());
        json.writeEndObject();
      });
    };
  }

  private static Problem stale(TaskId id) {
    return new Problem(ProblemKind.STALE_TOKEN, "the token is no longer valid, so the report has no effect: its lease"
        + " has ended, or its attempt had already ended; drop the work: id="
        + id);
  }

  Reply extend(Request request) {
    Report report = new Report("lease", "worker").read(request, limits);
    Duration lease = report.lease;
    if (lease == null) {
      throw TaskRoutes.missing("lease", "\"lease\": \"30s\"");
    }
    if (lease.compareTo(MIN_LEASE) < 0 || lease.compareTo(MAX_LEASE) > 0) {
      throw JsonIn.invalidText("lease", "a duration from 1ms to 24h", DurationText.format(lease));
    }
    TaskId id = TaskRoutes.id(request);
    Scheduler.Extended result = calls.write(
        scheduler.extend(id, report.token(), lease, report.note(), worker(request, report.worker)));
    return switch (result.kind()) {
      case NOT_FOUND -> throw TaskRoutes.unknownTask(id.toString());
      case STALE -> throw stale(id);
      case CANCELLED -> throw new Problem(ProblemKind.CANCELLED,
          "the task was cancelled and its lease is not extended; stop the work: id=" + id);
      case EXTENDED -> Reply.json(200, json -> {
        json.writeStartObject();
        json.writeStringProperty("id", id.toString());
        TaskJson.instant(json, "leaseEnd", result.leaseEnd());
        json.writeNumberProperty("leaseMillis", result.leaseMillis());
        json.writeEndObject();
      });
    };
  }
}
