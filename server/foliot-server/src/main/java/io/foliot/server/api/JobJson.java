package io.foliot.server.api;

import io.foliot.api.Body;
import io.foliot.api.FieldType;
import io.foliot.api.InstantText;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.JobFields;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.Values;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.JobTotals;
import io.foliot.jobs.PastRun;
import io.foliot.schedule.ScheduleException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The JSON of jobs, as callers write it and as answers show it. */
final class JobJson {
  /**
   * Fields that answers show besides the definition. A request may contain them, but they are ignored. A caller can
   * therefore read a job, change it, and send it back.
   */
  private static final List<String> SHOWN = List.of("state", "version", "createdAt", "pause", "nextTimes", "waiting",
      "active", "totals", "endedByHandler",
      "waitsFor", "error", "latestFailure");
  private static final String REQUEST = "request-";
  private static final String JSON = "application/json";

  private static final String RUNNING = "RUNNING";
  private static final String STOPPING = "STOPPING";
  /** The results of runs in answers. */
  static final List<String> RESULTS = Stream.concat(Stream.of(RUNNING, STOPPING),
      Arrays.stream(PastRun.Result.values()).map(Enum::name)).toList();

  private JobJson() {}

  /** Reads a definition, the only value of the body. */
  static Job read(String name, byte[] body) {
    return read(name, body, FieldsJson.reader(JobFields.TABLE));
  }

  /**
   * Returns a definition with the changes of a JSON merge patch (RFC 7396): a field that is absent keeps its value, and
   * a field that is null gets its default.
   */
  static Job patched(Job existing, byte[] patch) {
    return read(existing.name(), patch, FieldsJson.patch(existing.values()));
  }

  private static Job read(String name, byte[] body, FieldsJson fields) {
    return checked(() -> {
      try (JsonIn in = new JsonIn(body)) {
        in.only(JobFields.TABLE.names(), field -> fields.read(in, "", field) || isOther(in, field, name));
      }
      return job(name, fields.values());
    });
  }

  /** Reads the definition at the reader's position. Its field {@code job} contains the name of the job. */
  static Job readItem(JsonIn in) {
    String[] name = new String[1];
    FieldsJson fields = FieldsJson.reader(JobFields.TABLE);
    return checked(() -> {
      in.object("the job", JobFields.TABLE.names(), field -> {
        if (field.equals("job")) {
          name[0] = in.text(field);
          return true;
        }
        return fields.read(in, "", field) || isOther(in, field, "");
      });
      if (name[0] == null) {
        throw missing("job", "each job of a batch needs a name: \"job\": \"...\"");
      }
      return job(name[0], fields.values());
    });
  }

  /** Reads a field that a definition may contain besides its settings. */
  private static boolean isOther(JsonIn in, String field, String name) {
    if (field.equals("job")) {
      String written = in.text(field);
      if (written != null && !written.equals(name)) {
        throw JsonIn.invalidText("job", "the name in the path, " + name, written);
      }
      return true;
    }
    if (SHOWN.contains(field)) {
      in.skip();
      return true;
    }
    return false;
  }

  private static Job checked(Supplier<Job> reader) {
    try {
      return reader.get();
    } catch (ScheduleException e) {
      throw ScheduleJson.refused(e, "schedule.");
    } catch (InvalidSettingException e) {
      throw FieldsJson.refused(e);
    }
  }

  private static Job job(String name, Values values) {
    if (!values.isSet(JobFields.QUEUE)) {
      throw missing("queue", "a job needs the queue in which its shards run: \"queue\": \"...\"");
    }
    if (!values.isSet(JobFields.SCHEDULE)) {
      throw missing("schedule", "a job needs a schedule: \"schedule\": {\"cron\": \"0 2 * * *\", \"zone\":"
          + " \"Europe/Berlin\"}, {\"every\": \"10m\"}, {\"after\": \"30s\"} or {\"at\": \"2027-01-01T00:00:00Z\"}");
    }
    return Job.of(name, values);
  }

  /** Returns the parameter in the body of a request for a run, or null if the body has no parameter. */
  static @Nullable Body readParameter(byte[] body) {
    Body[] parameter = new Body[1];
    try (JsonIn in = new JsonIn(body)) {
      in.only(List.of("parameter"), field -> {
        if (!field.equals("parameter")) {
          return false;
        }
        parameter[0] = in.isNull() ? null : new Body(in.raw(), JSON, Map.of());
        return true;
      });
    }
    return parameter[0];
  }

  /** Returns the problem of a job that needs workers, although the tasks of its queue are not taken by workers. */
  static Problem needsWorkers(Job job) {
    boolean isScope = job.scope() != Scope.ONE;
    return new Problem(ProblemKind.INVALID_FIELD,
        (isScope ? "scope: " + FieldType.word(job.scope()) : "allocation: own")
            + " is for queues whose tasks workers take; the tasks of queue " + job.queue() + " are sent to its own URL,"
            + " so use " + (isScope ? "scope one" : "another allocation") + ", or a queue with delivery.type pull")
        .with("field", isScope ? "scope" : "allocation");
  }

  private static Problem missing(String field, String detail) {
    return new Problem(ProblemKind.MISSING_FIELD, detail).with("field", field);
  }

  // Answers.

  /** Writes a job with its next scheduled times. */
  static void write(JsonGenerator json, JobStatus status) {
    json.writeStartObject();
    TaskJson.text(json, "job", status.name());
    json.writeStringProperty("state", status.state().name());
    Job job = status.definition();
    if (job != null) {
      FieldsJson.write(json, job.values(), false);
      json.writeNumberProperty("version", status.version());
    }
    instant(json, "createdAt", status.created());
    JobStatus.Pause pause = status.pause();
    if (pause != null) {
      json.writeObjectPropertyStart("pause");
      instant(json, "since", pause.since());
      if (pause.until() != null) {
        instant(json, "until", pause.until());
      }
      TaskJson.text(json, "reason", pause.reason());
      TaskJson.text(json, "by", pause.actor());
      json.writeEndObject();
    }
    times(json, "nextTimes", status.upcoming());
    json.writeNumberProperty("waiting", status.waiting());
    json.writeArrayPropertyStart("active");
    status.active().forEach(run -> active(json, run));
    json.writeEndArray();
    totals(json, status.totals());
    if (status.isEnded()) {
      json.writeBooleanProperty("endedByHandler", true);
    }
    if (!status.waitsFor().isEmpty()) {
      TaskJson.text(json, "waitsFor", status.waitsFor());
    }
    if (!status.error().isEmpty()) {
      TaskJson.text(json, "error", status.error());
    }
    JobStatus.Failure failure = status.latestFailure();
    if (failure != null) {
      json.writeObjectPropertyStart("latestFailure");
      instant(json, "time", failure.time());
      json.writeStringProperty("origin", origin(failure.origin()));
      TaskJson.text(json, "reason", failure.reason());
      json.writeEndObject();
    }
    json.writeEndObject();
  }

  /** Returns the state and the definition of a job for the audit log, without the parameters; "none" for no job. */
  static String audited(@Nullable JobStatus status) {
    Job job = status == null ? null : status.definition();
    return status == null
        ? "none"
        : new String(Reply.json(200, 1_024, json -> {
          json.writeStartObject();
          json.writeStringProperty("state", status.state().name());
          if (job != null) {
            FieldsJson.write(json, job.values(), true);
          }
          json.writeNumberProperty("version", status.version());
          json.writeEndObject();
        }).body(), StandardCharsets.UTF_8);
  }

  private static void phases(JsonGenerator json, String field, Set<RunPhase> phases) {
    if (!phases.isEmpty()) {
      json.writeArrayPropertyStart(field);
      phases.forEach(phase -> json.writeString(FieldType.word(phase)));
      json.writeEndArray();
    }
  }

  private static void active(JsonGenerator json, JobStatus.ActiveRun run) {
    json.writeStartObject();
    instant(json, "time", run.time());
    json.writeStringProperty("origin", origin(run.origin()));
    json.writeStringProperty("result", result(run));
    json.writeStringProperty("phase", FieldType.word(run.phase()));
    json.writeNumberProperty("shards", run.shards());
    json.writeNumberProperty("ended", run.ended());
    json.writeNumberProperty("failed", run.failed());
    reason(json, run.reason());
    instant(json, "begunAt", run.begun());
    if (run.deadline() != null) {
      instant(json, "deadline", run.deadline());
    }
    if (!run.targets().isEmpty()) {
      json.writeArrayPropertyStart("targets");
      run.targets().forEach(target -> target(json, target));
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  private static void target(JsonGenerator json, JobStatus.RunTarget target) {
    json.writeStartObject();
    if (!target.zone().isEmpty()) {
      TaskJson.text(json, "zone", target.zone());
    }
    if (target.seat() >= 0) {
      json.writeNumberProperty("seat", target.seat());
    }
    if (!target.worker().isEmpty()) {
      TaskJson.text(json, "worker", target.worker());
    }
    json.writeStringProperty("shards", ranges(target.shards()));
    json.writeNumberProperty("count", target.shards().size());
    json.writeNumberProperty("ended", target.ended());
    json.writeEndObject();
  }

  /** Returns ascending numbers as text: {@code 0-2,9}. */
  private static String ranges(List<Integer> numbers) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < numbers.size(); i++) {
      int first = numbers.get(i);
      while (i + 1 < numbers.size() && numbers.get(i + 1) == numbers.get(i) + 1) {
        i++;
      }
      text.append(text.isEmpty() ? "" : ",").append(first);
      if (numbers.get(i) > first) {
        text.append('-').append(numbers.get(i));
      }
    }
    return text.toString();
  }

  private static void totals(JsonGenerator json, JobTotals totals) {
    json.writeObjectPropertyStart("totals");
    json.writeNumberProperty("fired", totals.fired());
    json.writeNumberProperty("requested", totals.requested());
    json.writeNumberProperty("succeeded", totals.succeeded());
    json.writeNumberProperty("failed", totals.failed());
    json.writeNumberProperty("unknown", totals.unknown());
    json.writeNumberProperty("stopped", totals.stopped());
    json.writeNumberProperty("skipped", totals.skipped());
    json.writeNumberProperty("missed", totals.missed());
    json.writeNumberProperty("paused", totals.paused());
    json.writeNumberProperty("noTargets", totals.noTargets());
    json.writeNumberProperty("failuresInRow", totals.failuresInRow());
    json.writeEndObject();
  }

  /**
   * Writes the runs of a job: first the active runs, then the ended runs, each group with the newest run first.
   *
   * @param only the scheduled time whose runs are written, or null for all runs
   * @param result the result of the runs that are written, one of {@link #RESULTS}, or null for all runs
   * @param limit the maximum number of runs that are written
   */
  static void runs(JsonGenerator json, JobStatus status, @Nullable Instant only, @Nullable String result, int limit) {
    json.writeArrayPropertyStart("runs");
    List<JobStatus.ActiveRun> active = status.active().reversed().stream()
        .filter(run -> only == null || run.time().equals(only))
        .filter(run -> result == null || result(run).equals(result)).limit(limit).toList();
    active.forEach(run -> active(json, run));
    status.history().stream().filter(run -> only == null || isOf(run, only))
        .filter(run -> result == null || run.result().name().equals(result)).limit(limit - active.size())
        .forEach(run -> past(json, run));
    json.writeEndArray();
  }

  private static String result(JobStatus.ActiveRun run) {
    return run.stopping() ? STOPPING : RUNNING;
  }

  /** Returns whether an instant is from the first to the last time of a record, both included. */
  static boolean isOf(PastRun run, Instant time) {
    return !time.isBefore(Instant.ofEpochMilli(run.from())) && !time.isAfter(Instant.ofEpochMilli(run.to()));
  }

  private static void past(JsonGenerator json, PastRun run) {
    json.writeStartObject();
    TaskJson.instant(json, "time", run.from());
    if (run.count() > 1) {
      TaskJson.instant(json, "lastTime", run.to());
      json.writeNumberProperty("count", run.count());
    }
    json.writeStringProperty("origin", origin(run.origin()));
    json.writeStringProperty("result", run.result().name());
    if (run.shards() > 0) {
      json.writeNumberProperty("shards", run.shards());
      json.writeNumberProperty("failed", run.failed());
      if (run.gone() > 0) {
        json.writeNumberProperty("gone", run.gone());
      }
      phases(json, "failedListeners", run.failedListeners());
      reason(json, run.reason());
      TaskJson.instant(json, "begunAt", run.begun());
    }
    TaskJson.instant(json, "endedAt", run.ended());
    json.writeEndObject();
  }

  private static void reason(JsonGenerator json, String reason) {
    if (!reason.isEmpty()) {
      TaskJson.text(json, "reason", reason);
    }
  }

  static String origin(long origin) {
    return origin == 0 ? "schedule" : REQUEST + origin;
  }

  /** Reads the text of {@link #origin(long)}. */
  static long origin(String text) {
    try {
      if (text.equals("schedule") || text.startsWith(REQUEST)) {
        return text.startsWith(REQUEST) ? Long.parseLong(text.substring(REQUEST.length())) : 0;
      }
    } catch (NumberFormatException e) {
      // Refused below, like another text.
    }
    throw JsonIn.invalidText("origin", "schedule, or request- and a number, as the list of runs shows it", text);
  }

  /** Writes times with the UTC offsets of their zones. */
  static void times(JsonGenerator json, String field, List<ZonedDateTime> times) {
    json.writeArrayPropertyStart(field);
    times.forEach(time -> json.writeString(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time)));
    json.writeEndArray();
  }

  static void instant(JsonGenerator json, String field, Instant value) {
    json.writeStringProperty(field, InstantText.format(value.toEpochMilli()));
  }
}
