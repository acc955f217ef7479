package io.foliot;

import io.foliot.api.Cancellation;
import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.Scheduler.ClusterStatus;
import io.foliot.core.Submission;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.TouchResult;
import io.foliot.engine.Engine;
import io.foliot.jobs.JobHost;
import io.foliot.jobs.JobPlanner;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A backend over an engine in this process. Safe for use by any thread. */
final class EngineBackend implements Backend {
  /** Longest wait for an interrupted handler to end, and for the store to record the end of its attempt. */
  private static final Duration INTERRUPTED_WAIT = Duration.ofSeconds(1);

  /** Number of queues that the log line of a start names at most. */
  private static final int SHOWN_QUEUES = 20;

  private static final System.Logger LOG = System.getLogger(EngineBackend.class.getName());

  private final Engine engine;
  private final TaskStore store;
  private final LocalDelivery handlers;
  private final RecurringJobs jobs;
  private final Driver driver;
  private final OwnWorkers workers;
  private final Duration patience;
  private final Set<String> handled = ConcurrentHashMap.newKeySet();
  private volatile boolean isClosed;

  /**
   * Creates a backend over an engine. The caller starts the engine.
   *
   * @param store the store of the engine; {@link #close} closes the store and the driver
   * @param workers the workers of this process; {@link #close} stops them
   * @param patience how long a close waits for handlers before it interrupts them
   */
  EngineBackend(Engine engine, TaskStore store, LocalDelivery handlers, JobPlanner planner, Driver driver,
      OwnWorkers workers, Duration patience) {
    this.engine = engine;
    this.store = store;
    this.handlers = handlers;
    this.driver = driver;
    this.workers = workers;
    this.patience = patience;
    // One object for all callers, because it counts the jobs that this process creates.
    jobs = new RecurringJobs(planner.jobs(JobHost.of(engine::write, engine::findQueue, JobHost.MAX_JOBS)), this,
        engine::findQueue);
  }

  /** Starts the engine. */
  CompletableFuture<Void> start() {
    return engine.start().thenRun(() -> {
      ClusterStatus status = engine.cluster();
      List<String> queues = engine.queueNames();
      LOG.log(System.Logger.Level.INFO, "Foliot is open: node=" + status.node()
          + (status.zone().isEmpty() ? "" : ", zone=" + status.zone()) + ", store=" + status.storeKind()
          + ", durability=" + status.durability().durabilityClass() + ", slots=" + status.slotCount() + ", queues="
          + queues.stream().limit(SHOWN_QUEUES).toList()
          + (queues.size() <= SHOWN_QUEUES ? "" : ", moreQueues=" + (queues.size() - SHOWN_QUEUES)));
    });
  }

  @Override
  public <R> R await(CompletableFuture<R> call) {
    return driver.await(call);
  }

  @Override
  public RecurringJobs jobs() {
    return jobs;
  }

  @Override
  public Workers workers() {
    FoliotBuilder.ensureClientPresent();
    return new EngineWorkers(engine, this, workers, () -> isClosed);
  }

  @Override
  public void putQueue(String queue, UnaryOperator<QueueConfig> change) {
    Limits.ensureQueueName(queue);
    Optional<QueueConfig> found = await(engine.findQueue(queue));
    if (found.isEmpty()) {
      await(engine.putQueue(change.apply(QueueConfig.of(queue, Target.local()))));
    } else if (!change.apply(found.get()).equals(found.get())) {
      await(engine.changeQueue(queue, change));
    }
  }

  @Override
  public void handle(String queue, RawHandler handler) {
    String type = await(engine.findQueue(queue)).map(found -> found.target().type()).orElse(Target.LOCAL);
    if (!type.equals(Target.LOCAL)) {
      throw new IllegalStateException("a handler needs a queue whose tasks are delivered to handlers, but the tasks"
          + " of " + queue + " are delivered by " + type + ": use another queue, or set its target to local");
    }
    if (!handled.add(queue)) {
      throw Backend.secondHandler(queue);
    }
    handlers.handle(queue, attempt -> {
      EngineAttempt run = new EngineAttempt(attempt, note -> send(attempt, note));
      try {
        handler.handle(attempt.task().body().payload(), run);
        return run.answer();
      } catch (Throwable e) {
        throw run.failed(e);
      }
    });
  }

  /** Stores a note. The end of the attempt stores the note again, so a failure here only delays the note. */
  private CompletableFuture<?> send(DeliveryAttempt attempt, TaskNote note) {
    Token token = Objects.requireNonNull(attempt.task().token());
    return engine.extend(attempt.task().id(), token, Duration.ofMillis(1), note).exceptionally(failure -> {
      LOG.log(System.Logger.Level.DEBUG,
          "a note was not stored; the next note includes it: task=" + attempt.task().id(),
          failure);
      return null;
    });
  }

  @Override
  public CompletableFuture<Submitted> submit(Submission submission) {
    return engine.submit(submission).thenApply(EngineBackend::submitted);
  }

  static Submitted submitted(SubmitResult result) {
    Submitted.Result kind = switch (result.kind()) {
      case CREATED -> Submitted.Result.CREATED;
      case RESET -> Submitted.Result.RESET;
      case RESET_PENDING -> Submitted.Result.RESET_PENDING;
      case KEPT -> Submitted.Result.KEPT;
      case REJECTED -> Submitted.Result.REJECTED;
      case REPEATED -> Submitted.Result.REPEATED;
      case MISMATCHED -> Submitted.Result.MISMATCHED;
      case CHANGED -> throw new IllegalStateException(
          "a submit without an expected generation cannot be refused as CHANGED: " + result);
    };
    return new Submitted(kind, result.id().toString(), result.generation(), Instant.ofEpochMilli(result.dueAt()));
  }

  @Override
  public CompletableFuture<Boolean> touch(String queue, String key, Duration delay) {
    return engine.touch(queue, List.of(key), delay).thenApply(results -> touched(results.getFirst()));
  }

  static boolean touched(TouchResult result) {
    return result.kind() == TouchResult.Kind.RESET || result.kind() == TouchResult.Kind.RESET_PENDING;
  }

  @Override
  public CompletableFuture<Cancellation> cancel(String queue, String key) {
    return engine.cancel(new TaskRef.ByKey(queue, key)).thenApply(CancelResult::kind);
  }

  @Override
  public InTransaction with(Connection transaction) {
    // The module of the JDBC stores is optional, and its classes may be absent.
    if (!FoliotBuilder.isPresent(FoliotBuilder.JDBC_STORE)) {
      throw noTransaction(store);
    }
    return JdbcTransaction.of(engine, store, transaction);
  }

  /** Returns the exception for a store that cannot take part in a transaction. */
  static UnsupportedOperationException noTransaction(TaskStore store) {
    return new UnsupportedOperationException("a transaction needs tasks that are stored in its database: open them with"
        + " Foliot.on(dataSource); these tasks are stored by " + store.kind());
  }

  /** Stops the workers, and then the engine. The patience is the limit for both together. */
  @Override
  public void close() {
    long begunNanos = System.nanoTime();
    try {
      workers.stop(patience);
      isClosed = true;
      long leftNanos = Math.max(0, TimeUnit.NANOSECONDS.convert(patience) - (System.nanoTime() - begunNanos));
      CompletableFuture<Void> stop = engine.stop(Duration.ofNanos(leftNanos).plus(INTERRUPTED_WAIT));
      CompletableFuture<Void> unused = stop.copy().orTimeout(leftNanos, TimeUnit.NANOSECONDS)
          .exceptionally(late -> {
            handlers.interruptHandlers();
            return null;
          });
      driver.awaitStop(stop);
    } finally {
      try {
        store.close();
      } finally {
        driver.close();
      }
    }
  }
}
