package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.api.TaskNote;
import io.foliot.client.ClaimRequest;
import io.foliot.client.ClaimedTask;
import io.foliot.client.Lease;
import io.foliot.client.LeaseLostException;
import io.foliot.client.Payload;
import io.foliot.client.Settlement;
import io.foliot.client.TaskSource;
import io.foliot.core.Scheduler;
import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A source of tasks over an engine in this process. It makes the calls that a server makes for a remote worker. */
final class EngineTaskSource implements TaskSource {
  private static final System.Logger LOG = System.getLogger(EngineTaskSource.class.getName());
  private static final String JSON = "application/json";

  private final Scheduler engine;
  private final RecurringJobs jobs;
  private final BooleanSupplier isClosed;

  EngineTaskSource(Scheduler engine, RecurringJobs jobs, BooleanSupplier isClosed) {
    this.engine = engine;
    this.jobs = jobs;
    this.isClosed = isClosed;
  }

  @Override
  public CompletableFuture<List<ClaimedTask>> claim(String queue, ClaimRequest request) {
    String worker = request.worker();
    String zone = request.zone();
    CompletableFuture<Scheduler.Pulled> pulled = Stages.call(() -> engine.pull(new Scheduler.Pull(queue, request.max(),
        request.pollWait().toMillis(), request.lease().toMillis(), worker == null ? "" : worker,
        zone == null ? "" : zone), CompletableFuture.completedFuture(null))).toCompletableFuture();
    CompletableFuture<List<ClaimedTask>> claimed = pulled
        .thenApply(EngineTaskSource::claimed);
    CompletableFuture<Void> unused = pulled.thenAccept(answer -> {
      if (claimed.isCancelled()) {
        // The worker stopped while the claim was under way, and will not run these tasks.
        answer.tasks().forEach(this::giveBack);
      }
    });
    return claimed;
  }

  private void giveBack(TaskRecord task) {
    CompletableFuture<?> unused = engine
        .giveBack(task.id(), requireNonNull(task.token()), "the worker has stopped")
        .exceptionally(failure -> {
          LOG.log(System.Logger.Level.DEBUG, "a task was not given back; it is repeated when its lease ends: task="
              + task.id(), failure);
          return null;
        });
  }

  private static List<ClaimedTask> claimed(Scheduler.Pulled answer) {
    Duration leasedFor = Duration.ofMillis(answer.leaseMillis());
    return answer.tasks().stream().map(task -> claimed(task, leasedFor)).toList();
  }

  private static ClaimedTask claimed(TaskRecord task, Duration leasedFor) {
    Body body = task.body();
    return new ClaimedTask(task.id().toString(), task.queue(), task.key(), task.generation(), task.attempt(),
        Instant.ofEpochMilli(task.dueAt()), requireNonNull(task.token()).toString(),
        Instant.ofEpochMilli(task.leaseEnd()), leasedFor, payload(body), body.headers(), task.note());
  }

  private static @Nullable Payload payload(Body body) {
    if (body.payload().length == 0) {
      return null;
    }
    if (isJson(body.contentType())) {
      try {
        return Payload.json(new String(body.payload(), UTF_8)).withContentType(body.contentType());
      } catch (IllegalArgumentException e) {
        // The submitter declared JSON, but the bytes are not JSON: the handler gets them unchanged.
        return Payload.bytes(body.payload(), body.contentType());
      }
    }
    return Payload.bytes(body.payload(), body.contentType());
  }

  private static boolean isJson(String contentType) {
    String type = contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return type.equals(JSON) || type.equals("text/json") || type.endsWith("+json");
  }

  @Override
  public CompletableFuture<Duration> extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker,
      Duration within) {
    TaskId id = TaskId.parse(lease.taskId());
    WorkerId caller = worker == null ? WorkerId.ANONYMOUS : WorkerId.of(worker);
    return engine.extend(id, Token.parse(lease.token()), duration, note, caller)
        .copy().orTimeout(TimeUnit.NANOSECONDS.convert(within), TimeUnit.NANOSECONDS)
        .thenApply(result -> extended(result, id));
  }

  private static Duration extended(Scheduler.Extended result, TaskId id) {
    return switch (result.kind()) {
      case NOT_FOUND, STALE -> throw stale(id);
      case CANCELLED -> throw new LeaseLostException(
          "the task was cancelled, and its lease is not extended; stop the work: id=" + id, true);
      case EXTENDED -> Duration.ofMillis(result.leaseMillis());
    };
  }

  private static LeaseLostException stale(TaskId id) {
    return new LeaseLostException(
        "the token is no longer valid, so the report has no effect: its lease has ended, or"
            + " its attempt had already ended; drop the work: id=" + id,
        false);
  }

  @Override
  public CompletableFuture<Void> settle(Lease lease, Settlement settlement) {
    TaskId id = TaskId.parse(lease.taskId());
    return settle(id, Token.parse(lease.token()), settlement, io.foliot.api.TaskNote.NONE)
        .thenAccept(result -> {
          switch (result.kind()) {
            case NOT_FOUND, STALE -> throw stale(id);
            case SETTLED, REPEATED -> {
            }
          }
        });
  }

  private CompletableFuture<SettleResult> settle(TaskId id, Token token, Settlement settlement,
      io.foliot.api.TaskNote note) {
    return switch (settlement) {
      case Settlement.Noted(Settlement end, TaskNote endNote) -> settle(id, token, end, endNote);
      case Settlement.Ack() -> engine.ack(id, token, null, note);
      case Settlement.Again(Duration after) -> engine.ack(id, token, after, note);
      case Settlement.RunAgain() ->
        engine.ack(id, token, null, note.marked(io.foliot.api.TaskNote.Mark.RUN_AGAIN));
      case Settlement.EndJob() -> engine.ack(id, token, null, note.marked(io.foliot.api.TaskNote.Mark.END_JOB));
      case Settlement.Nack(String reason, Duration delay) ->
        engine.nack(id, token, delay, reason == null ? "" : reason, note);
      case Settlement.Fail(String reason) -> engine.fail(id, token, reason == null ? "" : reason, note);
      case Settlement.NotBegun(String reason) -> engine.notBegun(id, token, reason == null ? "" : reason, note);
    };
  }

  @Override
  public void declare(Job job) {
    var unused = jobs.declare(job);
  }

  @Override
  public CompletableFuture<Void> leave(String queue, String worker) {
    engine.left(WorkerId.of(worker), queue);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public boolean isClosed() {
    return isClosed.getAsBoolean();
  }
}
