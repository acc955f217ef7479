package io.foliot.server.api;

import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler;
import io.foliot.core.Scheduler.NotServingException;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.QueueInUseException;
import io.foliot.core.Scheduler.TooManyWorkersException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bridge between requests and the scheduler: waits for calls, and turns exceptions of the scheduler into problems.
 * Safe for use by any thread; the threads that wait are virtual.
 *
 * <p>If a wait had a time limit, it would set a timer, which wakes the thread that runs the timers of all virtual
 * threads. A submit took 45 us of processor time with a time limit, and 34 us without. Therefore calls wait without a
 * time limit, and one thread regularly checks which calls have waited too long.
 */
final class SchedulerBridge implements AutoCloseable {
  private static final long CHECK_MILLIS = 50;
  /** Time after which the caller of a call that waits is checked. Most claims find a task sooner. */
  private static final long CHECKED_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS);
  private static final Logger log = LoggerFactory.getLogger(SchedulerBridge.class);
  /** Shortest time between two log entries. An unreachable store fails each call for the same reason. */
  private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  /**
   * Hint that replaces the reason in an answer. The reason may name hosts, users and files that not every caller may
   * see.
   */
  private static final String IN_THE_LOG = "The server's log has the reason";

  private final long timeoutMillis;
  private final Set<Wait<?>> waits = ConcurrentHashMap.newKeySet();
  private final Thread watch;
  private final AtomicLong loggedNanos = new AtomicLong(System.nanoTime() - LOG_EVERY_NANOS);

  SchedulerBridge(Duration timeout) {
    timeoutMillis = timeout.toMillis();
    watch = Thread.ofPlatform().daemon().name("foliot-call-limits").start(this::watch);
  }

  /** A call that a thread waits for; it is compared by identity. */
  private static final class Wait<T> {
    final CompletableFuture<T> answer;
    final long beginNanos;
    final long deadlineNanos;
    final @Nullable Runnable check;

    Wait(CompletableFuture<T> answer, long beginNanos, long deadlineNanos, @Nullable Runnable check) {
      this.answer = answer;
      this.beginNanos = beginNanos;
      this.deadlineNanos = deadlineNanos;
      this.check = check;
    }
  }

  private void watch() {
    while (!Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS));
      long now = System.nanoTime();
      for (Wait<?> wait : waits) {
        if (now - wait.deadlineNanos >= 0) {
          wait.answer.completeExceptionally(new TimeoutException());
        } else if (wait.check != null && now - wait.beginNanos >= CHECKED_AFTER_NANOS) {
          wait.check.run();
        }
      }
    }
  }

  /** Checks the callers of all calls that wait, because an API key was added or removed. */
  void checkCallers() {
    waits.forEach(wait -> {
      if (wait.check != null) {
        wait.check.run();
      }
    });
  }

  /**
   * Waits for a read, and returns its result.
   *
   * @throws RuntimeException the {@linkplain #problem problem} if the read fails or takes too long
   */
  <T> T read(CompletableFuture<T> call) {
    return await(call, timeoutMillis, false, null);
  }

  /** Returns a queue as this node knows it, else as the store has it; empty if the store has no such queue. */
  Optional<QueueConfig> find(Scheduler scheduler, String queue) {
    Optional<QueueConfig> known = scheduler.queue(queue);
    return known.isPresent() ? known : read(scheduler.findQueue(queue));
  }

  /** Throws the problem of an {@linkplain #unknownQueue unknown queue} if the queue does not exist. */
  void ensureKnown(Scheduler scheduler, String queue) {
    if (find(scheduler, queue).isEmpty()) {
      throw unknownQueue(queue);
    }
  }

  /**
   * Waits for a write, and returns its result.
   *
   * @throws RuntimeException the {@linkplain #problem problem} if the write fails or takes too long
   */
  <T> T write(CompletableFuture<T> call) {
    return await(call, timeoutMillis, true, null);
  }

  /** Waits for a write that may take {@code extraMillis} longer than other calls, and returns its result. */
  <T> T write(CompletableFuture<T> call, long extraMillis) {
    return await(call, timeoutMillis + extraMillis, true, null);
  }

  /**
   * Waits for a write as {@link #write(CompletableFuture, long)} does, for a caller that may go away meanwhile.
   *
   * @param check is called from time to time during the wait, by another thread; must not throw or block
   */
  <T> T write(CompletableFuture<T> call, long extraMillis, Runnable check) {
    return await(call, timeoutMillis + extraMillis, true, check);
  }

  private <T> T await(CompletableFuture<T> call, long millis, boolean writes, @Nullable Runnable check) {
    try {
      return call.isDone() ? call.get() : limited(call, millis, check);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof TimeoutException) {
        throw writes
            ? unknown("no answer within " + millis + " ms")
            : unavailable("no answer within " + millis + " ms");
      }
      logStoreFailure(cause);
      throw problem(cause == null ? e : cause, writes);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw writes ? unknown("the server stops") : unavailable("the server stops");
    }
  }

  private void logStoreFailure(@Nullable Throwable cause) {
    long last = loggedNanos.get();
    long now = System.nanoTime();
    if (cause instanceof StoreException && now - last >= LOG_EVERY_NANOS && loggedNanos.compareAndSet(last, now)) {
      log.warn("calls fail because of the store: reason={}", cause.getMessage());
    }
  }

  private <T> T limited(CompletableFuture<T> call, long millis, @Nullable Runnable check)
      throws ExecutionException, InterruptedException {
    long now = System.nanoTime();
    Wait<T> wait = new Wait<>(call.copy(), now, now + TimeUnit.MILLISECONDS.toNanos(millis), check);
    waits.add(wait);
    try {
      return wait.answer.get();
    } finally {
      waits.remove(wait);
    }
  }

  @Override
  public void close() {
    watch.interrupt();
  }

  /**
   * Returns the problem that answers a call which has failed. An unexpected {@link RuntimeException} is returned
   * unchanged, and an {@link Error} is thrown.
   *
   * @param writes whether the call is a write, which may have taken effect
   */
  static RuntimeException problem(Throwable failure, boolean writes) {
    return switch (failure) {
      case CompletionException wrapped when wrapped.getCause() != null -> problem(wrapped.getCause(), writes);
      case Problem problem -> problem;
      case UnknownQueueException unknown -> unknownQueue(unknown.queue());
      case QueueInUseException inUse -> new Problem(ProblemKind.QUEUE_IN_USE,
          inUse.getMessage() + "; cancel them or wait until they have ended (pause keeps new attempts from beginning)");
      case TooManyWorkersException tooMany -> new Problem(ProblemKind.TOO_MANY_WORKERS,
          "this API key has its share of the"
              + " workers that this server can know: " + tooMany.known()
              + "; leave out the field \"worker\", or give each process one name and keep it")
          .withHeader("Retry-After", "2");
      case NotServingException away -> new Problem(ProblemKind.NOT_READY,
          away.getMessage() + "; nothing was done").withHeader("Retry-After", "1");
      case OverloadedException overloaded -> new Problem(ProblemKind.OVERLOADED,
          overloaded.getMessage() + "; nothing was done, try again later").withHeader("Retry-After", "1");
      case StoreFullException full -> new Problem(ProblemKind.STORE_FULL, "the store is full, and nothing was"
          + " written: make room where the store keeps its data, then repeat the call. Tasks that are in the store"
          + " continue while there is room for the ends of their attempts. " + IN_THE_LOG);
      case StoreAwayException away -> unavailable("the store cannot be reached; nothing was done. " + IN_THE_LOG);
      case StoreException away -> writes
          ? unknown("the store failed, or its answer was lost. " + IN_THE_LOG)
          : unavailable("the store failed, or its answer was lost. " + IN_THE_LOG);
      case IllegalArgumentException refused -> new Problem(ProblemKind.INVALID_REQUEST, refused.getMessage() + "");
      case RuntimeException other -> other;
      case Error error -> throw error;
      default -> new CompletionException(failure);
    };
  }

  /**
   * Returns the problem of a queue that the caller's key does not cover. The problem does not reveal whether the queue
   * exists.
   */
  static Problem uncoveredQueue(String queue) {
    return new Problem(ProblemKind.UNKNOWN_QUEUE, "this API key covers no queue " + JsonIn.shown(queue)
        + ": GET /v1/queues lists the queues that it covers; POST /v1/keys creates a key for other queues");
  }

  static Problem unknownQueue(String queue) {
    String shown = JsonIn.shown(queue);
    return new Problem(ProblemKind.UNKNOWN_QUEUE, "there is no queue " + shown + "; create it first: PUT /v1/queues/"
        + shown + " {\"delivery\": {\"type\": \"http\", \"url\": \"...\"}}").with("queue", shown);
  }

  private static Problem unknown(String reason) {
    return new Problem(ProblemKind.UNKNOWN_OUTCOME, reason
        + "; the call may or may not have taken effect: read the task, or repeat the call"
        + " if it has a key or an Idempotency-Key");
  }

  private static Problem unavailable(String reason) {
    return new Problem(ProblemKind.STORE_UNAVAILABLE, reason + "; try again later").withHeader("Retry-After", "1");
  }
}
