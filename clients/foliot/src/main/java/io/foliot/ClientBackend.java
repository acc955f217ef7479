package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Field;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.client.AsyncFoliotClient;
import io.foliot.client.ClaimedTask;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.JobWorker;
import io.foliot.client.KeyOutcome;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.QueuePatch;
import io.foliot.client.Settlement;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskHandler;
import io.foliot.client.TaskView;
import io.foliot.client.Worker;
import io.foliot.core.Submission;
import io.foliot.core.delivery.FailureLog;
import java.net.URI;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A backend that calls a server over HTTP. Handlers need pull queues: a {@link Worker} of this process claims the tasks
 * and runs the handler. Safe for use by any thread.
 */
final class ClientBackend implements Backend {
  private static final System.Logger LOG = System.getLogger(ClientBackend.class.getName());
  /** Shortest lease that a call may request. The server never shortens a lease. */
  private static final Duration LEAST_LEASE = Duration.ofMillis(1);
  private static final String PULL = "pull";
  private static final String JSON = "application/json";
  private static final String UNKNOWN_QUEUE = "urn:foliot:problem:unknown-queue";
  private static final String KEY_IN_USE = "urn:foliot:problem:key-in-use";
  private static final String MISMATCH = "urn:foliot:problem:idempotency-mismatch";
  private static final int FORBIDDEN = 403;
  /**
   * Maximum number of concurrent attempts of one queue in this process. The server also enforces the limit that the
   * queue has.
   */
  private static final int CONCURRENCY = 1_000;
  /** Longest wait for an interrupted handler to end, and for the server to record the end of its attempt. */
  private static final Duration INTERRUPTED_WAIT = Duration.ofSeconds(1);
  /** Longest wait of one claim for tasks. It is short, because a close waits for the claim that is under way. */
  private static final Duration POLL_WAIT = Duration.ofSeconds(1);

  private final FoliotClient client;
  private final AsyncFoliotClient calls;
  private final String name;
  private final String zone;
  private final Duration patience;
  /** The handlers by queue. Guarded by this. */
  private final Map<String, Handled> handled = new HashMap<>();
  private final OwnWorkers workers;
  private boolean isClosed;

  private ClientBackend(FoliotClient client, String name, String zone, Duration patience) {
    this.client = client;
    this.name = name;
    this.zone = zone;
    this.patience = patience;
    workers = new OwnWorkers(name, zone);
    calls = client.async();
  }

  /**
   * Returns a backend for a server, once the server has answered and has accepted the key.
   *
   * @param patience how long a close waits for handlers before it interrupts them
   */
  static ClientBackend connect(URI server, @Nullable String apiKey, String name, String zone, Duration patience) {
    FoliotClient.Builder builder = FoliotClient.builder(server);
    if (apiKey != null) {
      builder.apiKey(apiKey);
    }
    FoliotClient client = builder.build();
    try {
      client.cluster();
    } catch (FoliotException e) {
      // 403: the key is valid, but has fewer rights than this call needs.
      if (e.status() != FORBIDDEN) {
        client.close();
        throw e;
      }
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
    return new ClientBackend(client, name, zone, patience);
  }

  @Override
  public <R> R await(CompletableFuture<R> call) {
    return ThreadDriver.waitFor(call);
  }

  @Override
  public void putQueue(String queue, UnaryOperator<QueueConfig> change) {
    Limits.ensureQueueName(queue);
    QueueConfig standard = QueueConfig.of(queue, Target.pull());
    QueueConfig before;
    try {
      before = client.getQueue(queue).settings();
    } catch (FoliotException e) {
      if (e.type().equals(UNKNOWN_QUEUE)) {
        client.putQueue(change.apply(standard));
        return;
      }
      if (e.status() != FORBIDDEN) {
        throw e;
      }
      // A key that may not read the queue may not create it either, but may use it. The server decides on a change.
      before = standard;
    }
    QueueConfig after = change.apply(before);
    if (!after.equals(before)) {
      client.patchQueue(queue, patch(before, after));
    }
  }

  private static QueuePatch patch(QueueConfig before, QueueConfig after) {
    QueuePatch.Builder patch = QueuePatch.builder();
    for (Field<?> field : after.values().difference(before.values())) {
      if (field == QueueFields.DELIVERY) {
        patch.timeout(after.target().timeout());
      } else {
        set(patch, field, after);
      }
    }
    return patch.build();
  }

  private static <T> void set(QueuePatch.Builder patch, Field<T> field, QueueConfig queue) {
    patch.set(field, queue.values().get(field));
  }

  @Override
  public RecurringJobs jobs() {
    throw new UnsupportedOperationException(
        "the jobs of a server are created by FoliotClient.putJob, or by the command: foliot"
            + " jobs put NAME --queue QUEUE --cron EXPRESSION; their tasks reach the handlers of this application");
  }

  @Override
  public Workers workers() {
    return queue -> {
      putQueue(queue, UnaryOperator.identity());
      ensurePullQueue("worker", queue);
      return workers.owned(JobWorker.builder(client, queue));
    };
  }

  private void ensurePullQueue(String what, String queue) {
    String type = client.getQueue(queue).settings().target().type();
    if (!type.equals(PULL)) {
      throw new IllegalStateException("a " + what + " of a connected application needs a queue that workers pull from,"
          + " but the tasks of " + queue + " are delivered by " + type
          + ": use another queue, or set the delivery of this queue to pull");
    }
  }

  @Override
  public synchronized void handle(String queue, RawHandler handler) {
    if (isClosed) {
      throw new IllegalStateException("Foliot is closed: queue=" + queue);
    }
    ensurePullQueue("handler", queue);
    if (handled.containsKey(queue)) {
      throw Backend.secondHandler(queue);
    }
    handled.put(queue, new Handled(queue, handler));
  }

  /** A queue with its handler, and the worker that runs the handler. */
  private final class Handled {
    private final RawHandler handler;
    private final FailureLog failures;
    private final Worker worker;

    Handled(String queue, RawHandler handler) {
      this.handler = handler;
      failures = new FailureLog(LOG, queue, System.nanoTime());
      TaskHandler run = this::run;
      Worker.Builder settings = Worker.builder(client, queue, run).name(name).pollWait(POLL_WAIT)
          .concurrency(CONCURRENCY);
      worker = (zone.isEmpty() ? settings : settings.zone(zone)).start();
    }

    private Settlement run(ClaimedTask task) {
      ClientAttempt attempt = new ClientAttempt(task, note -> send(task, note));
      Payload payload = task.payload();
      try {
        handler.handle(payload == null ? new byte[0] : payload.toBytes(), attempt);
        return attempt.settlement();
      } catch (Throwable e) {
        failures.failed(task.id(), task.key(), task.attempt(), e, System.nanoTime());
        return attempt.failed(e);
      }
    }

    /** Waits for the running handlers, and interrupts those that do not end in time. */
    void stop() {
      try {
        if (!worker.stop(patience) && !worker.stop(INTERRUPTED_WAIT)) {
          LOG.log(System.Logger.Level.WARNING,
              "handlers did not end in time; their attempts are repeated when their leases end: patience="
                  + patience);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Stores a note by an extension that is too short to change the lease. The end of the attempt stores the note again,
   * so a failure here only delays the note.
   */
  private CompletableFuture<?> send(ClaimedTask task, TaskNote note) {
    return calls.extend(task.lease(), LEAST_LEASE, note).exceptionally(failure -> {
      LOG.log(System.Logger.Level.DEBUG, "a note was not stored; the next note includes it: task=" + task.id(),
          failure);
      return null;
    });
  }

  @Override
  public CompletableFuture<Submitted> submit(Submission submission) {
    return calls.submit(submission.queue(), task(submission)).thenApply(ClientBackend::submitted)
        .exceptionallyCompose(
            failure -> refused(failure instanceof CompletionException ? failure.getCause() : failure));
  }

  private static NewTask task(Submission submission) {
    NewTask.Builder task = NewTask.builder();
    if (submission.delay() != null) {
      task.delay(submission.delay());
    } else if (submission.dueAt() != null) {
      task.dueAt(submission.dueAt());
    }
    Body body = submission.body();
    if (body != null) {
      task.payload(payload(body)).headers(body.headers());
    }
    return task.key(submission.key()).maxAttempts(submission.maxAttempts() == 0 ? null : submission.maxAttempts())
        .onConflict(OnConflict.valueOf(submission.onConflict().name())).idempotencyKey(submission.idempotencyKey())
        .build();
  }

  private static Payload payload(Body body) {
    return body.contentType().equals(JSON)
        ? Payload.json(new String(body.payload(), UTF_8))
        : Payload.bytes(body.payload(), body.contentType());
  }

  private static Submitted submitted(SubmittedTask task) {
    Submitted.Result result = switch (task.result()) {
      case CREATED -> Submitted.Result.CREATED;
      case RESET -> Submitted.Result.RESET;
      case RESET_PENDING -> Submitted.Result.RESET_PENDING;
      case KEPT -> Submitted.Result.KEPT;
      case REPEATED -> Submitted.Result.REPEATED;
      case NOT_FOUND -> throw unknown("a submit of task " + task.id(), task.result());
    };
    return new Submitted(result, task.id(), task.generation(), task.dueAt());
  }

  /** Returns the exception for a result that this version does not know or that the call cannot have. */
  private static IllegalStateException unknown(String call, Enum<?> result) {
    return new IllegalStateException("the server performed " + call + ", but this version of the client cannot decode"
        + " the result; update io.foliot:foliot-client: result=" + result);
  }

  /** Converts a refusal to a result if a key or an idempotency key caused it. Any other failure fails the future. */
  private CompletableFuture<Submitted> refused(@Nullable Throwable failure) {
    if (failure instanceof FoliotException refusal) {
      String id = refusal.problem().members().get("id");
      if (id != null && refusal.type().equals(KEY_IN_USE)) {
        return calls.getTask(id).thenApply(task -> refused(Submitted.Result.REJECTED, task));
      }
      if (id != null && refusal.type().equals(MISMATCH)) {
        return calls.getTask(id).thenApply(task -> refused(Submitted.Result.MISMATCHED, task));
      }
    }
    return CompletableFuture.failedFuture(failure == null ? new IllegalStateException("no cause") : failure);
  }

  private static Submitted refused(Submitted.Result result, TaskView task) {
    return new Submitted(result, task.id(), task.generation(), task.dueAt());
  }

  @Override
  public CompletableFuture<Boolean> touch(String queue, String key, Duration delay) {
    return calls.touchKeys(queue, List.of(key), delay).thenApply(results -> {
      KeyOutcome outcome = results.getFirst().result();
      return switch (outcome) {
        case RESET, RESET_PENDING -> true;
        case NOT_FOUND -> false;
        case CREATED, KEPT, REPEATED -> throw unknown("a touch of key " + key, outcome);
      };
    });
  }

  @Override
  public CompletableFuture<Cancellation> cancel(String queue, String key) {
    return calls.cancelByKey(queue, key);
  }

  @Override
  public InTransaction with(Connection transaction) {
    throw new UnsupportedOperationException("a transaction needs tasks that are stored in its database: open them with"
        + " Foliot.on(dataSource); these tasks are stored by a server");
  }

  /** Stops all workers at the same time, and interrupts handlers that do not end within the patience. */
  @Override
  public void close() {
    List<Thread> stops = new ArrayList<>();
    // The lock is not held while handlers end, because a handler may need it.
    synchronized (this) {
      isClosed = true;
      handled.values().forEach(queue -> stops.add(Thread.startVirtualThread(queue::stop)));
    }
    stops.add(Thread.startVirtualThread(() -> workers.stop(patience)));
    try {
      for (Thread stop : stops) {
        stop.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close();
  }
}
