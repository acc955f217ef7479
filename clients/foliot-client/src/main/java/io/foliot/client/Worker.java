package io.foliot.client;

import io.foliot.api.TaskNote;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of a pull queue. The worker claims no more tasks than it may run concurrently, and runs the handler of
 * each task on a virtual thread. It extends the lease while the handler runs, and settles the attempt afterwards. While
 * the server cannot be reached, the worker repeats its claims with growing pauses. It also repeats the report of an
 * attempt's end, and extends the lease meanwhile, until the server answers the report. Stop the worker before you close
 * the client.
 *
 * <p>This class is one file because the poller, the runs and the repeated reports share the permits and the state of a
 * stop.
 */
public final class Worker implements AutoCloseable {
  /*
   * The permits of the semaphore limit the running tasks. The poller acquires permits, and claims at most one task per
   * permit. It passes one permit to the run of each task, and releases the rest. A run releases its permit after the
   * settle. Therefore no claimed task waits in this process while its lease runs. The worker has stopped when the
   * poller has ended and all permits are free.
   *
   * When the worker stops, it waits for a claim that is under way, and runs the claimed tasks. If it aborted the claim
   * instead, tasks that the server has just claimed would be idle until their leases end.
   */

  /** Maximum number of tasks of one claim. It bounds the size of the answer: 25 MiB with JSON payloads of 256 KiB. */
  private static final int MAX_CLAIM = 100;

  /**
   * Longest pause between two extensions by a worker with a name. While all its handlers are busy, the worker does not
   * claim, and only extensions show that it is alive. The server considers a silent worker gone after at most 30 s.
   */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(15);

  /** A claim without tasks that took less time than this is treated as a failure, to avoid a busy loop. */
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);

  private static final System.Logger LOGGER = System.getLogger("io.foliot.client");

  /**
   * Usual maximum time from a stop to the end of the poller. If the poller takes longer, its claim probably reached the
   * server after the announcement of the stop. The announcement is then repeated.
   */
  private static final Duration OVERTAKEN = Duration.ofSeconds(1);

  /** Problem type of a refused extension if a cancel of the task is pending until the attempt ends. */
  private static final String CANCELLED = "urn:foliot:problem:cancelled";

  /**
   * Time for which a report is repeated after the lease has ended. A server that was away may need this time to start
   * and to recover, and accepts the report as long as no other claim was made.
   */
  private static final Duration REPORTED_AFTER_LEASE = Duration.ofMinutes(10);

  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int REQUEST_TIMEOUT = 408;
  private static final int CONFLICT = 409;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int NOT_FOUND = 404;

  private final Surroundings surroundings;
  private final TaskSource source;
  private final ClientClock clock;
  private final String queue;
  private final RunningAttempt.Handler handler;
  private final int concurrency;
  private final Duration pollWait;
  private final Duration lease;
  private final Duration grace;
  private final @Nullable String name;
  private final @Nullable String zone;
  private final boolean leaves;
  private final BiConsumer<? super String, ? super Throwable> onError;
  private final Thread poller;

  // Used by any thread.
  private final Semaphore permits;
  private final Set<Run> runs = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;
  /** Whether the grace of a stop is over. Claims are then cancelled, and claimed tasks are given back. */
  private volatile boolean graceOver;

  /** The poller's pause after a failure. Completing this future ends the pause. */
  private volatile CompletableFuture<?> pause = CompletableFuture.completedFuture(null);

  private volatile CompletableFuture<?> claiming = CompletableFuture.completedFuture(null);

  private Worker(Builder settings) {
    surroundings = settings.surroundings;
    source = surroundings.source();
    clock = surroundings.clock();
    queue = settings.queue;
    handler = settings.handler;
    concurrency = settings.concurrency;
    pollWait = settings.pollWait;
    lease = settings.lease;
    grace = settings.grace;
    name = settings.name;
    zone = settings.zone;
    leaves = settings.leaves;
    onError = settings.onError;
    permits = new Semaphore(concurrency);
    poller = Thread.ofVirtual().name("foliot-worker-" + queue).unstarted(this::poll);
  }

  /** Returns a builder of a worker. */
  public static Builder builder(FoliotClient client, String queue, TaskHandler handler) {
    return new Builder(Surroundings.of(client), queue, attempt -> handler.handle(attempt.task()));
  }

  private void poll() {
    int failures = 0;
    while (!stopping && !source.isClosed()) {
      try {
        int free = acquire();
        if (free == 0) {
          break;
        }
        failures = claimAndStart(free, failures);
      } catch (Throwable e) {
        // Even an Error must not end the poller: the worker would look alive, and run nothing.
        report("the poller of a worker failed, and goes on: queue=" + queue, e);
        LockSupport.parkNanos(TimeUnit.NANOSECONDS.convert(SHORTEST_WAIT));
      }
    }
  }

  /**
   * Makes one claim, and starts the claimed tasks. Pauses after a failure.
   *
   * @param free the number of permits that the caller has acquired
   * @param failures the number of claims that have failed in a row
   * @return the number of claims that have failed in a row
   */
  private int claimAndStart(int free, int failures) {
    List<ClaimedTask> tasks = List.of();
    boolean failed = false;
    Duration atLeast = Duration.ZERO;
    long sentNanos = clock.nanoTime();
    try {
      tasks = claim(free);
      failed = tasks.isEmpty() && elapsed(sentNanos).compareTo(SHORTEST_WAIT) < 0;
    } catch (Throwable e) {
      failed = true;
      Throwable cause = cause(e);
      if (!graceOver) {
        report("tasks could not be claimed, and the claim is repeated, queue=" + queue, cause);
      }
      atLeast = retryAfter(cause);
    } finally {
      start(tasks, free, sentNanos);
    }
    if (!failed) {
      return 0;
    }
    pause(failures + 1, atLeast);
    return failures + 1;
  }

  private static Duration retryAfter(Throwable cause) {
    return cause instanceof FoliotException refusal ? refusal.retryAfter().orElse(Duration.ZERO) : Duration.ZERO;
  }

  /** Waits for a permit and acquires all free ones, at most MAX_CLAIM. Returns the number; 0 if the worker stops. */
  private int acquire() {
    try {
      permits.acquire();
    } catch (InterruptedException e) {
      return 0;
    }
    int free = 1;
    while (free < MAX_CLAIM && permits.tryAcquire()) {
      free++;
    }
    return free;
  }

  private List<ClaimedTask> claim(int max) {
    CompletableFuture<List<ClaimedTask>> claimed = source.claim(queue,
        new ClaimRequest(max, pollWait, lease, name, zone));
    claiming = claimed;
    if (graceOver) {
      claimed.cancel(true);
    }
    return claimed.join();
  }

  private void start(List<ClaimedTask> tasks, int free, long sentNanos) {
    permits.release(Math.max(0, free - tasks.size()));
    for (int i = 0; i < tasks.size(); i++) {
      if (i >= free) {
        // The server has returned more tasks than the claim allowed.
        permits.acquireUninterruptibly();
      }
      start(tasks.get(i), sentNanos);
    }
  }

  private void start(ClaimedTask task, long sentNanos) {
    try {
      Run run = new Run(task, sentNanos);
      runs.add(run);
      run.thread.start();
    } catch (Throwable e) {
      runs.removeIf(run -> run.task == task);
      permits.release();
      report("a claimed task could not be begun, and is given back: task=" + task.id(), e);
      giveBack(task, String.valueOf(e));
    }
  }

  /** Gives back a task that has no run. If this report is lost, the lease ends and the attempt counts. */
  private void giveBack(ClaimedTask task, String reason) {
    CompletableFuture<Void> sent;
    try {
      sent = source.settle(task.lease(), Reasons.sendable(Settlement.notBegun(reason)));
    } catch (Throwable e) {
      sent = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Void> unused = sent.exceptionally(failure -> {
      report("a task was not given back; it is repeated after its lease: task=" + task.id(), cause(failure));
      return null;
    });
  }

  /** Returns the pause before the extension of a lease that has the given time left. */
  private Duration untilRenewal(Duration left) {
    Duration third = left.dividedBy(3);
    return name != null && third.compareTo(LONGEST_SILENCE) > 0 ? LONGEST_SILENCE : third;
  }

  /** Returns the shortest time limit of an extension, and the shortest pause before an extension after the first. */
  private Duration shortStep() {
    return lease.dividedBy(20);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private void pause(int failures, Duration atLeast) {
    Duration backoff = surroundings.backoff(failures);
    CompletableFuture<Void> pausing = clock.after(longer(backoff, atLeast));
    pause = pausing;
    if (stopping) {
      pausing.complete(null);
    }
    pausing.join();
  }

  private Duration elapsed(long sinceNanos) {
    return Duration.ofNanos(clock.nanoTime() - sinceNanos);
  }

  private void report(String what, Throwable failure) {
    report(onError, what, failure);
  }

  /** Passes a failure to a listener. A listener that throws does not stop the worker. */
  static void report(BiConsumer<? super String, ? super Throwable> listener, String what, Throwable failure) {
    try {
      listener.accept(what, failure);
    } catch (Throwable e) {
      e.addSuppressed(failure);
      log("the listener of a worker's errors failed", e);
    }
  }

  /** Logs a failure of a worker that has no listener. */
  static void log(String what, Throwable failure) {
    LOGGER.log(System.Logger.Level.WARNING, what, failure);
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
  }

  /** The run of one claimed task. */
  private final class Run implements Runnable, RunningAttempt {
    private final ClaimedTask task;
    final Thread thread;

    // Used by any thread.
    /** Whether the handler has ended. The lease is then extended for the report alone. */
    private volatile boolean handled;
    /** Whether the report was answered or given up. */
    private volatile boolean ended;
    private volatile boolean refused;
    private volatile boolean cancelled;
    private volatile long leaseEndNanos;
    private volatile @Nullable Notes notes;
    private volatile CompletableFuture<?> renewal = CompletableFuture.completedFuture(null);

    // Guarded by this.
    private CompletableFuture<Void> extending = CompletableFuture.completedFuture(null);
    private @Nullable CompletableFuture<Void> nextExtension;

    // Used by one extension at a time.
    private long sentVersion;

    Run(ClaimedTask task, long sentNanos) {
      this.task = task;
      Duration leasedFor = task.leasedFor();
      // If the server does not return the duration of the lease, the requested duration is counted from the answer.
      // This assumes that this process was not paused before it read the answer.
      leaseEndNanos = leasedFor == null
          ? clock.nanoTime() + TimeUnit.NANOSECONDS.convert(lease)
          : sentNanos + TimeUnit.NANOSECONDS.convert(leasedFor);
      this.thread = Thread.ofVirtual().name("foliot-task-" + task.id()).unstarted(this);
    }

    @Override
    public ClaimedTask task() {
      return task;
    }

    @Override
    public boolean isLost() {
      return refused || !left().isPositive();
    }

    /** Returns the remaining time of the lease. */
    private Duration left() {
      return Duration.ofNanos(leaseEndNanos - clock.nanoTime());
    }

    @Override
    public boolean isStopping() {
      return stopping;
    }

    @Override
    public void noteFrom(Notes source) {
      notes = source;
    }

    @Override
    public void run() {
      try {
        if (isLost()) {
          // Another attempt may be running.
          report("a task was not begun, because its lease had already ended: task=" + task.id(),
              new LeaseLostException("this process or its connection to the server was paused", false));
          giveBack(task, "the lease had already ended");
          return;
        }
        renewLater(task.leasedFor() == null ? shortStep() : untilRenewal(left()));
        Settlement settlement = graceOver ? Settlement.notBegun("the worker has stopped") : handle();
        handled = true;
        // A refused extension means that the token is not valid, unless the task was cancelled. A cancelled task waits
        // for the settle.
        if (!refused || cancelled) {
          settle(settlement);
        }
      } catch (Throwable e) {
        report("the run of a task failed; the task may be repeated after its lease: task=" + task.id(), e);
      } finally {
        ended = true;
        renewal.cancel(true);
        runs.remove(this);
        permits.release();
      }
    }

    private Settlement handle() {
      try {
        Settlement settlement = handler.handle(this);
        if (settlement != null) {
          return settlement;
        }
        return Settlement.nack("the handler returned no settlement");
      } catch (Throwable e) {
        report("the handler failed, task=" + task.id(), e);
        return Settlement.nack(String.valueOf(e));
      }
    }

    /**
     * Reports the end of the attempt, until the report is answered. The result may be worth hours of work, so the lease
     * is extended in the meantime. The report is also repeated after the lease, because the server accepts it until the
     * next claim of the task.
     */
    private void settle(Settlement settlement) {
      for (int failures = 1;; failures++) {
        Throwable cause;
        try {
          source.settle(task.lease(), Reasons.sendable(settlement)).join();
          return;
        } catch (Throwable e) {
          cause = cause(e);
        }
        if (isRefusal(cause)) {
          report("the end of an attempt came too late, so its result has no effect: task=" + task.id(), cause);
          return;
        }
        if (!isRepeatable(cause) || source.isClosed() || left().plus(REPORTED_AFTER_LEASE).isNegative()) {
          report("cannot settle an attempt, which may be repeated after its lease: task=" + task.id(), cause);
          return;
        }
        if (failures == 1) {
          report("the end of an attempt could not be reported yet, and the report is repeated: task=" + task.id(),
              cause);
        }
        Duration requested = shorter(retryAfter(cause), surroundings.retry().maxRetryAfter());
        clock.after(longer(surroundings.backoff(failures), requested)).join();
      }
    }

    private void renewLater(Duration delay) {
      CompletableFuture<Void> waiting = clock.after(delay);
      renewal = waiting;
      if (ended) {
        waiting.cancel(true);
      }
      CompletableFuture<?> unused = waiting.thenRunAsync(() -> {
        if (!ended) {
          renew();
        }
      }, Thread::startVirtualThread).exceptionally(failure -> {
        if (!waiting.isCancelled() && !ended) {
          report("the extension of a lease failed, and is not repeated, task=" + task.id(), cause(failure));
        }
        return null;
      });
    }

    private void renew() {
      if (!left().isPositive()) {
        // The server would refuse to extend a lease that has ended.
        lost(new LeaseLostException("no extension succeeded, or the maxRun of the queue has passed", false));
        return;
      }
      try {
        extendNow().join();
      } catch (Throwable e) {
        if (!ended) {
          notRenewed(cause(e));
        }
        return;
      }
      // Near the end of the queue's maxRun, each extension grants less time. The lower bound keeps the pauses from
      // becoming ever shorter.
      renewLater(untilRenewal(longer(left(), shortStep().multipliedBy(3))));
    }

    @Override
    public synchronized CompletableFuture<Void> extendNow() {
      CompletableFuture<Void> waiting = nextExtension;
      if (waiting != null) {
        // The waiting extension has not been sent. It will contain the current note or a newer note.
        return waiting;
      }
      CompletableFuture<Void> next = extending.handle((nothing, failure) -> failure)
          .thenComposeAsync(before -> extend(), Thread::startVirtualThread);
      extending = next;
      nextExtension = next;
      return next;
    }

    private CompletableFuture<Void> extend() {
      synchronized (this) {
        nextExtension = null;
      }
      Notes current = notes;
      // The version is read before the note. A change between the two reads is therefore sent twice, but never lost.
      long version = current == null ? 0 : current.version();
      TaskNote note = current == null || version == sentVersion ? TaskNote.NONE : current.note();
      long sentNanos = clock.nanoTime();
      // An answer after the end of the lease is useless, because the lease is then treated as lost.
      return source.extend(task.lease(), lease, note, name, longer(left(), shortStep()))
          .thenAccept(granted -> {
            sentVersion = version;
            leaseEndNanos = sentNanos + TimeUnit.NANOSECONDS.convert(granted);
          })
          .whenComplete((nothing, failure) -> {
            if (failure != null && !handled && isRefusal(cause(failure))) {
              cancelled = isCancelled(cause(failure));
              // The server refuses to extend an ended lease, but accepts the end of the attempt until the task is
              // claimed again.
              refused |= cancelled || left().isPositive();
            }
          });
    }

    private void notRenewed(Throwable cause) {
      if (isLost() || (handled && isRefusal(cause))) {
        lost(cause);
        return;
      }
      report("a lease could not be extended yet, and the extension is repeated, task=" + task.id(), cause);
      // Each pause is half of the remaining time, but at least a short step. So the handler is interrupted at most one
      // short step after the end of the lease.
      renewLater(longer(left().dividedBy(2), shortStep()));
    }

    private void lost(Throwable cause) {
      if (handled) {
        // The answer to the report decides. The lease may have ended because the report was accepted.
        return;
      }
      report("a lease was lost, so the handler is interrupted, task=" + task.id(), cause);
      thread.interrupt();
    }
  }

  /** Returns whether a failure means that the token of the lease is no longer valid, or that the task was cancelled. */
  private static boolean isRefusal(Throwable cause) {
    return cause instanceof LeaseLostException || (cause instanceof FoliotException e
        && (e.status() == CONFLICT || e.status() == NOT_FOUND));
  }

  /** Returns whether a report that failed may succeed if it is repeated. */
  private static boolean isRepeatable(Throwable cause) {
    return cause instanceof FoliotException e
        ? e.status() >= SERVER_ERROR || e.status() == UNAUTHORIZED || e.status() == FORBIDDEN
            || e.status() == REQUEST_TIMEOUT || e.status() == TOO_MANY_REQUESTS
        : !(cause instanceof IllegalArgumentException);
  }

  private static boolean isCancelled(Throwable refusal) {
    return refusal instanceof LeaseLostException lost
        ? lost.isCancelled()
        : refusal instanceof FoliotException e && e.type().equals(CANCELLED);
  }

  /**
   * Stops the worker: no more claims are made. This method waits until the claimed tasks, including those of a claim
   * that is under way, have been run and settled. After the grace, handlers that still run are interrupted, and this
   * method returns without a further wait.
   *
   * @return whether the last claim and all tasks ended within the grace
   */
  public boolean stop(Duration grace) throws InterruptedException {
    long begunNanos = System.nanoTime();
    long graceNanos = TimeUnit.NANOSECONDS.convert(grace);
    stopping = true;
    CompletableFuture<Void> leaving = leave();
    pause.complete(null);
    // The interrupt ends the poller's wait for permits. A claim under way ignores the interrupt.
    poller.interrupt();
    boolean done = false;
    try {
      boolean claimsNoMore = poller.join(Duration.ofNanos(Math.max(0, graceNanos)));
      if (elapsedSince(begunNanos).compareTo(OVERTAKEN) > 0) {
        leaving = leave();
      }
      await(leaving, graceNanos - (System.nanoTime() - begunNanos));
      done = claimsNoMore
          && permits.tryAcquire(concurrency, graceNanos - (System.nanoTime() - begunNanos), TimeUnit.NANOSECONDS);
    } finally {
      if (done) {
        permits.release(concurrency);
      } else {
        graceOver = true;
        claiming.cancel(true);
        runs.forEach(run -> run.thread.interrupt());
      }
    }
    return done;
  }

  private static Duration elapsedSince(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }

  /** Announces that this worker stops, if {@link Builder#leaves} was called. The returned future never fails. */
  private CompletableFuture<Void> leave() {
    String worker = name;
    if (!leaves || worker == null || source.isClosed()) {
      return CompletableFuture.completedFuture(null);
    }
    return source.leave(queue, worker).exceptionally(failure -> {
      report("cannot announce the stop of the worker; other workers get its shards seconds later, worker=" + worker,
          cause(failure));
      return null;
    });
  }

  private static void await(CompletableFuture<Void> leaving, long boundNanos) throws InterruptedException {
    try {
      leaving.get(Math.max(0, boundNanos), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "there was no answer to the announcement of the stop within the grace",
          e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("the future of a leave must not fail", e);
    }
  }

  /** Stops the worker, as {@link #stop} does, with the {@linkplain Builder#grace grace} of its builder. */
  @Override
  public void close() {
    try {
      stop(grace);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The settings of a worker. Not safe for use by several threads. */
  public static final class Builder {
    private final Surroundings surroundings;
    private final String queue;
    private final RunningAttempt.Handler handler;
    private int concurrency = 16;
    private Duration pollWait = Duration.ofSeconds(10);
    private Duration lease = Duration.ofSeconds(30);
    private Duration grace = Duration.ofSeconds(30);
    private @Nullable String name;
    private @Nullable String zone;
    private boolean leaves;
    private BiConsumer<? super String, ? super Throwable> onError = Worker::log;

    Builder(Surroundings surroundings, String queue, RunningAttempt.Handler handler) {
      this.surroundings = surroundings;
      this.queue = Names.requireName("queue", queue);
      this.handler = handler;
    }

    /** Makes the worker announce its stop. */
    Builder leaves() {
      leaves = true;
      return this;
    }

    /** Sets how many tasks may run at a time; 16 by default. */
    public Builder concurrency(int tasks) {
      if (tasks < 1) {
        throw new IllegalArgumentException("concurrency must be positive: concurrency=" + tasks);
      }
      concurrency = tasks;
      return this;
    }

    /**
     * Sets how long one claim waits for tasks; 10 seconds by default. A server accepts at most 60 seconds. A stop may
     * take this long, because the stop waits for the claim that is under way.
     */
    public Builder pollWait(Duration duration) {
      pollWait = Durations.requirePositive("pollWait", duration);
      return this;
    }

    /**
     * Sets the duration of the lease of a task; 30 seconds by default. The lease of a running task is extended each
     * time a third of it has passed, and at least every 15 seconds if the worker has a name. After the lease, a task of
     * a dead worker can be claimed again.
     */
    public Builder lease(Duration duration) {
      lease = Durations.requirePositive("lease", duration);
      return this;
    }

    /** Sets how long {@link Worker#close} waits for handlers; 30 seconds by default. */
    public Builder grace(Duration duration) {
      grace = Durations.requireNotNegative("grace", duration);
      return this;
    }

    /**
     * Sets the name with which this worker claims, at most 119 characters; none by default. A hyphen and eight
     * hexadecimal digits are appended to the name. The digits are random, and the same for all workers of one process.
     */
    public Builder name(String workerName) {
      name = WorkerName.of(workerName);
      return this;
    }

    /** Sets the zone of this process, such as {@code fra1}; at most 64 characters, none by default. */
    public Builder zone(String workerZone) {
      zone = ClaimRequest.requireZone(workerZone);
      return this;
    }

    /**
     * Sets the listener of errors, for example a claim that failed, a handler that threw, or a lease that was lost.
     * By default errors are logged as warnings of the logger {@code io.foliot.client}.
     */
    public Builder onError(BiConsumer<? super String, ? super Throwable> listener) {
      onError = listener;
      return this;
    }

    /** Starts the worker. */
    public Worker start() {
      Worker worker = new Worker(this);
      worker.poller.start();
      return worker;
    }
  }
}
