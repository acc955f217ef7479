package io.foliot.client;

import io.foliot.api.Cancellation;
import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskNote;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The asynchronous form of {@link FoliotClient}. Each call returns a future at once, without a wait for the answer.
 * {@link FoliotClient} documents the calls.
 *
 * <p>A future fails with the exception that the blocking call would throw. If an argument is not valid, the
 * method itself throws. Dependent stages of a future must not block the thread that completes it.
 * Cancelling a future aborts the call, with an unknown outcome.
 */
public final class AsyncFoliotClient {
  private static final String JSON = "application/json";
  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final String NDJSON = "application/x-ndjson";

  private final Transport transport;
  private final Duration requestTimeout;

  AsyncFoliotClient(Transport transport, Duration requestTimeout) {
    this.transport = transport;
    this.requestTimeout = requestTimeout;
  }

  private <T> CompletableFuture<T> get(ApiPath path, Function<JsonObject, T> read) {
    return transport.call(transport.request(path).GET().build(), requestTimeout, Repeat.ALWAYS, Reading.of(one(read)));
  }

  /** Sends a request without a body, and reads only the status of the answer. */
  private CompletableFuture<Void> send(String method, ApiPath path, Repeat repeat) {
    HttpRequest request = transport.request(path).method(method, BodyPublishers.noBody()).build();
    return transport.call(request, requestTimeout, repeat, Reading.NOTHING);
  }

  private <T> CompletableFuture<T> send(String method, ApiPath path, Consumer<JsonGenerator> fields, Repeat repeat,
      Reading<T> reading) {
    HttpRequest request = transport.request(path).header("Content-Type", JSON).method(method, body(fields)).build();
    return transport.call(request, requestTimeout, repeat, reading);
  }

  private static BodyPublisher body(Consumer<JsonGenerator> fields) {
    return BodyPublishers.ofByteArray(Json.object(fields));
  }

  private static <T> Function<byte[], T> one(Function<JsonObject, T> read) {
    return body -> read.apply(JsonObject.parse(body));
  }

  /** As {@link FoliotClient#putQueue}. */
  public CompletableFuture<Void> putQueue(QueueConfig queue) {
    return send("PUT", ApiPath.queue(queue.name()), json -> Json.writeFields(json, queue.values()), Repeat.ALWAYS,
        Reading.NOTHING);
  }

  /** As {@link FoliotClient#patchQueue}. */
  public CompletableFuture<QueueView> patchQueue(String queue, QueuePatch patch) {
    HttpRequest request = transport.request(ApiPath.queue(queue)).header("Content-Type", MERGE_PATCH)
        .method("PATCH", body(patch::write)).build();
    return transport.call(request, requestTimeout, Repeat.ALWAYS, Reading.of(one(QueueView::of)));
  }

  /** As {@link FoliotClient#getQueue}. */
  public CompletableFuture<QueueView> getQueue(String queue) {
    return get(ApiPath.queue(queue), QueueView::of);
  }

  /** As {@link FoliotClient#listQueues}. */
  public CompletableFuture<List<QueueView>> listQueues() {
    return get(ApiPath.queues(), json -> json.objects("queues").stream().map(QueueView::of).toList());
  }

  /** As {@link FoliotClient#deleteQueue}. */
  public CompletableFuture<Void> deleteQueue(String queue) {
    return send("DELETE", ApiPath.queue(queue), Repeat.IF_NOT_DONE);
  }

  /** As {@link FoliotClient#pauseQueue}. */
  public CompletableFuture<Void> pauseQueue(String queue) {
    return send("POST", ApiPath.queue(queue).then("/pause"), Repeat.ALWAYS);
  }

  /** As {@link FoliotClient#resumeQueue}. */
  public CompletableFuture<Void> resumeQueue(String queue) {
    return send("POST", ApiPath.queue(queue).then("/resume"), Repeat.ALWAYS);
  }

  /** As {@link FoliotClient#putJob}. */
  public CompletableFuture<JobView> putJob(Job job) {
    return send("PUT", ApiPath.job(job.name()), json -> Json.writeFields(json, job.values()), Repeat.ALWAYS,
        Reading.of(one(JobView::of)));
  }

  /** As {@link FoliotClient#declareJob}. */
  public CompletableFuture<JobView> declareJob(Job job) {
    return send("POST", ApiPath.job(job.name()).then("/declare"), json -> Json.writeFields(json, job.values()),
        Repeat.ALWAYS,
        Reading.of(one(JobView::of)));
  }

  /** As {@link FoliotClient#getJob}. */
  public CompletableFuture<JobView> getJob(String job) {
    return get(ApiPath.job(job), JobView::of);
  }

  /** As {@link FoliotClient#listRuns}. */
  public CompletableFuture<List<RunView>> listRuns(String job, @Nullable String result, int limit) {
    return get(ApiPath.job(job).then("/runs").query("result", result).query("limit", limit(limit)),
        json -> json.objects("runs").stream().map(RunView::of).toList());
  }

  /** As {@link FoliotClient#getRun}. */
  public CompletableFuture<RunPage> getRun(String job, String time, boolean onlyFailed, int limit,
      @Nullable String cursor) {
    return get(ApiPath.run(job, time).query("failed", onlyFailed ? "true" : null).query("limit", limit(limit))
        .query("cursor", cursor), RunPage::of);
  }

  /** As {@link FoliotClient#getLog}. */
  public CompletableFuture<RunLog> getLog(String job, @Nullable String time, int limit) {
    return get(ApiPath.job(job).then("/log").query("time", time).query("limit", limit(limit)), RunLog::of);
  }

  /** As {@link FoliotClient#deleteJob}. */
  public CompletableFuture<Void> deleteJob(String job, boolean cancelsRuns) {
    return send("DELETE", ApiPath.job(job).query("runs", cancelsRuns ? "cancel" : null), Repeat.IF_NOT_DONE);
  }

  /** As {@link FoliotClient#pauseJob}. */
  public CompletableFuture<JobView> pauseJob(String job, @Nullable String reason) {
    return send("POST", ApiPath.job(job).then("/pause"),
        json -> Json.write(json, "reason", reason == null ? null : Names.requireWellFormed("reason", reason)),
        Repeat.ALWAYS, Reading.of(one(JobView::of)));
  }

  /** As {@link FoliotClient#resumeJob}. */
  public CompletableFuture<JobView> resumeJob(String job) {
    return send("POST", ApiPath.job(job).then("/resume"), json -> {}, Repeat.ALWAYS, Reading.of(one(JobView::of)));
  }

  /** As {@link FoliotClient#rewindJob}. */
  public CompletableFuture<JobView> rewindJob(String job) {
    return send("POST", ApiPath.job(job).then("/rewind"), json -> {}, Repeat.ALWAYS, Reading.of(one(JobView::of)));
  }

  /** As {@link FoliotClient#triggerJob}. */
  public CompletableFuture<String> triggerJob(String job, @Nullable String idempotencyKey) {
    HttpRequest.Builder request = transport.request(ApiPath.job(job).then("/trigger")).POST(BodyPublishers.noBody());
    if (idempotencyKey != null) {
      request.header("Idempotency-Key", Names.requireVisibleAscii("idempotencyKey", idempotencyKey));
    }
    return transport.call(request.build(), requestTimeout, idempotencyKey == null ? Repeat.NEVER : Repeat.ALWAYS,
        Reading.of(one(json -> json.texts("times").getFirst())));
  }

  /** As {@link FoliotClient#submit}. */
  public CompletableFuture<SubmittedTask> submit(String queue, NewTask task) {
    HttpRequest.Builder request = transport.request(ApiPath.queue(queue).then("/tasks"));
    if (task.idempotencyKey() != null) {
      request.header("Idempotency-Key", task.idempotencyKey());
    }
    BodyPublisher body = body(json -> {
      Json.write(json, "key", task.key());
      task.write(json);
    });
    return transport.call(request.header("Content-Type", JSON).POST(body).build(), requestTimeout,
        task.idempotencyKey() == null ? Repeat.NEVER : Repeat.ALWAYS,
        Reading.of(one(SubmittedTask::of)));
  }

  /** As {@link FoliotClient#submitBatch}. */
  public CompletableFuture<List<BatchResult>> submitBatch(String queue, List<NewTask> tasks) {
    List<NewTask> batch = List.copyOf(tasks);
    requireBatch("tasks", batch.size());
    boolean repeatable = batch.stream().allMatch(task -> task.idempotencyKey() != null);
    HttpRequest request = transport.request(ApiPath.queue(queue).then("/tasks:batch")).header("Content-Type", NDJSON)
        .POST(BodyPublishers.ofByteArrays(new NdjsonBody(batch))).build();
    return transport.call(request, requestTimeout, repeatable ? Repeat.ALWAYS : Repeat.NEVER,
        Reading.of(answer -> batchResults(answer, batch.size())));
  }

  private static List<BatchResult> batchResults(byte[] answer, int expected) {
    List<BatchResult> results = new ArrayList<>(expected);
    for (JsonObject item : JsonObject.parseAll(answer)) {
      results.add(item.has("error") ? RefusedTask.ofItem(item.object("error")) : SubmittedTask.of(item));
    }
    if (results.size() != expected) {
      throw new UnreadableAnswerException(
          "the answer to a batch must have one result per item: items=" + expected + ", answers=" + results.size());
    }
    return List.copyOf(results);
  }

  /** As {@link FoliotClient#putKey}. */
  public CompletableFuture<KeyResult> putKey(String queue, String key, NewTask task) {
    if ((task.key() != null && !task.key().equals(key)) || task.onConflict() != null || task.idempotencyKey() != null) {
      throw new IllegalArgumentException(
          "a task for putKey must not have a different key, an onConflict or an idempotencyKey: key=" + key
              + ", task=" + task);
    }
    return send("PUT", ApiPath.key(queue, key), task::write, Repeat.IF_NOT_DONE, Reading.of(one(KeyResult::of)));
  }

  /** As {@link FoliotClient#touchKeys}. */
  public CompletableFuture<List<TouchedKey>> touchKeys(String queue, List<String> keys, Duration delay) {
    requireBatch("keys", keys.size());
    keys.forEach(key -> Names.requireName("key", key));
    Durations.requireNotNegative("delay", delay);
    return send("POST", ApiPath.queue(queue).then("/keys:touch"), json -> {
      Json.writeTexts(json, "keys", keys);
      Json.write(json, "delay", delay);
    }, Repeat.ALWAYS, Reading.of(one(json -> json.objects("results").stream().map(TouchedKey::of).toList())));
  }

  private static void requireBatch(String what, int size) {
    if (size < 1 || size > FoliotClient.MAX_BATCH) {
      throw new IllegalArgumentException("one request must have 1 to " + FoliotClient.MAX_BATCH + " " + what
          + ", and is not split: size=" + size);
    }
  }

  /** As {@link FoliotClient#getByKey}. */
  public CompletableFuture<TaskView> getByKey(String queue, String key) {
    return get(ApiPath.key(queue, key), TaskView::of);
  }

  /** As {@link FoliotClient#cancelByKey}. */
  public CompletableFuture<Cancellation> cancelByKey(String queue, String key) {
    return cancel(ApiPath.key(queue, key));
  }

  /** As {@link FoliotClient#listTasks}. */
  public CompletableFuture<TaskPage> listTasks(String queue, TaskQuery query, int limit, @Nullable String cursor) {
    return get(query.on(ApiPath.queue(queue).then("/tasks")).query("limit", limit(limit)).query("cursor", cursor),
        TaskPage::of);
  }

  private static String limit(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be positive: limit=" + limit);
    }
    return Integer.toString(limit);
  }

  /** As {@link FoliotClient#cancelTasks(String, TaskFilter, int, String)}. */
  public CompletableFuture<BulkCancelResult> cancelTasks(String queue, TaskFilter filter, int limit,
      @Nullable String cursor) {
    requireBatch("tasks", limit);
    return send("POST", ApiPath.queue(queue).then("/tasks:cancel"), json -> {
      filter.write(json);
      Json.write(json, "limit", limit);
      Json.write(json, "cursor", cursor);
    }, Repeat.IF_NOT_DONE, Reading.of(one(BulkCancelResult::of)));
  }

  /** As {@link FoliotClient#getTask}. */
  public CompletableFuture<TaskView> getTask(String id) {
    return get(ApiPath.task(id), TaskView::of);
  }

  /** As {@link FoliotClient#explain}. */
  public CompletableFuture<String> explain(String id) {
    return get(ApiPath.task(id).then("/explain"), JsonObject::json);
  }

  /** As {@link FoliotClient#cancel}. */
  public CompletableFuture<Cancellation> cancel(String id) {
    return cancel(ApiPath.task(id));
  }

  private CompletableFuture<Cancellation> cancel(ApiPath path) {
    HttpRequest request = transport.request(path).DELETE().build();
    return transport.call(request, requestTimeout, Repeat.IF_NOT_DONE,
        new Reading<>(one(json -> json.constant("result", Cancellation.values())), Cancellation.NOT_FOUND));
  }

  /** As {@link FoliotClient#runNow}. */
  public CompletableFuture<Void> runNow(String id) {
    return send("POST", ApiPath.task(id).then("/run"), Repeat.NEVER);
  }

  /** As {@link FoliotClient#claim}. */
  public CompletableFuture<List<ClaimedTask>> claim(String queue, ClaimRequest claim) {
    HttpRequest request = transport.request(ApiPath.queue(queue).then("/claims")).header("Content-Type", JSON)
        .POST(body(json -> {
          Json.write(json, "max", claim.max());
          Json.write(json, "wait", claim.pollWait());
          Json.write(json, "lease", claim.lease());
          Json.write(json, "worker", claim.worker());
          Json.write(json, "zone", claim.zone());
        })).build();
    return transport.call(request, claim.pollWait().plus(requestTimeout), Repeat.NEVER,
        Reading.of(one(ClaimedTask::allOf)));
  }

  /** As {@link TaskSource#leave}. */
  CompletableFuture<Void> leave(String queue, String worker) {
    HttpRequest request = transport.request(ApiPath.queue(queue).then("/claims")).header("Content-Type", JSON)
        .POST(body(json -> {
          Json.write(json, "worker", worker);
          json.writeBooleanProperty("leave", true);
        })).build();
    return transport.call(request, requestTimeout, Repeat.NEVER, Reading.NOTHING);
  }

  /** As {@link FoliotClient#ack(Lease)}. */
  public CompletableFuture<Void> ack(Lease lease) {
    return settle(lease, Settlement.ack());
  }

  /** As {@link FoliotClient#ack(Lease, TaskNote)}. */
  public CompletableFuture<Void> ack(Lease lease, TaskNote note) {
    return settle(lease, Settlement.ack().noting(note));
  }

  /** As {@link FoliotClient#ack(Lease, Duration)}. */
  public CompletableFuture<Void> ack(Lease lease, Duration next) {
    return settle(lease, Settlement.again(next));
  }

  /** As {@link FoliotClient#fail}. */
  public CompletableFuture<Void> fail(Lease lease, @Nullable String reason) {
    return settle(lease, new Settlement.Fail(reason));
  }

  /** As {@link FoliotClient#nack(Lease, String, Duration)}. */
  public CompletableFuture<Void> nack(Lease lease, @Nullable String reason, @Nullable Duration delay) {
    return settle(lease, new Settlement.Nack(reason, delay));
  }

  /** As {@link FoliotClient#nack(Lease, String, Duration, TaskNote)}. */
  public CompletableFuture<Void> nack(Lease lease, @Nullable String reason, @Nullable Duration delay, TaskNote note) {
    return settle(lease, new Settlement.Nack(reason, delay).noting(note));
  }

  /** As {@link FoliotClient#settle}. */
  public CompletableFuture<Void> settle(Lease lease, Settlement settlement) {
    return settle(lease, settlement, TaskNote.NONE);
  }

  private CompletableFuture<Void> settle(Lease lease, Settlement settlement, TaskNote note) {
    return switch (settlement) {
      case Settlement.Noted(Settlement end, TaskNote endNote) -> settle(lease, end, endNote);
      case Settlement.Ack() -> settle(lease, "/ack", note, json -> writeGeneration(json, lease));
      case Settlement.Again(Duration after) -> settle(lease, "/ack", note, json -> {
        writeGeneration(json, lease);
        Json.write(json, "next", after);
      });
      case Settlement.RunAgain() -> settle(lease, "/ack", note, json -> {
        writeGeneration(json, lease);
        json.writeBooleanProperty("runAgain", true);
      });
      case Settlement.EndJob() -> settle(lease, "/ack", note, json -> {
        writeGeneration(json, lease);
        json.writeBooleanProperty("endJob", true);
      });
      case Settlement.Nack(String reason, Duration delay) -> settle(lease, "/nack", note, json -> {
        writeReason(json, reason);
        Json.write(json, "delay", delay);
      });
      case Settlement.Fail(String reason) -> settle(lease, "/nack", note, json -> {
        writeReason(json, reason);
        json.writeBooleanProperty("final", true);
      });
      case Settlement.NotBegun(String reason) -> settle(lease, "/nack", note, json -> {
        writeReason(json, reason);
        json.writeBooleanProperty("begun", false);
      });
    };
  }

  private static void writeGeneration(JsonGenerator json, Lease lease) {
    if (lease.generation() != null) {
      json.writeNumberProperty("generation", lease.generation());
    }
  }

  private static void writeReason(JsonGenerator json, @Nullable String reason) {
    Json.write(json, "reason", reason == null ? null : Names.requireWellFormed("reason", reason));
  }

  private CompletableFuture<Void> settle(Lease lease, String route, TaskNote note, Consumer<JsonGenerator> fields) {
    return send("POST", ApiPath.task(lease.taskId()).then(route), json -> {
      lease.write(json);
      fields.accept(json);
      NoteJson.write(json, note);
    }, Repeat.ALWAYS, Reading.NOTHING);
  }

  /** As {@link FoliotClient#extend(Lease, Duration)}. */
  public CompletableFuture<Duration> extend(Lease lease, Duration duration) {
    return extend(lease, duration, TaskNote.NONE);
  }

  /** As {@link FoliotClient#extend(Lease, Duration, TaskNote)}. */
  public CompletableFuture<Duration> extend(Lease lease, Duration duration, TaskNote note) {
    return extend(lease, duration, note, null);
  }

  /** As {@link FoliotClient#extend(Lease, Duration, TaskNote, String)}. */
  public CompletableFuture<Duration> extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker) {
    // Without a note, the call is pointless once the lease has ended. With a note, the call may take the full timeout,
    // so that the note is stored.
    boolean isShort = note.equals(TaskNote.NONE) && duration.compareTo(requestTimeout) < 0;
    return extend(lease, duration, fields(note, worker), isShort ? duration : requestTimeout);
  }

  /**
   * Extends a lease, within a time limit that covers all requests of the call.
   *
   * @param within how long the call may take; the future then fails with a {@link TimeoutException}
   */
  CompletableFuture<Duration> extendWithin(Lease lease, Duration duration, TaskNote note, @Nullable String worker,
      Duration within) {
    return extend(lease, duration, fields(note, worker), within.compareTo(requestTimeout) < 0 ? within : requestTimeout)
        .orTimeout(TimeUnit.NANOSECONDS.convert(within), TimeUnit.NANOSECONDS);
  }

  private static Consumer<JsonGenerator> fields(TaskNote note, @Nullable String worker) {
    return json -> {
      Json.write(json, "worker", worker);
      NoteJson.write(json, note);
    };
  }

  private CompletableFuture<Duration> extend(Lease lease, Duration duration, Consumer<JsonGenerator> more,
      Duration timeout) {
    Durations.requirePositive("lease", duration);
    HttpRequest request = transport.request(ApiPath.task(lease.taskId()).then("/extend"))
        .header("Content-Type", JSON).POST(body(json -> {
          lease.write(json);
          Json.write(json, "lease", duration);
          more.accept(json);
        })).build();
    return transport.call(request, timeout, Repeat.ALWAYS, Reading.of(body -> {
      JsonObject answer = JsonObject.parse(body);
      return answer.has("leaseMillis") ? Duration.ofMillis(answer.number("leaseMillis")) : duration;
    }));
  }

  /** As {@link FoliotClient#redrive(String, int)}. */
  public CompletableFuture<BulkRedriveResult> redrive(String queue, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be positive: limit=" + limit);
    }
    return redrive(queue, json -> Json.write(json, "limit", limit));
  }

  /** As {@link FoliotClient#redrive(String, List)}. */
  public CompletableFuture<BulkRedriveResult> redrive(String queue, List<String> ids) {
    requireBatch("ids", ids.size());
    ids.forEach(id -> Names.requireName("id", id));
    return redrive(queue, json -> Json.writeTexts(json, "ids", ids));
  }

  private CompletableFuture<BulkRedriveResult> redrive(String queue, Consumer<JsonGenerator> fields) {
    return send("POST", ApiPath.queue(queue).then("/redrive"), fields, Repeat.NEVER,
        Reading.of(one(BulkRedriveResult::of)));
  }

  /** As {@link FoliotClient#workers}. */
  public CompletableFuture<List<WorkerView>> workers() {
    return get(ApiPath.workers(), json -> json.objects("workers").stream().map(WorkerView::of).toList());
  }

  /** As {@link FoliotClient#enableWorker}. */
  public CompletableFuture<WorkerView> enableWorker(String worker) {
    return actOn(worker, "/enable");
  }

  /** As {@link FoliotClient#disableWorker}. */
  public CompletableFuture<WorkerView> disableWorker(String worker) {
    return actOn(worker, "/disable");
  }

  private CompletableFuture<WorkerView> actOn(String worker, String act) {
    HttpRequest request = transport.request(ApiPath.worker(worker).then(act)).POST(BodyPublishers.noBody()).build();
    return transport.call(request, requestTimeout, Repeat.ALWAYS, Reading.of(one(WorkerView::of)));
  }

  /** As {@link FoliotClient#cluster}. */
  public CompletableFuture<String> cluster() {
    return get(ApiPath.cluster(), JsonObject::json);
  }

  Transport transport() {
    return transport;
  }
}
