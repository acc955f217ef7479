package io.foliot.server.api;

import io.foliot.api.Limits;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TimeSource;
import io.foliot.core.store.SubmitResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonToken;

/**
 * The call that submits up to {@link Limits#MAX_BATCH} tasks, as a JSON array or with one task on each line. If an item
 * is not a valid task, the answer has a problem at the position of the item, and the other tasks are still submitted. A
 * body that is not valid JSON is refused as a whole, before any task is submitted.
 */
final class BatchRoute {
  /** Estimated bytes of the result of one task in the answer. */
  private static final int BYTES_PER_ITEM = 220;
  /** Estimated bytes of one problem in the answer. */
  private static final int BYTES_PER_PROBLEM = 600;
  private static final int NEWLINE = '\n';

  private final Scheduler scheduler;
  private final TimeSource clock;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  BatchRoute(Scheduler scheduler, TimeSource clock, ApiLimits limits, SchedulerBridge calls) {
    this.scheduler = scheduler;
    this.clock = clock;
    this.limits = limits;
    this.calls = calls;
  }

  /** The result of reading: for each item either a submission or a problem. */
  private static final class Items {
    // in the order of the body; null for an item with a problem
    final List<@Nullable Submission> read = new ArrayList<>();
    final List<Problem> refused = new ArrayList<>();
    final List<Submission> submissions = new ArrayList<>();

    void add(Submission submission) {
      read.add(submission);
      submissions.add(submission);
    }

    void add(Problem problem) {
      read.add(null);
      refused.add(problem);
    }
  }

  Reply handle(Request request) {
    String queue = request.variable("queue");
    TaskRoutes.ensureNoIdempotencyKey(request, "give each task of the batch a field idempotencyKey");
    boolean lines = request.isLines();
    byte[] body = request.body(limits.batchBytes());
    calls.ensureKnown(scheduler, queue);
    Items items = lines ? readLines(queue, body) : read(queue, body, false);
    request.writeMemory().reserve(AnswerMemory.COPIES
        * ((long) items.submissions.size() * BYTES_PER_ITEM + (long) items.refused.size() * BYTES_PER_PROBLEM));
    List<SubmitResult> results = items.submissions.isEmpty()
        ? List.of()
        : calls.write(scheduler.submitAll(items.submissions));
    Reply reply = Reply.json(200, 64 + items.read.size() * BYTES_PER_ITEM, json -> write(json, items, results, lines));
    return lines ? reply.as("application/x-ndjson") : reply;
  }

  private Items readLines(String queue, byte[] body) {
    try {
      return read(queue, body, true);
    } catch (JacksonException e) {
      throw JsonIn.malformedLine(body, e);
    }
  }

  private Items read(String queue, byte[] body, boolean lines) {
    Instant now = Instant.ofEpochMilli(clock.wallMillis());
    Items items = new Items();
    try (JsonIn in = new JsonIn(body)) {
      JsonToken token = in.next();
      if (!lines) {
        if (token != JsonToken.START_ARRAY) {
          throw new Problem(ProblemKind.INVALID_REQUEST,
              "a batch is a JSON array of tasks; for a task on each line send"
                  + " the header Content-Type: application/x-ndjson");
        }
        token = in.next();
      } else if (token == JsonToken.START_ARRAY) {
        throw new Problem(ProblemKind.INVALID_REQUEST,
            "a batch of type application/x-ndjson has a task on each line; for an array send the header Content-Type:"
                + " application/json");
      }
      while (token != null && token != JsonToken.END_ARRAY) {
        if (items.read.size() == Limits.MAX_BATCH) {
          throw new Problem(ProblemKind.TOO_LARGE, "a batch has at most " + Limits.MAX_BATCH
              + " tasks; nothing was done. Send the tasks in several calls").with("limit", Limits.MAX_BATCH);
        }
        readItem(queue, in, now, items);
        token = in.next();
      }
      if (!lines) {
        in.end();
      }
    }
    return items;
  }

  private void readItem(String queue, JsonIn in, Instant now, Items items) {
    int depth = in.depth();
    boolean entered = in.isObject();
    try {
      items.add(new TaskFields(TaskFields.OF_ITEM, limits.bodyBytes()).read(in).submission(queue, now));
    } catch (Problem problem) {
      if (entered) {
        in.leave(depth);
      } else {
        in.skip();
      }
      items.add(problem);
    }
  }

  private void write(JsonGenerator json, Items items, List<SubmitResult> results, boolean lines) {
    long nowMillis = clock.wallMillis();
    int submitted = 0;
    int refused = 0;
    if (!lines) {
      json.writeStartArray();
    }
    for (Submission submission : items.read) {
      if (submission == null) {
        error(json, items.refused.get(refused++));
      } else {
        SubmitResult result = results.get(submitted++);
        Problem problem = TaskRoutes.refusal(submission, result);
        if (problem == null) {
          TaskJson.submitted(json, submission, result, nowMillis);
        } else {
          error(json, problem);
        }
      }
      if (lines) {
        json.writeRaw((char) NEWLINE);
      }
    }
    if (!lines) {
      json.writeEndArray();
    }
  }

  private static void error(JsonGenerator json, Problem problem) {
    json.writeStartObject();
    json.writeName("error");
    problem.write(json);
    json.writeEndObject();
  }
}
