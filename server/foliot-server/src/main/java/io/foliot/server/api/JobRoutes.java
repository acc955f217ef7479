package io.foliot.server.api;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.FieldType;
import io.foliot.api.InstantText;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.core.Scheduler;
import io.foliot.core.TimeSource;
import io.foliot.jobs.JobHost;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import io.foliot.schedule.ScheduleException;
import io.foliot.schedule.ScheduleSettings;
import io.foliot.server.security.Action;
import io.foliot.server.security.AuditLog;
import io.foliot.server.security.Caller;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonToken;

/**
 * The calls about recurring jobs and schedules. A call never checks a job and then names it again: each call goes
 * through {@link #jobs}, the jobs that its caller may reach, and they decide on the record that they return or replace.
 *
 * <p>This class is one file because all calls share the checks and the answers at its end.
 */
final class JobRoutes {
  private static final int NEXT_DEFAULT = 5;
  private static final int NEXT_MAX = 1_000;
  private static final int PAGE_DEFAULT = 100;
  private static final int PAGE_MAX = 1_000;
  /**
   * Memory of the largest job while it is read and written, in bytes: its record of about 64 KiB, the record's objects,
   * and its text.
   */
  static final long LARGEST_JOB = 1 << 20;
  private static final String PREVIEWED = "preview";
  /** Maximum number of lines of a batch in the audit log, which cuts long texts anyway. */
  private static final int LOGGED_LINES = 100;
  /** The list to which the cursors of jobs belong. */
  private static final String LIST = "jobs";

  private final Scheduler scheduler;
  private final Jobs all;
  private final TimeSource clock;
  private final ApiLimits limits;
  private final SchedulerBridge calls;
  private final Cursors cursors;

  JobRoutes(Scheduler scheduler, Jobs jobs, TimeSource clock, ApiLimits limits, SchedulerBridge calls,
      Cursors cursors) {
    this.cursors = cursors;
    this.scheduler = scheduler;
    all = jobs;
    this.clock = clock;
    this.limits = limits;
    this.calls = calls;
  }

  // Definitions.

  Reply put(Request request) {
    Jobs jobs = jobs(request);
    return put(request, isMove(request) ? jobs::move : jobs::put);
  }

  private static boolean isMove(Request request) {
    String move = request.parameter("move");
    if (move != null && !move.equals("true") && !move.equals("false")) {
      throw invalidParameter("move", "true or false", move);
    }
    return "true".equals(move);
  }

  /** Puts a definition from code, see {@link Jobs#declare}. */
  Reply declare(Request request) {
    return put(request, jobs(request)::declare);
  }

  private Reply put(Request request, Function<Job, CompletableFuture<Jobs.Put>> write) {
    Job job = JobJson.read(request.variable("job"), request.json(limits.bodyBytes()));
    ensureQueue(request.caller(), job);
    auditBefore(request);
    Jobs.Put put = call(() -> write.apply(job));
    request.audit(AuditLog.AFTER, JobJson.audited(put.status()));
    return written(request, put.isNew() ? 201 : 200, put.status());
  }

  /** Changes some settings, as a JSON merge patch. The change is applied to the definition that is in the store. */
  Reply patch(Request request) {
    byte[] body = request.json(limits.bodyBytes());
    String name = request.variable("job");
    // Reading the queue blocks, so it is read before the change; a job that stays in its queue needs no such check.
    JobStatus before = found(request);
    Job definition = before.definition();
    if (definition != null) {
      Job next = JobJson.patched(definition, body);
      if (!next.queue().equals(definition.queue())) {
        ensureQueue(request.caller(), next);
      }
    }
    JobStatus after = call(() -> jobs(request).edit(name, existing -> JobJson.patched(existing, body)));
    request.audit(AuditLog.BEFORE, JobJson.audited(before));
    request.audit(AuditLog.AFTER, JobJson.audited(after));
    return written(request, 200, after);
  }

  /** Adds the job to the audit log as it is before a change. Another call may change the job between the two. */
  private void auditBefore(Request request) {
    request.audit(AuditLog.BEFORE,
        JobJson.audited(calls.read(jobs(request).find(request.variable("job"))).orElse(null)));
  }

  private void ensureQueue(Caller caller, Job job) {
    String queue = job.queue();
    if (!caller.sees(queue)) {
      throw SchedulerBridge.uncoveredQueue(queue).with("field", "queue").inBody();
    }
    Optional<QueueConfig> config = calls.find(scheduler, queue);
    if (config.isEmpty()) {
      throw SchedulerBridge.unknownQueue(queue).with("field", "queue").inBody();
    }
    boolean needsWorkers = job.scope() != Scope.ONE || job.allocation() == Allocation.OWN;
    if (needsWorkers && !JobHost.takenByWorkers(config.get().target())) {
      throw JobJson.needsWorkers(job);
    }
  }

  /** Puts many jobs, each a JSON value on its own line. The answer has a line for each, in the same order. */
  Reply putAll(Request request) {
    if (!request.isLines()) {
      throw new Problem(ProblemKind.UNSUPPORTED_MEDIA_TYPE,
          "a batch of jobs has a JSON value on each line: send the header Content-Type: application/x-ndjson");
    }
    // All lines are read before the first job is put, so that a call that is refused as a whole has no effect.
    List<Item> items = readAll(request.body(limits.batchBytes()));
    request.audit("lines", Integer.toString(items.size()));
    request.audit(AuditLog.AFTER,
        items.stream().limit(LOGGED_LINES).map(JobRoutes::named).collect(Collectors.joining(", ")));
    List<CompletableFuture<Line>> answers = items.stream().map(item -> putItem(request.caller(), item)).toList();
    return Reply.json(200, 64 + answers.size() * 200, json -> answers.forEach(answer -> {
      write(json, answer);
      json.writeRaw('\n');
    })).as("application/x-ndjson");
  }

  /** A line of a batch: a job, or the problem of the line. */
  private sealed interface Item {
    record Read(Job job) implements Item {}

    record Refused(Problem problem) implements Item {}
  }

  /** Returns a line of a batch for the audit log: the job, its queue and its schedule. */
  private static String named(Item item) {
    return switch (item) {
      case Item.Read(Job job) -> job.name() + " in " + job.queue() + ' '
          + new String(Reply.json(200, json -> ScheduleJson.write(json, job.schedule())).body(),
              StandardCharsets.UTF_8);
      case Item.Refused(Problem problem) -> "refused " + problem.kind().type();
    };
  }

  private static List<Item> readAll(byte[] body) {
    List<Item> items = new ArrayList<>();
    try (JsonIn in = new JsonIn(body)) {
      for (JsonToken token = in.next(); token != null; token = in.next()) {
        if (items.size() == Limits.MAX_BATCH) {
          throw new Problem(ProblemKind.TOO_LARGE, "a batch has at most " + Limits.MAX_BATCH
              + " jobs; nothing was done. Send the jobs in several calls").with("limit", Limits.MAX_BATCH);
        }
        items.add(readItem(in));
      }
    } catch (JacksonException e) {
      throw JsonIn.malformedLine(body, e);
    }
    return items;
  }

  /** Reads the job at the reader's position. */
  private static Item readItem(JsonIn in) {
    int depth = in.depth();
    boolean entered = in.isObject();
    try {
      return new Item.Read(JobJson.readItem(in));
    } catch (Problem problem) {
      if (entered) {
        in.leave(depth);
      } else {
        in.skip();
      }
      return new Item.Refused(problem);
    }
  }

  /** The part of a job that the answer shows. To keep each {@link JobStatus} of a batch would need too much memory. */
  private record Line(String name, long version, JobStatus.State state) {
    static Line of(Jobs.Put put) {
      return new Line(put.status().name(), put.status().version(), put.status().state());
    }
  }

  private CompletableFuture<Line> putItem(Caller caller, Item item) {
    try {
      return switch (item) {
        case Item.Refused refused -> CompletableFuture.failedFuture(refused.problem());
        case Item.Read read -> {
          ensureQueue(caller, read.job());
          yield jobs(caller).put(read.job()).thenApply(Line::of);
        }
      };
    } catch (Problem problem) {
      return CompletableFuture.failedFuture(problem);
    }
  }

  private void write(JsonGenerator json, CompletableFuture<Line> put) {
    json.writeStartObject();
    try {
      Line line = call(() -> put);
      writeLine(json, line.name(), line.version(), line.state());
    } catch (Problem refused) {
      json.writeName("error");
      refused.write(json);
    }
    json.writeEndObject();
  }

  Reply get(Request request) {
    JobStatus job = found(request);
    return Reply.json(200, 1_024, json -> JobJson.write(json, job));
  }

  Reply list(Request request) {
    String queue = request.parameter("queue");
    JobStatus.State state = state(request.parameter("state"));
    String name = request.parameter("name");
    String lowered = name == null ? "" : name.toLowerCase(Locale.ROOT);
    int limit = number(request, "limit", PAGE_DEFAULT, PAGE_MAX);
    PageMemory memory = new PageMemory(request.memory(), limit, LARGEST_JOB);
    Jobs jobs = jobs(request);
    Predicate<JobStatus> isListed = status -> (queue == null
        || (status.definition() != null && status.definition().queue().equals(queue)))
        && (state == null || status.state() == state)
        && status.name().toLowerCase(Locale.ROOT).contains(lowered);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(out)) {
      json.writeStartObject();
      json.writeArrayPropertyStart("jobs");
      // The page has memory for its jobs, and a part without jobs must not use any of it.
      json.flush();
      String next = cursors.open(LIST, request.parameter("cursor"));
      boolean isEmpty = true;
      QueueScan.Time time = new QueueScan.Time(clock);
      do {
        // Each part is written before the next is read, so that only the text of the earlier parts stays in memory.
        String from = next;
        Jobs.Page part = call(() -> jobs.list(memory.next(), from));
        int before = out.size();
        List<JobStatus> listed = part.jobs().stream().filter(isListed).toList();
        isEmpty &= listed.isEmpty();
        listed.forEach(status -> JobJson.write(json, status));
        json.flush();
        memory.add(listed.size(), (long) AnswerMemory.COPIES * (out.size() - before));
        next = part.next();
      } while (next != null && memory.next() > 0 && time.isLeft(isEmpty));
      json.writeEndArray();
      if (next != null) {
        json.writeStringProperty("next", cursors.seal(LIST, next));
      }
      json.writeEndObject();
    }
    memory.end();
    return Reply.of(200, "application/json", out.toByteArray());
  }

  private static JobStatus.@Nullable State state(@Nullable String text) {
    if (text == null) {
      return null;
    }
    for (JobStatus.State state : JobStatus.State.values()) {
      if (state.name().equals(text)) {
        return state;
      }
    }
    throw invalidParameter("state", "one of ACTIVE, PAUSED, COMPLETED, ERROR", text);
  }

  Reply delete(Request request) {
    String runs = request.parameter("runs");
    if (runs != null && !runs.equals("cancel") && !runs.equals("finish")) {
      throw invalidParameter("runs", "cancel or finish", runs);
    }
    String name = request.variable("job");
    auditBefore(request);
    request.audit("runs", runs == null ? "finish" : runs);
    if (!call(() -> jobs(request).delete(name, "cancel".equals(runs)))) {
      throw unknownJob(name);
    }
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("result", "DELETED");
      json.writeEndObject();
    });
  }

  // Runs.

  /** The body of a pause. */
  private static final class Pause {
    static final List<String> FIELDS = List.of("until", "reason");

    @Nullable
    Instant until;
    @Nullable
    String reason;

    boolean read(JsonIn in, String field) {
      switch (field) {
        case "until" -> until = in.instant(field);
        case "reason" -> reason = in.text(field);
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  Reply pause(Request request) {
    Pause pause = new Pause();
    byte[] body = request.json(limits.bodyBytes());
    if (body.length > 0) {
      try (JsonIn in = new JsonIn(body)) {
        in.only(Pause.FIELDS, field -> pause.read(in, field));
      }
    }
    request.audit("reason", pause.reason == null ? "" : pause.reason);
    return written(request, 200, call(() -> jobs(request).pause(request.variable("job"), pause.until,
        pause.reason == null ? "" : pause.reason, request.caller().name())));
  }

  Reply resume(Request request) {
    request.noBody(limits.bodyBytes());
    return written(request, 200, call(() -> jobs(request).resume(request.variable("job"))));
  }

  Reply rewind(Request request) {
    request.noBody(limits.bodyBytes());
    return written(request, 200, call(() -> jobs(request).rewind(request.variable("job"))));
  }

  Reply trigger(Request request) {
    byte[] body = request.json(limits.bodyBytes());
    Body parameter = body.length == 0 ? null : JobJson.readParameter(body);
    return requested(
        call(() -> jobs(request).trigger(request.variable("job"), request.header("Idempotency-Key"), parameter)),
        false);
  }

  /** The body of a backfill. */
  private static final class Backfill {
    static final List<String> FIELDS = List.of("from", "to", "dryRun");

    @Nullable
    Instant from;
    @Nullable
    Instant to;
    boolean dryRun;

    boolean read(JsonIn in, String field) {
      switch (field) {
        case "from" -> from = in.instant(field);
        case "to" -> to = in.instant(field);
        case "dryRun" -> dryRun = Boolean.TRUE.equals(in.truth(field));
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  Reply backfill(Request request) {
    Backfill backfill = new Backfill();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(Backfill.FIELDS, field -> backfill.read(in, field));
    }
    Instant from = backfill.from;
    Instant to = backfill.to;
    if (from == null || to == null) {
      throw new Problem(ProblemKind.MISSING_FIELD,
          "a backfill needs its first instant and the instant after its last: \"from\": \"...\", \"to\": \"...\"")
          .with("field", from == null ? "from" : "to");
    }
    return requested(call(() -> jobs(request).backfill(request.variable("job"), from, to, backfill.dryRun,
        request.header("Idempotency-Key"))), backfill.dryRun);
  }

  private static Reply requested(Jobs.Requested requested, boolean dryRun) {
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("result", dryRun ? "DRY_RUN" : requested.isRepeated() ? "REPEATED" : "ACCEPTED");
      json.writeArrayPropertyStart("times");
      requested.times().forEach(time -> json.writeString(InstantText.format(time.toEpochMilli())));
      json.writeEndArray();
      if (requested.origin() != 0) {
        json.writeStringProperty("origin", "request-" + requested.origin());
      }
      json.writeEndObject();
    });
  }

  // Times.

  Reply next(Request request) {
    int count = number(request, "count", NEXT_DEFAULT, NEXT_MAX);
    List<ZonedDateTime> times = call(() -> jobs(request).next(request.variable("job"), count));
    return times(times);
  }

  Reply preview(Request request) {
    int count = number(request, "count", NEXT_DEFAULT, NEXT_MAX);
    ScheduleSettings[] schedule = new ScheduleSettings[1];
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      if (in.next() == null) {
        throw new Problem(ProblemKind.MISSING_FIELD, "expected a schedule, but the body is empty; the fields are "
            + String.join(", ", ScheduleSettings.NAMES));
      }
      schedule[0] = ScheduleJson.read(in);
      in.end();
    }
    return times(call(() -> all.preview(schedule[0], PREVIEWED, count)));
  }

  private static Reply times(List<ZonedDateTime> times) {
    return Reply.json(200, json -> {
      json.writeStartObject();
      JobJson.times(json, "times", times);
      json.writeEndObject();
    });
  }

  Reply explain(Request request) {
    request.memory().reserve(LARGEST_JOB);
    String name = request.variable("job");
    Jobs.Explained found = calls.read(jobs(request).explain(name)).orElseThrow(() -> unknownJob(name));
    JobStatus status = found.status();
    Instant next = status.nextTime();
    String reason = switch (status.state()) {
      case ERROR -> "it cannot be planned: " + status.error();
      case PAUSED -> paused(status.pause());
      case COMPLETED -> status.isEnded()
          ? "a handler has ended it; put it again to run it"
          : "no scheduled time is left";
      case ACTIVE -> isQueuePaused(status)
          ? "its queue is paused, so no shard begins until the queue is resumed"
          : !status.waitsFor().isEmpty()
              ? "it " + status.waitsFor()
              : status.active().isEmpty()
                  ? "it waits for its next time" + (next == null ? "" : ", " + next)
                  : active(found);
    };
    Job job = status.definition();
    String heldBack = job == null || status.state() != JobStatus.State.ACTIVE
        ? ""
        : EngineWords.of(scheduler.heldBack(job.queue()));
    return Reply.json(200, json -> {
      json.writeStartObject();
      TaskJson.text(json, "job", status.name());
      json.writeStringProperty("state", status.state().name());
      TaskJson.text(json, "reason", reason + heldBack);
      json.writeEndObject();
    });
  }

  private boolean isQueuePaused(JobStatus status) {
    Job job = status.definition();
    return job != null && calls.find(scheduler, job.queue()).filter(QueueConfig::paused).isPresent();
  }

  private static String paused(JobStatus.@Nullable Pause pause) {
    return pause == null
        ? "it is paused"
        : "it is paused" + (pause.until() == null ? "" : " until " + pause.until())
            + (pause.reason().isEmpty() ? "" : ": " + pause.reason());
  }

  private static String active(Jobs.Explained found) {
    JobStatus status = found.status();
    int runs = status.active().size();
    int waiting = status.waiting();
    return (runs == 1 ? "a run is active" : runs + " runs are active") + phase(status)
        + (waiting == 0
            ? ""
            : waiting == 1
                ? ", and a time waits for its turn"
                : ", and " + waiting + " times wait for their turn")
        + found.failed().map(failed -> "; shard " + failed.shard()
            + (failed.zone().isEmpty() ? "" : " in zone " + failed.zone()) + " of the run of " + failed.scheduledAt()
            + " failed at attempt " + failed.attempt() + " and begins again at " + failed.next()
            + (failed.reason().isEmpty() ? "" : ": " + failed.reason())).orElse("");
  }

  /** Returns in words which run waits for its listener; empty if no run does. */
  private static String phase(JobStatus status) {
    return status.active().stream().filter(run -> run.phase() != RunPhase.SHARDS).findFirst()
        .map(run -> " (the run of " + run.time() + " waits for its listener, which runs " + FieldType.word(run.phase())
            + " the shards)")
        .orElse("");
  }

  // Steps that the calls share.

  /** Returns the jobs that the caller may reach. */
  Jobs jobs(Request request) {
    return jobs(request.caller());
  }

  private Jobs jobs(Caller caller) {
    return caller.seesAll() ? all : all.within(caller::sees);
  }

  JobStatus found(Request request) {
    request.memory().reserve(LARGEST_JOB);
    String name = request.variable("job");
    return calls.read(jobs(request).find(name)).orElseThrow(() -> unknownJob(name));
  }

  /**
   * Returns the answer of a call that writes a job. A caller that may not read gets nothing that others have written.
   */
  static Reply written(Request request, int status, JobStatus job) {
    request.audit("state", job.state().name());
    return request.caller().may(Action.READ)
        ? Reply.json(status, 1_024, json -> JobJson.write(json, job))
        : Reply.json(status, json -> {
          json.writeStartObject();
          writeLine(json, job.name(), job.version(), job.state());
          json.writeEndObject();
        });
  }

  private static void writeLine(JsonGenerator json, String name, long version, JobStatus.State state) {
    TaskJson.text(json, "job", name);
    json.writeNumberProperty("version", version);
    json.writeStringProperty("state", state.name());
  }

  <T> T call(Supplier<CompletableFuture<T>> call) {
    return call(calls, call);
  }

  /** Makes a call, waits for its result, and turns exceptions about jobs and calendars into problems. */
  static <T> T call(SchedulerBridge calls, Supplier<CompletableFuture<T>> call) {
    try {
      return calls.write(call.get().exceptionallyCompose(failure -> CompletableFuture.failedFuture(refusal(failure))));
    } catch (ScheduleException e) {
      throw ScheduleJson.refused(e, "schedule.");
    }
  }

  private static Throwable refusal(Throwable failure) {
    Throwable reason = failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
    return switch (reason) {
      case Jobs.UnknownJobException unknown -> unknownJob(unknown.job());
      case ScheduleException refused -> ScheduleJson.refused(refused, "schedule.");
      case InvalidSettingException refused -> FieldsJson.refused(refused);
      case Jobs.JobNameInUseException inUse -> new Problem(ProblemKind.JOB_NAME_IN_USE, inUse.getMessage()
          + "; choose another name, or move the job with ?move=true if the API key covers both queues. Nothing was"
          + " done");
      case Jobs.RequestMismatchException mismatch -> new Problem(ProblemKind.IDEMPOTENCY_MISMATCH,
          mismatch.getMessage() + "; nothing was done");
      case Jobs.UnknownRunException ended -> new Problem(ProblemKind.UNKNOWN_RUN, ended.getMessage()
          + "; GET /v1/jobs/{job}/runs shows which runs there are, and which are RUNNING");
      case Jobs.NotFailedException refused -> new Problem(ProblemKind.NOT_FAILED, String.valueOf(refused.getMessage()));
      case Jobs.RunActiveException active -> new Problem(ProblemKind.RUN_ACTIVE, active.getMessage()
          + "; nothing was done, try again when the active run has ended");
      case Jobs.TooManyJobsException tooMany -> new Problem(ProblemKind.TOO_MANY_JOBS, tooMany.getMessage()
          + "; delete some, or set " + tooMany.queue().map(queue -> "maxJobs of the queue higher: foliot queues set "
              + queue + " --max-jobs NUMBER").orElse("jobs.max (--max-jobs) higher")
          + ". Nothing was done").with("limit", tooMany.max());
      default -> reason;
    };
  }

  private static Problem unknownJob(String name) {
    String shown = JsonIn.shown(name);
    return new Problem(ProblemKind.UNKNOWN_JOB, "there is no job " + shown + "; create it first: PUT /v1/jobs/" + shown
        + " {\"queue\": \"...\", \"schedule\": {\"cron\": \"0 2 * * *\"}}").with("job", shown);
  }

  static Problem invalidParameter(String name, String expected, String found) {
    return new Problem(ProblemKind.INVALID_PARAMETER, name + ": expected " + expected + ", but got \""
        + JsonIn.shown(found) + '"').with("parameter", name).with("expected", expected);
  }

  static int number(Request request, String name, int otherwise, int max) {
    String text = request.parameter(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= 1 && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number out of range.
    }
    throw invalidParameter(name, "a whole number from 1 to " + max, text);
  }
}
