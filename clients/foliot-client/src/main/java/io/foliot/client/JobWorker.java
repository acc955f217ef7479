package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.api.TaskNote;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs recurring jobs of one queue. The worker declares jobs that are defined in code, claims shards, and runs each
 * shard with the handler of its job. Claims, leases and {@link #stop} work as for {@link Worker}.
 *
 * <p>If this worker has no handler for the job of a shard, it gives the shard back, so that another worker of the queue
 * can claim it. The next attempt begins after 2 seconds; the later pauses are 10, 50 and 250 seconds, and then ten
 * minutes each. Giving a shard back counts as an attempt. With five attempts, the default of a queue, a shard waits
 * about five minutes for a worker with the handler before its run fails. A rolling deployment, in which old instances
 * claim shards of a new job, may therefore take five minutes. If a deployment takes longer, set more attempts with
 * {@link Job.Builder#maxAttempts}.
 *
 * <p>When the worker stops, it announces its stop to the server. The shards that it gives up begin on other workers at
 * once, from their checkpoints. Shards that waited for this worker begin on other workers too.
 */
public final class JobWorker implements AutoCloseable {
  /** Pause after the first attempt on a worker without the handler. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(2);
  /** Factor by which the pause grows with each attempt. It is large, so that five attempts outlast most deployments. */
  private static final int PAUSE_FACTOR = 5;
  /** Longest pause between two attempts. A new worker with the handler gets the shard within this time. */
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  /**
   * Default wait of a claim. If an idle worker dies, the server considers the worker alive until 2 s after the end of
   * this wait.
   */
  private static final Duration POLL_WAIT = Duration.ofSeconds(5);

  private static final int TOO_MANY_REQUESTS = 429;
  private static final int REQUEST_TIMEOUT = 408;
  private static final int SERVER_ERROR = 500;

  private final Surroundings surroundings;
  private final ClientClock clock;
  private final String queue;
  private final String name;
  private final Map<String, Job> declarations;
  private final Map<String, JobHandler> handlers;
  private final Set<String> atStart;
  private final List<JobListener> listeners;
  private final @Nullable String zone;
  private final @Nullable JobHandlers scripts;
  private final @Nullable TaskHandler otherTasks;
  private final Duration grace;
  private final BiConsumer<? super String, ? super Throwable> onError;
  private final Worker.Builder settings;
  private final List<Consumer<? super JobWorker>> onStart;

  // Written by start(), before the worker is passed to observers or returned.
  private @Nullable Worker worker;
  private final List<Thread> starters = new ArrayList<>();

  // Used by any thread.
  private volatile boolean stopping;
  private volatile boolean terminated;
  private volatile CompletableFuture<?> pause = CompletableFuture.completedFuture(null);

  private JobWorker(Builder builder) {
    surroundings = builder.surroundings;
    clock = surroundings.clock();
    queue = builder.queue;
    name = builder.name;
    declarations = new LinkedHashMap<>(builder.declarations);
    handlers = Map.copyOf(builder.handlers);
    atStart = new LinkedHashSet<>(builder.atStart);
    listeners = List.copyOf(builder.listeners);
    zone = builder.zone;
    scripts = builder.scripts;
    otherTasks = builder.otherTasks;
    grace = builder.grace;
    onError = builder.onError;
    onStart = List.copyOf(builder.onStart);
    settings = new Worker.Builder(surroundings, queue, this::handle).name(name).concurrency(builder.concurrency)
        .lease(builder.lease).pollWait(builder.pollWait).grace(grace).onError(onError).leaves();
    if (builder.zone != null) {
      settings.zone(builder.zone);
    }
  }

  /** Returns a builder of a worker for one queue of a server. */
  public static Builder builder(FoliotClient client, String queue) {
    return new Builder(Surroundings.of(client), queue);
  }

  /** Returns a builder of a worker for one queue of another source, such as an engine in the same process. */
  public static Builder builder(TaskSource source, String queue) {
    return new Builder(Surroundings.of(source), queue);
  }

  private JobWorker started() {
    List<Job> undeclared = declare(List.copyOf(declarations.values()), true);
    if (!undeclared.isEmpty()) {
      starters.add(Thread.ofVirtual().name("foliot-declare-" + queue).start(() -> declareLater(undeclared)));
    }
    for (String job : atStart) {
      starters.add(Thread.ofVirtual().name("foliot-start-" + job).start(() -> runAtStart(job)));
    }
    worker = settings.start();
    try {
      onStart.forEach(observer -> observer.accept(this));
    } catch (Throwable e) {
      close();
      throw e;
    }
    return this;
  }

  /**
   * Declares jobs. Returns the jobs to declare again later: their declarations failed, but were not refused.
   *
   * @throws RuntimeException if a declaration is refused and {@code throwsRefusals} is true
   */
  private List<Job> declare(List<Job> jobs, boolean throwsRefusals) {
    List<Job> undeclared = new ArrayList<>();
    for (Job job : jobs) {
      try {
        surroundings.source().declare(job);
      } catch (Throwable e) {
        boolean isRefusal = e instanceof IllegalArgumentException
            || (e instanceof FoliotException refusal && refusal.status() < SERVER_ERROR
                && refusal.status() != TOO_MANY_REQUESTS && refusal.status() != REQUEST_TIMEOUT);
        if (isRefusal && throwsRefusals) {
          throw e;
        }
        report(isRefusal
            ? "a declaration was refused, so the job has not changed, job=" + job.name()
            : "a job could not be declared yet, and is declared again later, job=" + job.name(), e);
        if (!isRefusal) {
          undeclared.add(job);
        }
      }
    }
    return undeclared;
  }

  private void declareLater(List<Job> jobs) {
    List<Job> left = jobs;
    for (int failures = 1; !left.isEmpty() && !stopping; failures++) {
      CompletableFuture<Void> pausing = clock.after(surroundings.backoff(failures));
      pause = pausing;
      if (stopping) {
        pausing.complete(null);
      }
      pausing.join();
      left = stopping ? List.of() : declare(left, false);
    }
  }

  private void runAtStart(String job) {
    RunningShard shard = new RunningShard(new StartedHere(job), zone);
    try {
      JobHandler handler = requireNonNull(handlers.get(job));
      JobResult result = run(handler, shard);
      if (result instanceof JobResult.Failed || result instanceof JobResult.GivenUp) {
        report("a job failed at the start of its worker, job=" + job, new IllegalStateException(result.toString()));
      }
    } catch (Throwable e) {
      if (!isStopped(shard, e)) {
        report("a job failed at the start of its worker, job=" + job, e);
      }
    }
  }

  /** A run at the start of the worker. It exists only in this process, so it has no lease. */
  private final class StartedHere implements RunningAttempt {
    private final ClaimedTask task;

    StartedHere(String job) {
      Job declared = declarations.get(job);
      Body parameter = declared == null ? Body.EMPTY : declared.parameter();
      task = new ClaimedTask("at-start", queue, null, 0, 0, clock.now(), "", clock.now(), null,
          parameter.equals(Body.EMPTY) ? null : Payload.json(new String(parameter.payload(), UTF_8)),
          RunningShard.headers(job, clock.now()), TaskNote.NONE);
    }

    @Override
    public ClaimedTask task() {
      return task;
    }

    @Override
    public boolean isLost() {
      return false;
    }

    @Override
    public boolean isStopping() {
      return stopping;
    }

    @Override
    public void noteFrom(Notes source) {
      // The run exists only in this process, so no note is sent.
    }

    @Override
    public CompletableFuture<Void> extendNow() {
      return CompletableFuture.completedFuture(null);
    }
  }

  private Settlement handle(RunningAttempt attempt) throws Exception {
    ClaimedTask task = attempt.task();
    if (!RunningShard.isShard(task)) {
      return otherTasks == null
          ? notHere("no handler for tasks that are not shards of jobs", task.attempt())
          : otherTasks.handle(task);
    }
    RunningShard shard = new RunningShard(attempt, zone);
    try {
      JobHandler handler = handlers.get(shard.job());
      if (handler == null && scripts != null) {
        handler = scripts.find(shard);
      }
      if (handler == null) {
        return notHere("no handler for the job " + shard.job(), task.attempt());
      }
      return switch (shard.phase()) {
        case SHARD -> settlement(run(handler, shard), shard, task.attempt());
        case BEFORE, AFTER -> callListeners(shard);
        case UNRECOGNIZED -> notHere("the client is too old for a phase of the job " + shard.job(), task.attempt());
      };
    } catch (Throwable e) {
      if (isStopped(shard, e)) {
        String reason = shard.isLost() ? "the lease was lost" : "the worker " + name + " stopped";
        return Settlement.nack(reason, Duration.ZERO).noting(shard.note().ended(""));
      }
      String what = shard.phase() == RunningShard.Phase.SHARD
          ? "the handler failed, job=" + shard.job() + ", shard=" + shard.shard()
          : "a listener of the run failed, job=" + shard.job() + ", phase=" + shard.phase();
      report(what + ", task=" + task.id(), e);
      return Settlement.nack(String.valueOf(e)).noting(shard.note().ended(""));
    }
  }

  /** Returns whether a handler threw an exception because its worker stops or its lease is lost. */
  private static boolean isStopped(JobContext job, Throwable failure) {
    return (job.isStopping() || job.isLost()) && (failure instanceof JobStoppedException
        || failure instanceof InterruptedException || failure instanceof ClosedByInterruptException);
  }

  private JobResult run(JobHandler handler, JobContext job) throws Exception {
    int begun = 0;
    JobResult result = null;
    Throwable failure = null;
    try {
      for (JobListener listener : listeners) {
        listener.before(job);
        begun++;
      }
      result = handler.handle(job);
      if (result == null) {
        result = JobResult.failed("the handler returned no result");
      }
    } catch (Throwable e) {
      failure = e;
    }
    // Clears an interrupt that was meant for the handler, which has ended.
    boolean unused = Thread.interrupted();
    for (int i = begun - 1; i >= 0; i--) {
      try {
        listeners.get(i).after(job, failure == null ? result : null, failure);
      } catch (Throwable e) {
        report("a listener failed after the handler, job=" + job.job() + ", shard=" + job.shard(), e);
      }
    }
    if (failure instanceof Exception exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return requireNonNull(result);
  }

  /** Calls the listeners for the start or the end of a run. */
  private Settlement callListeners(RunningShard run) throws Exception {
    for (JobListener listener : listeners) {
      if (run.phase() == RunningShard.Phase.BEFORE) {
        listener.onRunStarted(run);
      } else {
        listener.onRunEnded(run, run.end());
      }
    }
    return Settlement.ack().noting(run.note().ended(""));
  }

  private Settlement settlement(JobResult result, RunningShard shard, int attempt) {
    ShardNote note = shard.note();
    return switch (result) {
      case JobResult.Done(String text) -> Settlement.ack().noting(note.ended(text));
      case JobResult.RunAgain(String text) -> Settlement.runAgain().noting(note.ended(text));
      case JobResult.EndJob(String text) -> Settlement.endJob().noting(note.ended(text));
      case JobResult.Failed(String reason, Duration delay) ->
        new Settlement.Nack(reason, delay).noting(note.ended(""));
      case JobResult.GivenUp(String reason) -> Settlement.fail(reason).noting(note.ended(""));
      case JobResult.NotHere(String reason) -> notHere(reason, attempt).noting(note.ended(""));
    };
  }

  private Settlement notHere(String reason, int attempt) {
    Duration delay = pauseBeforeNext(attempt);
    report("a task was given back: " + reason + ", queue=" + queue + ", attempt=" + attempt + ", delay=" + delay,
        new IllegalStateException(reason));
    return Settlement.nack(reason + " on the worker " + name, delay);
  }

  /**
   * Returns the pause before the next attempt of a task, if this worker has no handler for the task.
   *
   * @param attempt the attempt that ends, from 1
   */
  static Duration pauseBeforeNext(int attempt) {
    double millis = FIRST_PAUSE.toMillis() * Math.pow(PAUSE_FACTOR, attempt - 1);
    return millis >= LONGEST_PAUSE.toMillis() ? LONGEST_PAUSE : Duration.ofMillis((long) millis);
  }

  private void report(String what, Throwable failure) {
    Worker.report(onError, what, failure);
  }

  /**
   * Stops the worker: no more claims are made. This method waits until the claimed shards have been run and settled.
   * Handlers that call {@link JobContext#ensureRuns} end early. After the grace, handlers that still run are
   * interrupted, and this method returns without a further wait.
   *
   * @return whether the last claim, all shards and all runs at the start of the worker ended within the grace
   */
  public boolean stop(Duration grace) throws InterruptedException {
    long begunNanos = System.nanoTime();
    stopping = true;
    pause.complete(null);
    boolean done = false;
    try {
      done = requireNonNull(worker).stop(grace);
      for (Thread starter : starters) {
        long leftNanos = TimeUnit.NANOSECONDS.convert(grace) - (System.nanoTime() - begunNanos);
        done &= starter.join(Duration.ofNanos(Math.max(0, leftNanos)));
      }
    } finally {
      if (!done) {
        starters.forEach(Thread::interrupt);
      }
    }
    terminated = done;
    return done;
  }

  /** Returns whether the latest call of {@link #stop} returned true; false before the first call. */
  public boolean isTerminated() {
    return terminated;
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
    private final Map<String, Job> declarations = new LinkedHashMap<>();
    private final Map<String, JobHandler> handlers = new LinkedHashMap<>();
    private final Set<String> atStart = new LinkedHashSet<>();
    private final List<JobListener> listeners = new ArrayList<>();
    private final List<Consumer<? super JobWorker>> onStart = new ArrayList<>();
    private @Nullable JobHandlers scripts;
    private @Nullable TaskHandler otherTasks;
    private String name = defaultName();
    private @Nullable String zone;
    private int concurrency = 16;
    private Duration lease = Duration.ofSeconds(10);
    private Duration pollWait = POLL_WAIT;
    private Duration grace = Duration.ofSeconds(30);
    private BiConsumer<? super String, ? super Throwable> onError = Worker::log;

    private Builder(Surroundings surroundings, String queue) {
      this.surroundings = surroundings;
      this.queue = Names.requireName("queue", queue);
    }

    /** Returns the environment variable {@code HOSTNAME}, which containers usually set, or else {@code worker}. */
    private static String defaultName() {
      String host = System.getenv("HOSTNAME");
      return host == null || host.isBlank() ? "worker" : ShardNote.cut(host, WorkerName.MAX_GIVEN);
    }

    /**
     * Sets the name with which this worker claims, at most 119 characters. The default is the environment variable
     * {@code HOSTNAME}, or {@code worker}. A hyphen and eight hexadecimal digits are appended to the name. The digits
     * are random, and the same for all workers of one process.
     */
    public Builder name(String workerName) {
      String unused = WorkerName.of(workerName);
      name = workerName;
      return this;
    }

    /** Sets the zone of this process, such as {@code fra1}; at most 64 characters, none by default. */
    public Builder zone(String workerZone) {
      zone = ClaimRequest.requireZone(workerZone);
      return this;
    }

    /** Sets how many shards may run at a time; 16 by default. */
    public Builder concurrency(int shards) {
      if (shards < 1) {
        throw new IllegalArgumentException("concurrency must be positive: concurrency=" + shards);
      }
      concurrency = shards;
      return this;
    }

    /**
     * Sets the duration of the lease of a shard; 10 seconds by default. The lease of a running shard is extended each
     * time a third of it has passed, and at least every 15 seconds. If the worker dies, its shards begin on other
     * workers after their leases have ended.
     */
    public Builder lease(Duration duration) {
      lease = Durations.requirePositive("lease", duration);
      return this;
    }

    /**
     * Sets how long one claim waits for shards; 5 seconds by default. If the worker dies, shards that wait for it begin
     * on other workers after this time and a few seconds more.
     */
    public Builder pollWait(Duration duration) {
      pollWait = Durations.requirePositive("pollWait", duration);
      return this;
    }

    /** Sets how long {@link JobWorker#close} waits for handlers; 30 seconds by default. */
    public Builder grace(Duration duration) {
      grace = Durations.requireNotNegative("grace", duration);
      return this;
    }

    /** As {@link #declare(Job)}. A job without a queue is declared with the queue of the worker. */
    public Builder declare(Job.Builder job) {
      return declare(job.buildIn(queue));
    }

    /**
     * Declares a job when the worker starts, as {@link FoliotClient#declareJob} does.
     *
     * @throws IllegalArgumentException if a job of the same name was declared before
     */
    public Builder declare(Job job) {
      if (declarations.putIfAbsent(job.name(), job) != null) {
        throw new IllegalArgumentException("a job must not be declared twice: job=" + job.name());
      }
      return this;
    }

    /**
     * Sets the handler of a job.
     *
     * @throws IllegalArgumentException if the job has a handler already
     */
    public Builder handle(String job, JobHandler handler) {
      if (handlers.putIfAbsent(Names.requireName("job", job), handler) != null) {
        throw new IllegalArgumentException("a job must not have two handlers: job=" + job);
      }
      return this;
    }

    /**
     * Sets a dataflow as the handler of a job.
     *
     * @throws IllegalArgumentException if the job has a handler already
     */
    public <T> Builder dataflow(String job, Dataflow<T> flow, Dataflow.Mode mode) {
      return handle(job, new DataflowHandler<>(flow, mode, surroundings.clock()));
    }

    /**
     * Adds the methods of an object that are annotated with {@link FoliotJob} as handlers. Also declares the jobs whose
     * annotation has a schedule.
     *
     * @throws IllegalArgumentException if the object has no such method, a method has a wrong signature or setting, or
     *         a job has a handler or a declaration already
     */
    public Builder handlers(Object bean) {
      for (JobMethods.Found method : JobMethods.of(bean)) {
        String job = method.annotation().name();
        handle(job, method.handler());
        if (method.declaration() != null) {
          declare(method.declaration());
        }
        if (method.annotation().runAtStart()) {
          runAtStart(job);
        }
      }
      return this;
    }

    /**
     * Runs the handler of a job once in this process when the worker starts, for example to fill a cache before the
     * next run. The handler runs in parallel with the shards. This run exists only in this process: it has no lease,
     * has the fence 0-0, and is not repeated. Its context has the parameter of the declaration. A failure is passed to
     * {@link #onError}.
     */
    public Builder runAtStart(String job) {
      atStart.add(Names.requireName("job", job));
      return this;
    }

    /**
     * Sets a finder of handlers, such as a runner of scripts; none by default. The worker calls the finder for each job
     * that has no handler from the other methods of this builder.
     */
    public Builder scripts(JobHandlers finder) {
      scripts = finder;
      return this;
    }

    /** Sets the handler of tasks of the queue that are not shards of jobs; by default such tasks are given back. */
    public Builder tasks(TaskHandler handler) {
      otherTasks = handler;
      return this;
    }

    /** Adds a listener. {@link JobListener} describes when its methods are called. */
    public Builder listener(JobListener listener) {
      listeners.add(listener);
      return this;
    }

    /**
     * Sets the listener of failures, for example a claim that failed, a handler that threw, or a lease that was lost. A
     * shard without a handler on this worker is reported too. By default failures are logged as warnings of the logger
     * {@code io.foliot.client}.
     */
    public Builder onError(BiConsumer<? super String, ? super Throwable> listener) {
      onError = listener;
      return this;
    }

    /**
     * Adds an observer, which is called with the worker after its start. For example, a container can remember the
     * workers, and stop them when it closes. If the observer throws, the worker is stopped.
     */
    public Builder onStart(Consumer<? super JobWorker> observer) {
      onStart.add(observer);
      return this;
    }

    /**
     * Declares the jobs, and starts the worker. If a declaration fails but is not refused, it is repeated in the
     * background.
     *
     * @throws FoliotException if the server refuses a declaration; the worker is then not started
     * @throws IllegalArgumentException if a job that runs at the start has no handler, or an engine in this process
     *         refuses a declaration; the worker is then not started
     */
    public JobWorker start() {
      for (String job : atStart) {
        if (!handlers.containsKey(job)) {
          throw new IllegalArgumentException("a job that runs at the start must have a handler: job=" + job);
        }
      }
      return new JobWorker(this).started();
    }
  }
}
