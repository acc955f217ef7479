package io.foliot.server.api;

import io.foliot.core.Body;
import io.foliot.core.DurationText;
import io.foliot.core.InstantText;
import io.foliot.core.Retry;
import io.foliot.jobs.Allocation;
import io.foliot.jobs.InvalidJobException;
import io.foliot.jobs.Job;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.JobTotals;
import io.foliot.jobs.Misfire;
import io.foliot.jobs.Overlap;
import io.foliot.jobs.PastRun;
import io.foliot.jobs.RunPhase;
import io.foliot.jobs.Scope;
import io.foliot.jobs.schedule.ScheduleSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The JSON of jobs and schedules, as callers write it and as answers show it. An instance reads one definition, on one
 * thread.
 */
final class JobJson {
  private static final List<String> FIELDS = List.of("queue", "schedule", "shards", "shardParameters", "overlap",
      "misfire", "timeout", "parameter", "maxAttempts", "pauseAfterFailures", "history", "scope", "allocation",
      "allocator", "zones", "runListeners");
  /**
   * Fields that answers show besides the definition. A request may contain them, but they are ignored. A caller can
   * therefore read a job, change it, and send it back.
   */
  private static final List<String> SHOWN = List.of("state", "version", "createdAt", "pause", "nextTimes", "waiting",
      "active", "totals", "endedByHandler",
      "waitsFor", "error", "latestFailure");
  private static final List<String> MISFIRE_FIELDS = List.of("policy", "window", "max");
  private static final int MAX_LISTENERS = 2;
  private static final String REQUEST = "request-";
  private static final String JSON = "application/json";

  private static final String RUNNING = "RUNNING";
  private static final String STOPPING = "STOPPING";
  /** The results of runs in answers. */
  static final List<String> RESULTS = Stream.concat(Stream.of(RUNNING, STOPPING),
      Arrays.stream(PastRun.Result.values()).map(Enum::name)).toList();

  private final String name;
  private @Nullable String queue;
  private @Nullable ScheduleSettings schedule;
  private int shards = 1;
  private List<String> shardParameters = List.of();
  private Overlap overlap = Overlap.SKIP;
  private Misfire.@Nullable Policy policy;
  private @Nullable Duration window;
  private @Nullable Integer max;
  /** Whether {@link #max} is that of the existing definition, so that it ends with the policy that it belongs to. */
  private boolean isMaxOld;
  private @Nullable Duration timeout;
  private Body parameter = Body.EMPTY;
  private int maxAttempts;
  private int pauseAfterFailures;
  private int history = Job.DEFAULT_HISTORY;

  private Scope scope = Scope.ONE;
  private Allocation allocation = Allocation.AVERAGE;
  private String allocator = "";
  private List<String> zones = List.of();
  private Set<RunPhase> runListeners = Set.of();

  JobJson(String name) {
    this.name = name;
  }

  /** Reads a definition, the only value of the body. */
  static Job read(String name, byte[] body) {
    JobJson fields = new JobJson(name);
    try (JsonIn in = new JsonIn(body)) {
      in.only(FIELDS, field -> fields.readField(in, field));
    }
    return fields.job();
  }

  /**
   * Returns a definition with the changes of a JSON merge patch (RFC 7396): a field that is absent keeps its value, and
   * a field that is null gets its default.
   */
  static Job patched(Job existing, byte[] patch) {
    JobJson fields = new JobJson(existing.name());
    fields.copy(existing);
    try (JsonIn in = new JsonIn(patch)) {
      in.only(FIELDS, field -> (field.equals("schedule") && !in.isNull())
          ? fields.patchSchedule(in)
          : fields.readField(in, field));
    }
    return fields.job();
  }

  private void copy(Job from) {
    queue = from.queue();
    schedule = from.schedule();
    shards = from.shards();
    shardParameters = from.shardParameters();
    overlap = from.overlap();
    policy = from.misfire().policy();
    window = from.misfire().window();
    max = policy == Misfire.Policy.ALL ? from.misfire().max() : null;
    isMaxOld = true;
    timeout = from.timeout();
    parameter = from.parameter();
    maxAttempts = from.maxAttempts();
    pauseAfterFailures = from.pauseAfterFailures();
    history = from.history();
    scope = from.scope();
    allocation = from.allocation();
    allocator = from.allocator();
    zones = from.zones();
    runListeners = from.runListeners();
  }

  private boolean patchSchedule(JsonIn in) {
    schedule = ScheduleJson.patched(Objects.requireNonNull(schedule), in);
    return true;
  }

  /** Reads the definition at the reader's position. Its field {@code job} contains the name of the job. */
  static Job readItem(JsonIn in) {
    String[] name = new String[1];
    JobJson fields = new JobJson("");
    in.object("the job", FIELDS, field -> {
      if (field.equals("job")) {
        name[0] = in.text(field);
        return true;
      }
      return fields.readField(in, field);
    });
    if (name[0] == null) {
      throw new Problem(ProblemKind.MISSING_FIELD, "each job of a batch needs a name: \"job\": \"...\"").with("field",
          "job");
    }
    JobJson named = new JobJson(name[0]);
    named.copy(fields);
    return named.job();
  }

  private void copy(JobJson from) {
    queue = from.queue;
    schedule = from.schedule;
    shards = from.shards;
    shardParameters = from.shardParameters;
    overlap = from.overlap;
    policy = from.policy;
    window = from.window;
    max = from.max;
    timeout = from.timeout;
    parameter = from.parameter;
    maxAttempts = from.maxAttempts;
    pauseAfterFailures = from.pauseAfterFailures;
    history = from.history;
    scope = from.scope;
    allocation = from.allocation;
    allocator = from.allocator;
    zones = from.zones;
    runListeners = from.runListeners;
  }

  private boolean readField(JsonIn in, String field) {
    switch (field) {
      case "queue" -> queue = in.text(field);
      case "schedule" -> schedule = in.isNull() ? null : ScheduleJson.read(in, field + ".");
      case "shards" -> shards = or(in.integer(field, 1, Job.MAX_SHARDS), 1);
      case "shardParameters" -> shardParameters = or(in.texts(field, Job.MAX_SHARDS), List.of());
      case "overlap" -> overlap = or(in.choice(field, Overlap.class), Overlap.SKIP);
      case "misfire" -> in.objectOrEach(field, MISFIRE_FIELDS, each -> readMisfire(in, each));
      case "timeout" -> timeout = in.duration(field);
      case "parameter" -> parameter = in.isNull() ? Body.EMPTY : new Body(in.raw(), JSON, Map.of());
      case "maxAttempts" -> maxAttempts = or(in.integer(field, 1, Retry.MAX_ATTEMPTS), 0);
      case "pauseAfterFailures" -> pauseAfterFailures = or(in.integer(field, 0, 1_000), 0);
      case "history" -> history = or(in.integer(field, 1, Job.MAX_HISTORY), Job.DEFAULT_HISTORY);
      case "scope" -> scope = or(in.choice(field, Scope.class), Scope.ONE);
      case "allocation" -> allocation = or(in.choice(field, Allocation.class), Allocation.AVERAGE);
      case "allocator" -> allocator = or(in.text(field), "");
      case "runListeners" -> runListeners = readListeners(in, field);
      case "zones" -> zones = or(in.texts(field, Job.MAX_ZONES), List.of());
      case "job" -> {
        String written = in.text(field);
        if (written != null && !written.equals(name)) {
          throw JsonIn.invalidText("job", "the name in the path, " + name, written);
        }
      }
      default -> {
        if (!SHOWN.contains(field)) {
          return false;
        }
        in.skip();
      }
    }
    return true;
  }

  private static Set<RunPhase> readListeners(JsonIn in, String field) {
    EnumSet<RunPhase> phases = EnumSet.noneOf(RunPhase.class);
    for (String phase : or(in.texts(field, MAX_LISTENERS), List.<String>of())) {
      phases.add(switch (phase) {
        case "before" -> RunPhase.BEFORE;
        case "after" -> RunPhase.AFTER;
        default -> throw JsonIn.invalidText(field, "before, after, or both", phase);
      });
    }
    return phases;
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

  private boolean readMisfire(JsonIn in, String field) {
    String path = "misfire." + field;
    switch (field) {
      case "policy" -> policy = in.choice(path, Misfire.Policy.class);
      case "window" -> window = in.duration(path);
      case "max" -> {
        max = in.integer(path, 1, Misfire.MAX_RUNS);
        isMaxOld = false;
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private Misfire misfire() {
    Misfire.Policy chosen = or(policy, Misfire.Policy.ONCE);
    if (max != null && chosen != Misfire.Policy.ALL && !isMaxOld) {
      throw JsonIn.invalid("misfire.max", "no value, because misfire.policy is " + JsonIn.word(chosen)
          + " (only the policy all has a maximum)", String.valueOf(max));
    }
    return switch (chosen) {
      case ONCE -> Misfire.once(or(window, Misfire.DEFAULT.window()));
      case ALL -> Misfire.all(or(max, Misfire.MAX_RUNS), or(window, Misfire.DEFAULT.window()));
      case SKIP -> Misfire.skip(or(window, Duration.ofMinutes(1)));
    };
  }

  private Job job() {
    if (queue == null) {
      throw missing("queue", "a job needs the queue in which its shards run: \"queue\": \"...\"");
    }
    if (schedule == null) {
      throw missing("schedule", "a job needs a schedule: \"schedule\": {\"cron\": \"0 2 * * *\", \"zone\":"
          + " \"Europe/Berlin\"}, {\"every\": \"10m\"}, {\"after\": \"30s\"} or {\"at\": \"2027-01-01T00:00:00Z\"}");
    }
    try {
      return new Job(name, queue, schedule, shards, shardParameters, overlap, misfire(), timeout, parameter,
          maxAttempts, pauseAfterFailures, history, scope, allocation, allocator, zones, runListeners);
    } catch (InvalidJobException e) {
      throw refused(e);
    }
  }

  static Problem refused(InvalidJobException e) {
    return new Problem(ProblemKind.INVALID_FIELD, String.valueOf(e.getMessage())).with("field", e.setting())
        .with("expected", e.expected()).with("found", e.found());
  }

  /** Returns the problem of a job that needs workers, although the tasks of its queue are not taken by workers. */
  static Problem needsWorkers(Job job) {
    boolean isScope = job.scope() != Scope.ONE;
    return new Problem(ProblemKind.INVALID_FIELD, (isScope ? "scope: " + JsonIn.word(job.scope()) : "allocation: own")
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
      definition(json, job, false);
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
            definition(json, job, true);
          }
          json.writeNumberProperty("version", status.version());
          json.writeEndObject();
        }).body(), StandardCharsets.UTF_8);
  }

  /** @param isMasked whether parameters are replaced by a mask, because they may be secrets */
  private static void definition(JsonGenerator json, Job job, boolean isMasked) {
    TaskJson.text(json, "queue", job.queue());
    json.writeName("schedule");
    ScheduleJson.write(json, job.schedule());
    json.writeNumberProperty("shards", job.shards());
    if (!job.shardParameters().isEmpty()) {
      json.writeArrayPropertyStart("shardParameters");
      job.shardParameters().forEach(parameter -> json.writeString(isMasked ? Secrets.MASK : parameter));
      json.writeEndArray();
    }
    json.writeStringProperty("overlap", JsonIn.word(job.overlap()));
    json.writeObjectPropertyStart("misfire");
    json.writeStringProperty("policy", JsonIn.word(job.misfire().policy()));
    json.writeStringProperty("window", DurationText.format(job.misfire().window()));
    if (job.misfire().policy() == Misfire.Policy.ALL) {
      json.writeNumberProperty("max", job.misfire().max());
    }
    json.writeEndObject();
    if (job.timeout() != null) {
      json.writeStringProperty("timeout", DurationText.format(job.timeout()));
    }
    if (job.parameter().payload().length > 0) {
      json.writeName("parameter");
      if (isMasked) {
        json.writeString(Secrets.MASK);
      } else if (job.parameter().contentType().equals(JSON) && Json.isOneValue(job.parameter().payload())) {
        json.writeRawValue(new String(job.parameter().payload(), StandardCharsets.UTF_8));
      } else {
        json.writeBinary(job.parameter().payload());
      }
    }
    if (job.maxAttempts() > 0) {
      json.writeNumberProperty("maxAttempts", job.maxAttempts());
    }
    json.writeNumberProperty("pauseAfterFailures", job.pauseAfterFailures());
    json.writeNumberProperty("history", job.history());
    json.writeStringProperty("scope", JsonIn.word(job.scope()));
    json.writeStringProperty("allocation", JsonIn.word(job.allocation()));
    if (!job.allocator().isEmpty()) {
      json.writeStringProperty("allocator", job.allocator());
    }
    if (!job.zones().isEmpty()) {
      json.writeArrayPropertyStart("zones");
      job.zones().forEach(json::writeString);
      json.writeEndArray();
    }
    phases(json, "runListeners", job.runListeners());
  }

  private static void phases(JsonGenerator json, String field, Set<RunPhase> phases) {
    if (!phases.isEmpty()) {
      json.writeArrayPropertyStart(field);
      phases.forEach(phase -> json.writeString(JsonIn.word(phase)));
      json.writeEndArray();
    }
  }

  private static void active(JsonGenerator json, JobStatus.ActiveRun run) {
    json.writeStartObject();
    instant(json, "time", run.time());
    json.writeStringProperty("origin", origin(run.origin()));
    json.writeStringProperty("result", result(run));
    json.writeStringProperty("phase", JsonIn.word(run.phase()));
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

  static void duration(JsonGenerator json, String field, @Nullable Duration value) {
    if (value != null) {
      json.writeStringProperty(field, DurationText.format(value));
    }
  }

  static void instant(JsonGenerator json, String field, Instant value) {
    json.writeStringProperty(field, InstantText.format(value.toEpochMilli()));
  }
}
