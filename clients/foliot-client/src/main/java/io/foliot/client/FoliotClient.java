package io.foliot.client;

import static java.util.Objects.requireNonNull;

import io.foliot.api.Cancellation;
import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskNote;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls a Foliot server. Safe for use by any number of threads; an application needs only one client.
 *
 * <p>Each call waits for the answer; {@link #async} returns a client whose calls return futures. A call with valid
 * arguments ends in one of four ways: <ul>
 * <li>It returns: the server has carried out the call, and the effect is as durable as the server's store.
 * <li>{@link FoliotException}: the server refused the call, and gives the reason.
 * <li>{@link UnreachableException}: there was no connection, so the call had no effect.
 * <li>{@link UnknownOutcomeException}: there was no usable answer, so the server may or may not have carried out the
 * call. Request timeouts and interrupts end in this way. After an interrupt, the thread's interrupt status is set.
 * </ul>
 *
 * <p>The client repeats calls by itself, according to its {@link RetryPolicy}:
 * <ul>
 * <li>If a repeat of a call has no further effect, the client repeats the call in these cases: the server could not be
 * reached, the server or a gateway answered 429, 502, 503 or 504, a request timed out, or the connection broke.
 * This rule applies to all calls that only read, and to {@code putQueue}, {@code patchQueue}, {@code pauseQueue},
 * {@code resumeQueue}, {@code putJob}, {@code declareJob}, {@code pauseJob}, {@code resumeJob}, {@code rewindJob},
 * {@code enableWorker}, {@code disableWorker}, {@code touchKeys}, {@code ack}, {@code nack}, {@code fail},
 * {@code settle}, {@code extend},
 * {@code triggerJob} with an idempotency key, and submits where each task has an {@linkplain
 * NewTask.Builder#idempotencyKey idempotency key}.
 * <li>The client repeats {@code putKey}, the cancels, {@code deleteQueue} and {@code deleteJob} only if the server has
 * certainly done nothing: it could not be reached, or answered 429, or 503 with a {@code Retry-After}.
 * <li>The client never repeats {@code claim}, {@code runNow} or {@code redrive}. Without an idempotency key, it does
 * not repeat submits and {@code triggerJob} either.
 * </ul>
 *
 * <p>Redirects are not followed, because the API key would be sent to their target.
 *
 * <p>This class is one file because it is the list of all calls; {@link AsyncFoliotClient} makes them.
 */
public final class FoliotClient implements AutoCloseable {
  /**
   * Maximum number of items of one request. The client refuses longer lists, and does not split them into several
   * requests.
   */
  public static final int MAX_BATCH = 10_000;

  /** Number of tasks that {@link #streamTasks} reads with one request. */
  private static final int PAGE = 100;

  private final Transport transport;
  private final AsyncFoliotClient async;

  private FoliotClient(Transport transport, Duration requestTimeout) {
    this.transport = transport;
    this.async = new AsyncFoliotClient(transport, requestTimeout);
  }

  /**
   * Returns a builder of a client.
   *
   * @param baseUrl the URL of the server, such as {@code http://localhost:7400}; it may have a path
   * @throws IllegalArgumentException if the URL is not http or https, or has more than a host, a port and a path
   */
  public static Builder builder(URI baseUrl) {
    return new Builder(baseUrl);
  }

  /** Returns the asynchronous form of this client: the same calls, which return futures. */
  public AsyncFoliotClient async() {
    return async;
  }

  /**
   * Closes the client. Later calls and repeats fail. Requests under way end with an unknown outcome. However, an
   * {@code HttpClient} that was {@linkplain Builder#httpClient given} to the builder stays open, and completes the
   * requests under way.
   */
  @Override
  public void close() {
    transport.close();
  }

  /** Creates a queue, or replaces its settings. */
  public void putQueue(QueueConfig queue) {
    await(async.putQueue(queue));
  }

  /**
   * Creates a recurring job, or replaces its definition. Putting the same definition again changes nothing, unless a
   * handler has ended the job.
   */
  public JobView putJob(Job job) {
    return await(async.putJob(job));
  }

  /**
   * Declares a recurring job that is defined in the code of an application. The server remembers the latest eight
   * definitions that code has declared for this job, and stores the definition only if it is not among them. A change
   * by hand therefore stays until the code changes. During a rolling deployment, an old instance of the application
   * does not restore its old definition.
   *
   * @return the stored job, which may differ from the declaration
   */
  public JobView declareJob(Job job) {
    return await(async.declareJob(job));
  }

  /**
   * Returns a recurring job.
   *
   * @throws FoliotException with 404 if the job does not exist
   */
  public JobView getJob(String job) {
    return await(async.getJob(job));
  }

  /**
   * Returns the runs of a recurring job, and the scheduled times that did not run: first the active runs, then the
   * others, the newest first.
   *
   * @param result the only result of the returned runs and times, such as {@code FAILED}; null for all
   * @param limit the largest number of results
   */
  public List<RunView> listRuns(String job, @Nullable String result, int limit) {
    return await(async.listRuns(job, result, limit));
  }

  /**
   * Returns the runs of one scheduled time of a recurring job, with a page of their shards and listeners.
   *
   * @param time the {@linkplain RunView#time time} of the run
   * @param onlyFailed whether only shards and listeners are returned that failed or were cancelled
   * @param limit how many shards and listeners are read at most
   * @param cursor null for the first page, then the {@link RunPage#nextCursor} of the previous page
   * @throws FoliotException with 404 if the job has no record of this time
   */
  public RunPage getRun(String job, String time, boolean onlyFailed, int limit, @Nullable String cursor) {
    return await(async.getRun(job, time, onlyFailed, limit, cursor));
  }

  /**
   * Returns the logs of the shards of a run, those of failed shards first.
   *
   * @param time the {@linkplain RunView#time time} of the run; null for the latest run
   * @param limit the largest number of shards
   */
  public RunLog getLog(String job, @Nullable String time, int limit) {
    return await(async.getLog(job, time, limit));
  }

  /** Deletes a recurring job. Its active runs are cancelled if {@code cancelsRuns} is true; otherwise they finish. */
  public void deleteJob(String job, boolean cancelsRuns) {
    await(async.deleteJob(job, cancelsRuns));
  }

  /**
   * Pauses a recurring job: once the server has answered, the schedule starts no more runs.
   *
   * @param reason a human-readable reason; null for none
   */
  public JobView pauseJob(String job, @Nullable String reason) {
    return await(async.pauseJob(job, reason));
  }

  /** Resumes a recurring job. Scheduled times that passed during the pause start no runs. */
  public JobView resumeJob(String job) {
    return await(async.resumeJob(job));
  }

  /**
   * Plans a recurring job again at once. If the job was planned while the store's clock was ahead, its times after the
   * present are decided again when they come.
   */
  public JobView rewindJob(String job) {
    return await(async.rewindJob(job));
  }

  /**
   * Requests a run of a recurring job now.
   *
   * @param idempotencyKey the caller's name for the request, which makes a repeat of the request safe; null for none
   * @return the time of the request in the form of RFC 3339, which identifies the run
   */
  public String triggerJob(String job, @Nullable String idempotencyKey) {
    return await(async.triggerJob(job, idempotencyKey));
  }

  /**
   * Changes some settings of a queue. The other settings keep their values, even values that other callers set at the
   * same time.
   *
   * @return the queue after the change, without its counts and lag
   */
  public QueueView patchQueue(String queue, QueuePatch patch) {
    return await(async.patchQueue(queue, patch));
  }

  /**
   * Returns a queue and its settings.
   *
   * @throws FoliotException with 404 if the queue does not exist
   */
  public QueueView getQueue(String queue) {
    return await(async.getQueue(queue));
  }

  /** Returns all queues that the API key may read. */
  public List<QueueView> listQueues() {
    return await(async.listQueues());
  }

  /**
   * Deletes a queue.
   *
   * @throws FoliotException with 409 if the queue has live tasks
   */
  public void deleteQueue(String queue) {
    await(async.deleteQueue(queue));
  }

  /** Pauses a queue: no more attempts begin. Tasks can still be submitted. */
  public void pauseQueue(String queue) {
    await(async.pauseQueue(queue));
  }

  /** Undoes {@link #pauseQueue}. */
  public void resumeQueue(String queue) {
    await(async.resumeQueue(queue));
  }

  /** Submits a task. */
  public SubmittedTask submit(String queue, NewTask task) {
    return await(async.submit(queue, task));
  }

  /**
   * Submits tasks in one request. The body is encoded while it is sent, so the call needs little memory beyond the
   * tasks.
   *
   * @return a result for each task, in the order of the tasks
   * @throws IllegalArgumentException if there are no tasks, or more than {@link #MAX_BATCH}. The client does not split
   *     a batch: if a later part failed, the answers to the earlier parts would be lost
   */
  public List<BatchResult> submitBatch(String queue, List<NewTask> tasks) {
    return await(async.submitBatch(queue, tasks));
  }

  /**
   * Creates the task of a key, or resets the live task of the key. A reset task gets a new generation and due time, and
   * its attempts are counted from 1 again. If the new task has no payload, the payload of the old task is kept.
   *
   * @throws IllegalArgumentException if the task has a different key, an {@code onConflict} or an idempotency key
   */
  public KeyResult putKey(String queue, String key, NewTask task) {
    return await(async.putKey(queue, key, task));
  }

  /**
   * Moves the deadlines of live tasks. Each task becomes due after the given delay, counted from now. One request can
   * carry the heartbeats of many keys.
   *
   * @return a result for each key, in the order of the keys; a key without a live task is not a failure
   * @throws IllegalArgumentException if there are no keys, or more than {@link #MAX_BATCH}
   */
  public List<TouchedKey> touchKeys(String queue, List<String> keys, Duration delay) {
    return await(async.touchKeys(queue, keys, delay));
  }

  /**
   * Returns the live task of a key, or else the latest final task that is kept.
   *
   * @throws FoliotException with 404 if there is no such task
   */
  public TaskView getByKey(String queue, String key) {
    return await(async.getByKey(queue, key));
  }

  /** Cancels the task of a key. */
  public Cancellation cancelByKey(String queue, String key) {
    return await(async.cancelByKey(queue, key));
  }

  /**
   * Returns a page of a queue's tasks.
   *
   * @param limit the largest number of results
   * @param cursor null for the first page, then the {@link TaskPage#nextCursor} of the previous page
   */
  public TaskPage listTasks(String queue, TaskQuery query, int limit, @Nullable String cursor) {
    return await(async.listTasks(queue, query, limit, cursor));
  }

  /**
   * Returns the tasks of a queue as a stream. Each page is read when the stream reaches it, and the read may fail as
   * {@link #listTasks} does. Tasks that change while the stream is read may be missed, or returned in their old state.
   */
  public Stream<TaskView> streamTasks(String queue, TaskQuery query) {
    return Stream.of(queue).flatMap(name -> {
      Iterator<TaskView> pages = new TaskPages(cursor -> listTasks(name, query, PAGE, cursor));
      return StreamSupport.stream(Spliterators.spliteratorUnknownSize(pages, Spliterator.NONNULL), false);
    });
  }

  /**
   * Cancels the tasks of a queue that pass a filter, in as many requests as necessary. Tasks that are submitted, reset
   * or retried in the meantime may remain. If this call fails, the tasks that were cancelled until then stay
   * cancelled, and the call may be repeated.
   *
   * @return the sum of the results of all requests
   */
  public BulkCancelResult cancelTasks(String queue, TaskFilter filter) {
    BulkCancelResult done = cancelTasks(queue, filter, MAX_BATCH, null);
    while (done.nextCursor() != null) {
      done = done.plus(cancelTasks(queue, filter, MAX_BATCH, done.nextCursor()));
    }
    return done;
  }

  /**
   * Cancels tasks of a queue that pass a filter, in one request.
   *
   * @param limit the largest number of tasks to cancel, from 1 to {@link #MAX_BATCH}
   * @param cursor null for the first request, then the {@link BulkCancelResult#nextCursor} of the previous answer
   */
  public BulkCancelResult cancelTasks(String queue, TaskFilter filter, int limit, @Nullable String cursor) {
    return await(async.cancelTasks(queue, filter, limit, cursor));
  }

  /**
   * Returns a task, with the records of its latest attempts.
   *
   * @throws FoliotException with 404 if the task does not exist
   */
  public TaskView getTask(String id) {
    return await(async.getTask(id));
  }

  /**
   * Returns the server's explanation why a task has not fired. The explanation is an unparsed JSON object, for display.
   */
  public String explain(String id) {
    return await(async.explain(id));
  }

  /** Cancels a task. */
  public Cancellation cancel(String id) {
    return await(async.cancel(id));
  }

  /** Makes a task due now. */
  public void runNow(String id) {
    await(async.runNow(id));
  }

  /**
   * Claims tasks of a pull queue. If none can be claimed yet, the call waits for at most {@link ClaimRequest#pollWait}.
   * If the outcome is unknown, tasks may have been claimed; they can be claimed again when their leases end. A {@link
   * Worker} claims, runs, extends and settles tasks by itself.
   *
   * @return the claimed tasks; empty if no task could be claimed within the wait
   */
  public List<ClaimedTask> claim(String queue, ClaimRequest claim) {
    return await(async.claim(queue, claim));
  }

  /**
   * Settles an attempt that has succeeded. A second {@code ack} of the same attempt is not a failure.
   *
   * @throws FoliotException with 409 if the lease is no longer valid
   */
  public void ack(Lease lease) {
    await(async.ack(lease));
  }

  /**
   * Settles an attempt that has succeeded. The task fires again after a delay.
   *
   * @param next the delay; the server raises a value below 100 ms to 100 ms
   * @throws FoliotException with 409 if the lease is no longer valid
   */
  public void ack(Lease lease, Duration next) {
    await(async.ack(lease, next));
  }

  /**
   * Settles an attempt that has failed permanently. The task is then FAILED, regardless of the queue's retry policy.
   *
   * @param reason a human-readable reason; null for none
   * @throws FoliotException with 409 if the lease is no longer valid
   */
  public void fail(Lease lease, @Nullable String reason) {
    await(async.fail(lease, reason));
  }

  /**
   * Settles an attempt that has failed. Another attempt follows while the task has attempts left.
   *
   * @param reason a human-readable reason; null for none
   * @param delay the delay until the next attempt; null for the queue's backoff
   * @throws FoliotException with 409 if the lease is no longer valid. If the client has repeated the call, the cause
   *     may be that an earlier request took effect
   */
  public void nack(Lease lease, @Nullable String reason, @Nullable Duration delay) {
    await(async.nack(lease, reason, delay));
  }

  /**
   * Extends a lease. The new end is the given duration from now, but not later than the queue's {@link
   * QueueConfig#maxRun} permits, and never earlier than the old end.
   *
   * @return how long the lease certainly lasts, counted from the call; at most the requested duration
   * @throws FoliotException with 409 if the lease is no longer valid, or the task was cancelled
   */
  public Duration extend(Lease lease, Duration duration) {
    return await(async.extend(lease, duration));
  }

  /** As {@link #extend(Lease, Duration)}; also stores a note. */
  public Duration extend(Lease lease, Duration duration, TaskNote note) {
    return await(async.extend(lease, duration, note));
  }

  /**
   * As {@link #extend(Lease, Duration, TaskNote)}; also tells the server that the worker is alive. A worker whose
   * handlers are all busy makes no claims, and would otherwise seem dead.
   *
   * @param worker the name with which the worker claims; null for none
   */
  public Duration extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker) {
    return await(async.extend(lease, duration, note, worker));
  }

  /** As {@link #ack(Lease)}; also stores a note. */
  public void ack(Lease lease, TaskNote note) {
    await(async.ack(lease, note));
  }

  /** Settles an attempt, as {@link #ack(Lease)}, {@link #nack(Lease, String, Duration)} and {@link #fail} do. */
  public void settle(Lease lease, Settlement settlement) {
    await(async.settle(lease, settlement));
  }

  /** As {@link #nack(Lease, String, Duration)}; also stores a note. */
  public void nack(Lease lease, @Nullable String reason, @Nullable Duration delay, TaskNote note) {
    await(async.nack(lease, reason, delay, note));
  }

  /** Redrives failed tasks of a queue, up to a limit. */
  public BulkRedriveResult redrive(String queue, int limit) {
    return await(async.redrive(queue, limit));
  }

  /**
   * Redrives failed tasks of a queue, given by their ids.
   *
   * @throws FoliotException if there is only one id, and its task cannot be redriven
   * @throws IllegalArgumentException if there are no ids, or more than {@link #MAX_BATCH}
   */
  public BulkRedriveResult redrive(String queue, List<String> ids) {
    return await(async.redrive(queue, ids));
  }

  /** Returns the workers that claim from at least one queue permitted by the API key, ordered by seat. */
  public List<WorkerView> workers() {
    return await(async.workers());
  }

  /**
   * Enables a worker, so that the server gives it tasks again.
   *
   * @throws FoliotException with 404 if no live worker has this name
   */
  public WorkerView enableWorker(String worker) {
    return await(async.enableWorker(worker));
  }

  /**
   * Disables a worker. The server gives the worker no more tasks until the worker is enabled, or until its process
   * ends. Running tasks finish.
   *
   * @throws FoliotException with 404 if no live worker has this name
   */
  public WorkerView disableWorker(String worker) {
    return await(async.disableWorker(worker));
  }

  /**
   * Returns the state of the cluster: the nodes, the slots, the store and its durability class. The result is an
   * unparsed JSON object, for display.
   */
  public String cluster() {
    return await(async.cluster());
  }

  /** Returns a text with the server's address, but without the API key. */
  @Override
  public String toString() {
    return "FoliotClient[" + transport.baseUrl() + "]";
  }

  private static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new UnknownOutcomeException("the call", "the thread was interrupted while it waited", e);
    } catch (CancellationException e) {
      throw new UnknownOutcomeException("the call", "its future was cancelled", e);
    } catch (ExecutionException e) {
      // The exception was created on another thread. Its new stack trace shows where the call was made.
      switch (requireNonNull(e.getCause()).fillInStackTrace()) {
        case RuntimeException failure -> throw failure;
        case Error failure -> throw failure;
        default -> throw new AssertionError(e);
      }
    }
  }

  /** The settings of a client. Not safe for use by several threads. */
  public static final class Builder {
    private static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(10);

    final String baseUrl;
    @Nullable
    String apiKey;
    RetryPolicy retry = RetryPolicy.standard();
    ClientClock clock = ClientClock.SYSTEM;
    private @Nullable Duration connectTimeout;
    private Duration requestTimeout = DEFAULT_REQUEST_TIMEOUT;
    private @Nullable HttpClient httpClient;

    Builder(URI baseUrl) {
      boolean http = "http".equalsIgnoreCase(baseUrl.getScheme()) || "https".equalsIgnoreCase(baseUrl.getScheme());
      if (!http || baseUrl.getHost() == null || baseUrl.getRawUserInfo() != null || baseUrl.getRawQuery() != null
          || baseUrl.getRawFragment() != null) {
        // The message does not repeat the URL, because its user info may contain a password.
        throw new IllegalArgumentException(
            "baseUrl: expected http or https with a host, and at most a port and a path, but got host="
                + baseUrl.getHost());
      }
      this.baseUrl = baseUrl.toString().replaceFirst("/+$", "");
    }

    /**
     * Sets the API key that is sent with every request; none by default.
     *
     * @throws IllegalArgumentException if the key is not visible ASCII
     */
    public Builder apiKey(String key) {
      apiKey = Names.requireVisibleAscii("an API key", key);
      return this;
    }

    /** Sets the longest wait for a connection; 5 seconds by default. */
    public Builder connectTimeout(Duration timeout) {
      connectTimeout = Durations.requirePositive("connectTimeout", timeout);
      return this;
    }

    /**
     * Sets the timeout of one request, from connecting to the last byte of the answer; 10 seconds by default. For a
     * claim, the poll wait is added. If a call is repeated, each request has this timeout.
     */
    public Builder requestTimeout(Duration timeout) {
      requestTimeout = Durations.requirePositive("requestTimeout", timeout);
      return this;
    }

    /** Sets the policy by which calls are repeated; {@link RetryPolicy#standard} by default. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /**
     * Sets the HTTP client to use, with its settings for TLS, a proxy or HTTP/2. By default a client for HTTP/1.1 is
     * created.
     *
     * @throws IllegalArgumentException if the HTTP client follows redirects, because the API key would be sent to their
     *     target
     */
    public Builder httpClient(HttpClient client) {
      if (client.followRedirects() != HttpClient.Redirect.NEVER) {
        throw new IllegalArgumentException(
            "the HttpClient must not follow redirects, because it would send the API key on: followRedirects="
                + client.followRedirects());
      }
      httpClient = client;
      return this;
    }

    Builder clock(ClientClock newClock) {
      clock = newClock;
      return this;
    }

    /**
     * Returns the client.
     *
     * @throws IllegalStateException if both an {@code HttpClient} and a connect timeout are set; set the timeout in the
     *     {@code HttpClient} instead
     */
    public FoliotClient build() {
      HttpClient given = httpClient;
      if (given != null && connectTimeout != null) {
        throw new IllegalStateException("connectTimeout and httpClient must not both be set");
      }
      Duration connect = connectTimeout == null ? DEFAULT_CONNECT_TIMEOUT : connectTimeout;
      // The JDK's client would otherwise request an upgrade to HTTP/2 with its first plain HTTP request.
      HttpClient http = given != null
          ? given
          : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(connect)
              .followRedirects(HttpClient.Redirect.NEVER).build();
      return new FoliotClient(new Transport(this, http, given == null), requestTimeout);
    }
  }
}
