package io.foliot.server.api;

import io.foliot.api.InstantText;
import io.foliot.api.Job;
import io.foliot.api.TaskNote;
import io.foliot.core.TimeSource;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import io.foliot.jobs.PastRun;
import io.foliot.jobs.RunTask;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The calls about the runs of a job: from a run to its shards, their tasks, the reasons of their failures and their
 * logs. Like all calls about jobs, they reach only the jobs that {@link JobRoutes#jobs} returns.
 */
final class RunRoutes {
  private static final int RUNS_MAX = 1_000;
  private static final int TASKS_DEFAULT = 100;
  private static final int TASKS_MAX = 1_000;
  private static final int LOGS_DEFAULT = 10;
  private static final int LOGS_MAX = 100;
  /** Maximum number of tasks that did not fail and are read for their logs. */
  private static final int LOGS_READ = 200;
  /** Memory of the largest task of a run while it is read and written: its payload and its note. */
  private static final long LARGEST_TASK = AnswerMemory.RECORD_BYTES
      + (long) AnswerMemory.COPIES * (Job.MAX_PARAMETER_BYTES + TaskNote.MAX_CHECKPOINT_BYTES + TaskNote.MAX_LOG);

  private final JobRoutes jobs;
  private final TimeSource clock;
  private final ApiLimits limits;

  RunRoutes(JobRoutes jobs, TimeSource clock, ApiLimits limits) {
    this.jobs = jobs;
    this.clock = clock;
    this.limits = limits;
  }

  Reply list(Request request) {
    int limit = JobRoutes.number(request, "limit", RUNS_MAX, RUNS_MAX);
    String result = request.parameter("result");
    if (result != null && !JobJson.RESULTS.contains(result)) {
      throw JobRoutes.invalidParameter("result", "one of " + String.join(", ", JobJson.RESULTS), result);
    }
    JobStatus status = jobs.found(request);
    return Reply.json(200, 1_024, json -> {
      json.writeStartObject();
      JobJson.runs(json, status, null, result, limit);
      json.writeEndObject();
    });
  }

  Reply get(Request request) {
    Instant time = time(request.variable("time"));
    boolean onlyFailed = isTrue(request, "failed");
    int limit = JobRoutes.number(request, "limit", TASKS_DEFAULT, TASKS_MAX);
    JobStatus status = known(request, time);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(out)) {
      json.writeStartObject();
      JobJson.runs(json, status, time, null, RUNS_MAX);
      json.writeArrayPropertyStart("shards");
      json.flush();
      PageMemory memory = new PageMemory(request.memory(), limit, LARGEST_TASK);
      String next = read(request, time, onlyFailed, memory, request.parameter("cursor"), out, task -> {
        RunJson.write(json, task, clock.wallMillis(), false);
        json.flush();
        return true;
      });
      json.writeEndArray();
      if (next != null) {
        json.writeStringProperty("next", next);
      }
      json.writeEndObject();
      json.flush();
      memory.end();
    }
    return Reply.of(200, "application/json", out.toByteArray());
  }

  /**
   * Reads tasks of the runs of a time in parts, and writes each part before it reads the next one.
   *
   * @param write writes a task, and returns whether it was written
   * @return where the next page begins, or null if there is none
   */
  private @Nullable String read(Request request, Instant time, boolean onlyFailed, PageMemory memory,
      @Nullable String cursor, ByteArrayOutputStream out, Predicate<RunTask> write) {
    String next = cursor;
    do {
      String from = next;
      int most = memory.next();
      Jobs.RunPage part = jobs.call(() -> jobs.jobs(request).tasks(request.variable("job"), time, onlyFailed, most,
          from));
      int before = out.size();
      int written = (int) part.tasks().stream().filter(write).count();
      // All tasks that were read count against the limit, so that a page of few failures among many tasks ends.
      memory.add(most, (long) AnswerMemory.COPIES * (out.size() - before) + (long) written * AnswerMemory.RECORD_BYTES);
      next = part.next();
    } while (next != null && memory.next() > 0);
    return next;
  }

  private static boolean isTrue(Request request, String name) {
    String text = request.parameter(name);
    if (text != null && !text.equals("true") && !text.equals("false")) {
      throw JobRoutes.invalidParameter(name, "true or false", text);
    }
    return "true".equals(text);
  }

  /** Returns a job that knows a run of a time, or a range of times that includes it. */
  private JobStatus known(Request request, Instant time) {
    JobStatus status = jobs.found(request);
    boolean isKnown = status.active().stream().anyMatch(run -> run.time().equals(time)) || status.history().stream()
        .anyMatch(run -> JobJson.isOf(run, time));
    if (!isKnown) {
      throw new Problem(ProblemKind.UNKNOWN_RUN, "the job has no run of that time, or no longer keeps it; GET /v1/jobs/"
          + "{job}/runs lists the runs that it keeps: time=" + time);
    }
    return status;
  }

  /** The run whose logs are shown. The origin is null for all runs of the time. */
  private record Chosen(Instant time, @Nullable Long origin) {}

  /** Returns the logs of the tasks of a run: those that failed first, then the others in the order of the shards. */
  Reply log(Request request) {
    int limit = JobRoutes.number(request, "limit", LOGS_DEFAULT, LOGS_MAX);
    String text = request.parameter("time");
    Chosen chosen;
    if (text == null) {
      chosen = latest(jobs.found(request));
    } else {
      Instant time = time(text);
      known(request, time);
      chosen = new Chosen(time, null);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Set<String> seen = new HashSet<>();
    try (JsonGenerator json = Json.generator(out)) {
      json.writeStartObject();
      JobJson.instant(json, "time", chosen.time());
      json.writeArrayPropertyStart("shards");
      json.flush();
      boolean hasMore = false;
      for (boolean onlyFailed : List.of(true, false)) {
        int most = onlyFailed ? limit : LOGS_READ;
        PageMemory memory = new PageMemory(request.memory(), most, LARGEST_TASK);
        String next = read(request, chosen.time(), onlyFailed, memory, null, out, task -> {
          boolean isOther = chosen.origin() != null && chosen.origin() != task.origin();
          boolean isShown = seen.size() < limit && !isOther && RunJson.hasLog(task, onlyFailed)
              && seen.add(String.valueOf(task.id()));
          if (isShown) {
            RunJson.write(json, task, clock.wallMillis(), true);
            json.flush();
          }
          return isShown;
        });
        memory.end();
        hasMore |= next != null;
      }
      json.writeEndArray();
      json.writeBooleanProperty("more", hasMore || seen.size() == limit);
      json.writeEndObject();
    }
    return Reply.of(200, "application/json", out.toByteArray());
  }

  private static Chosen latest(JobStatus status) {
    if (!status.active().isEmpty()) {
      JobStatus.ActiveRun run = status.active().getLast();
      return new Chosen(run.time(), run.origin());
    }
    PastRun run = status.history().stream().filter(past -> past.result().isRun()).findFirst()
        .orElseThrow(() -> new Problem(ProblemKind.UNKNOWN_RUN, "the job has no run, or no longer keeps any"));
    return new Chosen(Instant.ofEpochMilli(run.from()), run.origin());
  }

  Reply stop(Request request) {
    request.noBody(limits.bodyBytes());
    Instant time = time(request.variable("time"));
    return JobRoutes.written(request, 200,
        jobs.call(() -> jobs.jobs(request).stop(request.variable("job"), time)));
  }

  /** The body of a redrive. */
  private static final class Redrive {
    static final List<String> FIELDS = List.of("shard", "zone", "origin");

    @Nullable
    Integer shard;
    @Nullable
    String zone;
    @Nullable
    Long origin;

    boolean read(JsonIn in, String field) {
      switch (field) {
        case "shard" -> shard = in.integer(field, 0, Job.MAX_SHARDS - 1);
        case "zone" -> zone = in.text(field);
        case "origin" -> {
          String text = in.text(field);
          origin = text == null ? null : JobJson.origin(text);
        }
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  /** Runs a failed shard of a run again. */
  Reply redrive(Request request) {
    Instant time = time(request.variable("time"));
    Redrive body = new Redrive();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(Redrive.FIELDS, field -> body.read(in, field));
    }
    Integer shard = body.shard;
    if (shard == null) {
      throw TaskRoutes.missing("shard", "\"shard\": 3");
    }
    String zone = body.zone == null ? "" : body.zone;
    return JobRoutes.written(request, 200, jobs.call(
        () -> jobs.jobs(request).redrive(request.variable("job"), time, body.origin, zone, shard)));
  }

  private static Instant time(String text) {
    try {
      return InstantText.parse(text);
    } catch (IllegalArgumentException e) {
      throw JsonIn.invalidText("time", InstantText.EXPECTED, text);
    }
  }
}
