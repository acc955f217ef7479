package io.foliot.server.api;

import io.foliot.api.Cancellation;
import io.foliot.api.JobHeaders;
import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import io.foliot.server.config.Defaults;
import io.foliot.server.text.Nearest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The calls about tasks and their keys. */
final class TaskRoutes {
  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
  private static final int MAX_PAGE = 1_000;
  /** Estimated bytes of the result of one touch in the answer. */
  private static final int BYTES_PER_TOUCH = 120;

  private final Scheduler scheduler;
  private final TimeSource clock;
  private final ApiLimits limits;
  private final SchedulerBridge calls;
  private final Cursors cursors;

  TaskRoutes(Scheduler scheduler, TimeSource clock, ApiLimits limits, SchedulerBridge calls,
      Cursors cursors) {
    this.cursors = cursors;
    this.scheduler = scheduler;
    this.clock = clock;
    this.limits = limits;
    this.calls = calls;
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.wallMillis());
  }

  Reply submit(Request request) {
    TaskFields fields = new TaskFields(TaskFields.OF_TASK, limits.bodyBytes());
    try (JsonIn in = new JsonIn(TaskFields.body(request, limits))) {
      fields.readOnly(in);
    }
    Submission submission = fields.withIdempotencyKey(request.header(IDEMPOTENCY_KEY))
        .withTrace(request.header(TraceHeaders.PARENT), request.header(TraceHeaders.STATE))
        .submission(request.variable("queue"), now());
    SubmitResult result = calls.write(scheduler.submit(submission));
    Problem refused = refusal(submission, result);
    if (refused != null) {
      throw refused;
    }
    int status = result.kind() == SubmitResult.Kind.KEPT ? 200 : 201;
    return Reply.json(status, json -> TaskJson.submitted(json, submission, result, clock.wallMillis()))
        .with("Location", "/v1/tasks/" + result.id());
  }

  /** Returns the problem of a refused submit, or null if the submit was not refused. */
  static @Nullable Problem refusal(Submission submission, SubmitResult result) {
    return switch (result.kind()) {
      case REJECTED -> new Problem(ProblemKind.KEY_IN_USE,
          "the key has a live task, and onConflict is reject; use reset"
              + " to replace that task, or keep to get that task as the answer: key=" + submission.key()
              + ", id=" + result.id())
          .with("id", result.id().toString());
      case MISMATCHED -> new Problem(ProblemKind.IDEMPOTENCY_MISMATCH,
          "the idempotency key belonged to another request of"
              + " this queue and task key within the last 24 hours; use a new one for a new request: idempotencyKey="
              + JsonIn.shown(String.valueOf(submission.idempotencyKey())))
          .with("id", result.id().toString());
      case CHANGED -> throw new IllegalStateException(
          "a submit without an expected generation cannot be refused as CHANGED: " + result);
      case CREATED, RESET, RESET_PENDING, KEPT, REPEATED -> null;
    };
  }

  Reply putKey(Request request) {
    ensureNoIdempotencyKey(request, "a repeated call only begins a new generation; to submit a task once, send a"
        + " POST to /v1/queues/{queue}/tasks with the key in its body");
    TaskFields fields = new TaskFields(TaskFields.OF_KEY, limits.bodyBytes());
    try (JsonIn in = new JsonIn(TaskFields.body(request, limits))) {
      fields.readOnly(in);
    }
    Submission submission = fields.withKey(key(request))
        .withTrace(request.header(TraceHeaders.PARENT), request.header(TraceHeaders.STATE))
        .submission(request.variable("queue"), now());
    SubmitResult result = calls.write(scheduler.submit(submission));
    int status = result.kind() == SubmitResult.Kind.CREATED ? 201 : 200;
    return Reply.json(status, json -> TaskJson.put(json, result));
  }

  private static String key(Request request) {
    String key = request.variable("key");
    try {
      Limits.ensureKey(key);
      return key;
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_REQUEST, "key: " + e.getMessage()).with("field", "key");
    }
  }

  private static TaskRef keyRef(Request request) {
    return new TaskRef.ByKey(request.variable("queue"), key(request));
  }

  static TaskId id(Request request) {
    try {
      return TaskId.parse(request.variable("id"));
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_REQUEST, String.valueOf(e.getMessage())).with("field", "id");
    }
  }

  /**
   * Ensures that the request has no idempotency key, which the call would ignore.
   *
   * @param remedy the alternative, for the message
   */
  static void ensureNoIdempotencyKey(Request request, String remedy) {
    if (request.header(IDEMPOTENCY_KEY) != null) {
      throw new Problem(ProblemKind.INVALID_REQUEST, IDEMPOTENCY_KEY + ": expected no such header in this call; "
          + remedy).with("field", IDEMPOTENCY_KEY);
    }
  }

  Reply touch(Request request) {
    Touches touches = new Touches();
    try (JsonIn in = new JsonIn(request.json(limits.batchBytes()))) {
      in.only(Touches.FIELDS, name -> touches.read(in, name));
    }
    List<String> keys = touches.keys();
    request.writeMemory().reserve((long) AnswerMemory.COPIES * keys.size() * BYTES_PER_TOUCH);
    List<TouchResult> results = calls.write(scheduler.touch(request.variable("queue"), keys, touches.delay()));
    return Reply.json(200, 64 + keys.size() * BYTES_PER_TOUCH, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("results");
      for (int i = 0; i < results.size(); i++) {
        TaskJson.touched(json, keys.get(i), results.get(i));
      }
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  /** The body of a touch. */
  private static final class Touches {
    static final List<String> FIELDS = List.of("keys", "delay");

    @Nullable
    List<String> keys;
    @Nullable
    Duration delay;

    boolean read(JsonIn in, String name) {
      switch (name) {
        case "keys" -> keys = in.batch(name, Limits.MAX_BATCH);
        case "delay" -> delay = in.duration(name);
        default -> {
          return false;
        }
      }
      return true;
    }

    List<String> keys() {
      if (keys == null) {
        throw missing("keys", "\"keys\": [\"order-1\", ...]");
      }
      for (int i = 0; i < keys.size(); i++) {
        try {
          Limits.ensureKey(keys.get(i));
        } catch (IllegalArgumentException e) {
          throw new Problem(ProblemKind.INVALID_FIELD, "keys[" + i + "]: " + e.getMessage()).with("field",
              "keys[" + i + "]");
        }
      }
      return keys;
    }

    Duration delay() {
      if (delay == null) {
        throw missing("delay", "\"delay\": \"30m\"");
      }
      TaskFields.checkDelay("delay", delay);
      return delay;
    }
  }

  static Problem missing(String field, String example) {
    return new Problem(ProblemKind.MISSING_FIELD, "the call needs the field " + field + ": " + example).with("field",
        field);
  }

  Reply getKey(Request request) {
    return show(request, keyRef(request));
  }

  Reply getTask(Request request) {
    return show(request, new TaskRef.ById(id(request)));
  }

  private Reply show(Request request, TaskRef ref) {
    request.memory().reserve(largestRecord());
    TaskRecord task = calls.read(scheduler.find(ref)).orElseThrow(() -> unknown(ref));
    request.memory().holds(bytesOf(task));
    return Reply.json(200, 512 + task.body().payload().length * 4 / 3,
        json -> TaskJson.task(json, task, queueAttempts(task.queue()), clock.wallMillis()));
  }

  private int queueAttempts(String queue) {
    return calls.find(scheduler, queue).map(QueueConfig::retry).map(retry -> retry.maxAttempts()).orElse(0);
  }

  private Problem unknown(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById(TaskId id) -> unknownTask(id.toString());
      case TaskRef.ByKey(String queue, String key) -> {
        if (calls.find(scheduler, queue).isEmpty()) {
          yield SchedulerBridge.unknownQueue(queue);
        }
        yield new Problem(ProblemKind.UNKNOWN_TASK, "no task is known under this key: none was submitted, or it ended"
            + " longer ago than the queue's retention: queue=" + queue + ", key=" + JsonIn.shown(key));
      }
    };
  }

  /**
   * Returns the problem of a task that the caller cannot see: it does not exist, or the API key does not cover its
   * queue.
   */
  static Problem unknownTask(String id) {
    return new Problem(ProblemKind.UNKNOWN_TASK, "there is no task with this id: it never existed, or ended longer ago"
        + " than its queue's retention: id=" + id);
  }

  Reply cancelKey(Request request) {
    return cancel(keyRef(request));
  }

  Reply cancelTask(Request request) {
    return cancel(new TaskRef.ById(id(request)));
  }

  private Reply cancel(TaskRef ref) {
    CancelResult result = calls.write(scheduler.cancel(ref));
    if (result.kind() == Cancellation.NOT_FOUND) {
      throw unknown(ref);
    }
    return Reply.json(200, json -> TaskJson.cancelled(json, result));
  }

  Reply runNow(Request request) {
    request.noBody(limits.bodyBytes());
    TaskId id = id(request);
    TouchResult result = calls.write(scheduler.runNow(id));
    return switch (result.kind()) {
      case NOT_FOUND -> throw unknownTask(id.toString());
      case ALREADY_FINISHED -> throw new Problem(ProblemKind.ALREADY_FINISHED,
          "the task is final and never runs again; submit a new task, or redrive this one if it has failed: id=" + id);
      case RESET, RESET_PENDING -> Reply.json(200, json -> TaskJson.touched(json, null, result));
    };
  }

  Reply explain(Request request) {
    TaskId id = id(request);
    request.memory().reserve(largestRecord());
    Scheduler.Explanation why = calls.read(scheduler.explain(id)).orElseThrow(() -> unknownTask(id.toString()));
    Fleet fleet = WorkerRoutes.seen(scheduler.fleet(), request.caller());
    return Reply.json(200, json -> TaskJson.explanation(json, why, fleet));
  }

  Reply list(Request request) {
    String queue = request.variable("queue");
    calls.ensureKnown(scheduler, queue);
    TaskState state = state(request.parameter("state"));
    int limit = limit(request.parameter("limit"));
    AnswerMemory.Share memory = request.memory();
    String key = request.parameter("key");
    String job = request.parameter("job");
    Predicate<TaskRecord> filter = task -> (key == null || key.equals(task.key()))
        && (job == null || job.equals(task.body().headers().get(JobHeaders.JOB)));
    RecordPage page = page(queue, state, limit, cursors.open(list(queue), request.parameter("cursor")), memory, filter);
    int queueAttempts = queueAttempts(queue);
    long payloads = page.tasks().stream().mapToLong(task -> task.body().payload().length).sum();
    return Reply.json(200, Math.toIntExact(64 + page.tasks().size() * 512L + payloads * 4 / 3), json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("tasks");
      page.tasks().forEach(task -> TaskJson.task(json, task, queueAttempts, clock.wallMillis()));
      json.writeEndArray();
      TaskJson.text(json, "nextCursor", cursors.seal(list(queue), page.cursor()));
      json.writeEndObject();
    });
  }

  /** Returns the list to which the cursors of the tasks of a queue belong. */
  private static String list(String queue) {
    return "tasks of " + queue;
  }

  /** Returns how many bytes of memory a record of the largest size needs while it is written into an answer. */
  private long largestRecord() {
    return AnswerMemory.RECORD_BYTES + (long) AnswerMemory.COPIES * limits.bodyBytes();
  }

  private static long bytesOf(TaskRecord task) {
    return AnswerMemory.RECORD_BYTES + (long) AnswerMemory.COPIES * task.body().payload().length;
  }

  /**
   * Reads a page in parts. Once a part is shorter than requested, the scan may need its full time, so the page keeps
   * little memory from then on.
   */
  private RecordPage page(String queue, @Nullable TaskState state, int limit, @Nullable String from,
      AnswerMemory.Share memory, Predicate<TaskRecord> filter) {
    PageMemory page = new PageMemory(memory, limit, largestRecord());
    QueueScan scan = new QueueScan(scheduler, calls, clock, queue);
    List<TaskRecord> tasks = new ArrayList<>();
    String cursor = from;
    do {
      int wanted = page.next();
      RecordPage part = scan.part(state, wanted, cursor);
      List<TaskRecord> passed = part.tasks().stream().filter(filter).toList();
      tasks.addAll(passed);
      page.add(passed.size(), passed.stream().mapToLong(TaskRoutes::bytesOf).sum());
      if (part.tasks().size() < wanted) {
        page.becomesSparse();
      }
      cursor = part.cursor();
    } while (cursor != null && tasks.size() < limit && scan.hasTime(tasks.isEmpty()) && page.next() > 0);
    page.end();
    return new RecordPage(tasks, cursor);
  }

  private static @Nullable TaskState state(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return null;
    }
    List<String> known = Arrays.stream(TaskState.values()).map(TaskState::name).toList();
    String name = text.toUpperCase(Locale.ROOT);
    if (!known.contains(name)) {
      throw badParameter("state", "one of " + String.join(", ", known), text, Nearest.of(name, known));
    }
    return TaskState.valueOf(name);
  }

  private static Problem badParameter(String name, String expected, String found, @Nullable String nearest) {
    return new Problem(ProblemKind.INVALID_PARAMETER, name + ": expected " + expected + ", but got \""
        + JsonIn.shown(found) + '"' + (nearest == null ? "" : "; did you mean " + nearest + "?"))
        .with("parameter", name)
        .with("expected", expected).with("found", JsonIn.shown(found));
  }

  private static int limit(@Nullable String text) {
    if (text == null) {
      return Defaults.PAGE;
    }
    boolean number = !text.isEmpty() && text.length() <= 4 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    int limit = number ? Integer.parseInt(text) : 0;
    if (limit < 1 || limit > MAX_PAGE) {
      throw badParameter("limit", "a whole number from 1 to " + MAX_PAGE, text, null);
    }
    return limit;
  }
}
