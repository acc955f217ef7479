package io.foliot.client;

import static java.util.Objects.requireNonNull;

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
 * Talks to a Foliot server. Safe for use by any number of threads; one client for all of an application.
 *
 * <p>Each call waits for the answer; {@link #async} has the same calls without the wait. A call ends in one of four
 * ways: <ul>
 * <li>it returns: the server has done it, and durably, as far as its store is durable;
 * <li>{@link FoliotException}: the server refused it, and says why;
 * <li>{@link UnreachableException}: there was no connection, so nothing was done;
 * <li>{@link UnknownOutcomeException}: no usable answer came, so it may have been done or not. A timeout is always
 * this, and so is an interrupt, which stays set.
 * </ul>
 *
 * <p>The client repeats calls by itself, following its {@link RetryPolicy}:
 * <ul>
 * <li>after any failure, calls that may be made any number of times: all that only read, {@code putQueue},
 * {@code patchQueue}, {@code pauseQueue}, {@code resumeQueue}, {@code putJob}, {@code declareJob},
 * {@code enableWorker}, {@code disableWorker}, {@code touchKeys}, {@code ack}, {@code nack}, {@code fail},
 * {@code extend}, and submits where each task has an {@linkplain NewTask.Builder#idempotencyKey idempotency key};
 * <li>only if the server has certainly done nothing (it could not be reached, answered 429, or 503 with a
 * {@code Retry-After}): {@code putKey}, the cancels, {@code deleteQueue}, {@code deleteJob};
 * <li>never: a submit without an idempotency key, {@code claim}, {@code runNow}, {@code redrive}.
 * </ul>
 *
 * <p>Redirects are not followed, because the key would follow them.
 */
public final class FoliotClient implements AutoCloseable {
  /** The most items of one request; more are refused here, so that each answer is about one request. */
  public static final int MAX_BATCH = 10_000;

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
   * @throws IllegalArgumentException if it is not http or https, or has more than a host, a port and a path
   */
  public static Builder builder(URI baseUrl) {
    return new Builder(baseUrl);
  }

  /** Returns the same calls, each with a future for its answer. */
  public AsyncFoliotClient async() {
    return async;
  }

  /** Ends the calls under way, with an unknown outcome. An {@code HttpClient} that was given stays open. */
  @Override
  public void close() {
    transport.close();
  }

  /** Creates a queue, or replaces its settings. */
  public void putQueue(String queue, QueueSettings settings) {
    await(async.putQueue(queue, settings));
  }

  /** Creates a recurring job, or replaces its definition. The same definition again changes nothing. */
  public JobView putJob(Job job) {
    return await(async.putJob(job));
  }

  /**
   * Declares a recurring job that is defined in the code of an application. The definition is written if the job has
   * never had it: a change by hand stays until the code changes, and an old instance of the application changes nothing
   * during a rolling deployment.
   *
   * @return the job as it is, which may differ from the declaration
   */
  public JobView declareJob(Job job) {
    return await(async.declareJob(job));
  }

  /**
   * Returns a recurring job.
   *
   * @throws FoliotException with 404 if it does not exist
   */
  public JobView getJob(String job) {
    return await(async.getJob(job));
  }

  /** Deletes a recurring job; its active runs finish, unless they are to be cancelled. */
  public void deleteJob(String job, boolean cancelsRuns) {
    await(async.deleteJob(job, cancelsRuns));
  }

  /**
   * Pauses a recurring job: no scheduled time begins from the answer on.
   *
   * @param reason for people; null for none
   */
  public JobView pauseJob(String job, @Nullable String reason) {
    return await(async.pauseJob(job, reason));
  }

  /** Resumes a recurring job. Times that passed in the pause do not run. */
  public JobView resumeJob(String job) {
    return await(async.resumeJob(job));
  }

  /**
   * Asks for a run of a recurring job now.
   *
   * @param idempotencyKey the caller's name for the request, with which the client may repeat it; null for none
   * @return the time that names the run
   */
  public String triggerJob(String job, @Nullable String idempotencyKey) {
    return await(async.triggerJob(job, idempotencyKey));
  }

  /**
   * Changes some settings of a queue; the others keep their values, also those that other callers change at the same
   * time.
   *
   * @return the queue as it is now, without its figures
   */
  public QueueView patchQueue(String queue, QueuePatch patch) {
    return await(async.patchQueue(queue, patch));
  }

  /** Returns a queue and its settings. */
  public QueueView getQueue(String queue) {
    return await(async.getQueue(queue));
  }

  /** Returns all queues that the key may see. */
  public List<QueueView> listQueues() {
    return await(async.listQueues());
  }

  /** Deletes a queue; 409 if it has live tasks. */
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
   * Submits tasks in one request. It is written while it is sent, so it needs no memory beyond the tasks.
   *
   * @return the result of each, in their order
   * @throws IllegalArgumentException if they are none, or more than {@link #MAX_BATCH}. The client does not split a
   *     batch: if a later part failed, the answers to the earlier ones would be lost
   */
  public List<BatchResult> submitBatch(String queue, List<NewTask> tasks) {
    return await(async.submitBatch(queue, tasks));
  }

  /**
   * Creates the task under a key, or resets it: it gets a new generation and due time, and its attempts start again. If
   * the new task has no payload, the old one's is kept.
   *
   * @throws IllegalArgumentException if the task has another key, an {@code onConflict} or an idempotency key
   */
  public KeyResult putKey(String queue, String key, NewTask task) {
    return await(async.putKey(queue, key, task));
  }

  /**
   * Pushes the deadlines of live tasks to a delay from now: the heartbeat of many in one request.
   *
   * @return a result per key, in their order; a key without a live task is no failure
   * @throws IllegalArgumentException if the keys are none, or more than {@link #MAX_BATCH}
   */
  public List<TouchResult> touchKeys(String queue, List<String> keys, Duration delay) {
    return await(async.touchKeys(queue, keys, delay));
  }

  /** Returns the task under a key. */
  public TaskView getByKey(String queue, String key) {
    return await(async.getByKey(queue, key));
  }

  /** Cancels the task under a key. */
  public CancelResult cancelByKey(String queue, String key) {
    return await(async.cancelByKey(queue, key));
  }

  /**
   * Returns a part of a queue's tasks.
   *
   * @param state null for all
   * @param limit the largest number of results
   * @param cursor null for the first part, then each part's {@link TaskPage#nextCursor}
   */
  public TaskPage listTasks(String queue, @Nullable TaskState state, int limit, @Nullable String cursor) {
    return await(async.listTasks(queue, state, limit, cursor));
  }

  /**
   * Returns all tasks of a queue, of one state or of all if it is null. Each page is read when the stream reaches it,
   * and may fail as {@link #listTasks} does. Tasks that change meanwhile may be missed or seen in their old state.
   */
  public Stream<TaskView> streamTasks(String queue, @Nullable TaskState state) {
    return Stream.of(queue).flatMap(name -> {
      Iterator<TaskView> pages = new TaskPages(cursor -> listTasks(name, state, PAGE, cursor));
      return StreamSupport.stream(Spliterators.spliteratorUnknownSize(pages, Spliterator.NONNULL), false);
    });
  }

  /**
   * Cancels the tasks of a queue that pass a filter, in as many requests as necessary. Tasks that are submitted, reset
   * or retried meanwhile may remain. If it fails, tasks cancelled until then stay cancelled, and it may be called
   * again.
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
   * Cancels tasks of a queue that pass a filter, in one request, which takes the server a second or so.
   *
   * @param limit the largest number of results, from 1 to {@link #MAX_BATCH}
   * @param cursor null for the first request, then each answer's {@link BulkCancelResult#nextCursor}
   */
  public BulkCancelResult cancelTasks(String queue, TaskFilter filter, int limit, @Nullable String cursor) {
    return await(async.cancelTasks(queue, filter, limit, cursor));
  }

  /** Returns a task, with its last attempts. */
  public TaskView getTask(String id) {
    return await(async.getTask(id));
  }

  /** Returns why a task has not fired: the server's answer as it is, a JSON object for people. */
  public String explain(String id) {
    return await(async.explain(id));
  }

  /** Cancels a task. */
  public CancelResult cancel(String id) {
    return await(async.cancel(id));
  }

  /** Makes a task due now. */
  public void runNow(String id) {
    await(async.runNow(id));
  }

  /**
   * Claims tasks of a queue that is pulled, waiting for the first as long as the request says. If the outcome is
   * unknown, tasks may have been claimed; they come back when their leases end. {@link Worker} does all this by itself.
   *
   * @return empty if there was none in that time
   */
  public List<ClaimedTask> claim(String queue, ClaimRequest claim) {
    return await(async.claim(queue, claim));
  }

  /**
   * Says that an attempt has succeeded. Saying so again is no failure.
   *
   * @throws FoliotException with 409 if the lease is no longer the task's
   */
  public void ack(Lease lease) {
    await(async.ack(lease));
  }

  /**
   * Says that an attempt has succeeded, and that the task fires again after a while, 100 ms at least.
   *
   * @throws FoliotException with 409 if the lease is no longer the task's
   */
  public void ack(Lease lease, Duration next) {
    await(async.ack(lease, next));
  }

  /**
   * Says that an attempt has failed and that no further one would help: the task is FAILED, whatever the queue's retry
   * policy.
   *
   * @param reason for people; null for none
   * @throws FoliotException with 409 if the lease is no longer the task's
   */
  public void fail(Lease lease, @Nullable String reason) {
    await(async.fail(lease, reason));
  }

  /**
   * Reports that an attempt has failed; the queue's retry policy decides the rest.
   *
   * @param reason for people; null for none
   * @param delay until the next attempt; null for the queue's backoff
   * @throws FoliotException with 409 if the lease is no longer the task's; after a repeat by the client this may be so
   *     because an earlier attempt at the nack has got through
   */
  public void nack(Lease lease, @Nullable String reason, @Nullable Duration delay) {
    await(async.nack(lease, reason, delay));
  }

  /**
   * Extends a lease to a time from now, within the queue's longest run time.
   *
   * @throws FoliotException with 409 if the lease is no longer the task's, or the task was cancelled
   */
  public void extend(Lease lease, Duration duration) {
    await(async.extend(lease, duration));
  }

  /** As {@link #extend(Lease, Duration)}; also says how far the work is. */
  public void extend(Lease lease, Duration duration, TaskNote note) {
    await(async.extend(lease, duration, note));
  }

  /**
   * As {@link #extend(Lease, Duration, TaskNote)}; also says that the worker is alive, which claims nothing while all
   * its handlers are busy.
   *
   * @param worker the name that it claims with; null for none
   */
  public void extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker) {
    await(async.extend(lease, duration, note, worker));
  }

  /** As {@link #ack(Lease)}, with the result of the work. */
  public void ack(Lease lease, TaskNote note) {
    await(async.ack(lease, note));
  }

  /** Ends an attempt, as {@link #ack(Lease)}, {@link #nack(Lease, String, Duration)} and {@link #fail} do. */
  public void settle(Lease lease, Settlement settlement) {
    await(async.settle(lease, settlement));
  }

  /** As {@link #nack(Lease, String, Duration)}; also says how far the work is. */
  public void nack(Lease lease, @Nullable String reason, @Nullable Duration delay, TaskNote note) {
    await(async.nack(lease, reason, delay, note));
  }

  /** Redrives failed tasks of a queue, up to a limit. */
  public RedriveResult redrive(String queue, int limit) {
    return await(async.redrive(queue, limit));
  }

  /** Puts these failed tasks of a queue back to work. If it is a single one that cannot be, the server refuses. */
  public RedriveResult redrive(String queue, List<String> ids) {
    return await(async.redrive(queue, ids));
  }

  /** Returns the workers of the cluster that take tasks of queues which the key permits, by their seats. */
  public List<WorkerView> workers() {
    return await(async.workers());
  }

  /**
   * Gives a worker tasks again.
   *
   * @throws FoliotException with 404 if no live worker has this name
   */
  public WorkerView enableWorker(String worker) {
    return await(async.enableWorker(worker));
  }

  /**
   * Gives a worker no more tasks, until it is enabled or its process ends. Its running tasks finish.
   *
   * @throws FoliotException with 404 if no live worker has this name
   */
  public WorkerView disableWorker(String worker) {
    return await(async.disableWorker(worker));
  }

  /** Nodes, slots, the store and its durability class: the server's answer as it is, a JSON object for people. */
  public String cluster() {
    return await(async.cluster());
  }

  /** Returns the server's address; not the key. */
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
      throw new UnknownOutcomeException("the call", "it was cancelled", e);
    } catch (ExecutionException e) {
      // The failure arose on a thread that the caller does not know; the added stack shows where the call was made.
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
        // Not repeated in full, because user info would be a password.
        throw new IllegalArgumentException(
            "a base URL is http or https, a host, and perhaps a port and a path: host=" + baseUrl.getHost());
      }
      this.baseUrl = baseUrl.toString().replaceFirst("/+$", "");
    }

    /**
     * Sets the key that goes with every request; none unless set.
     *
     * @throws IllegalArgumentException if it is not visible ASCII
     */
    public Builder apiKey(String key) {
      apiKey = Names.requireVisibleAscii("an API key", key);
      return this;
    }

    /** Sets the time to wait for a connection; 5 seconds by default. */
    public Builder connectTimeout(Duration timeout) {
      connectTimeout = DurationText.requirePositive("connectTimeout", timeout);
      return this;
    }

    /**
     * Sets the time to wait for the whole answer, connecting included; 10 seconds by default. A claim gets the time
     * that it waits on top, a call that is repeated gets it each time.
     */
    public Builder requestTimeout(Duration timeout) {
      requestTimeout = DurationText.requirePositive("requestTimeout", timeout);
      return this;
    }

    /** {@link RetryPolicy#standard} unless set. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /**
     * Sets a client with settings of its own: TLS, a proxy, HTTP/2. Unless set, one that speaks HTTP/1.1.
     *
     * @throws IllegalArgumentException if it follows redirects, because it would hand the key on
     */
    public Builder httpClient(HttpClient client) {
      if (client.followRedirects() != HttpClient.Redirect.NEVER) {
        throw new IllegalArgumentException(
            "the HttpClient must not follow redirects, or it would hand the API key on: followRedirects="
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
     * @throws IllegalStateException if there are both an {@code HttpClient} and a connect timeout, which is among its
     *     settings
     */
    public FoliotClient build() {
      HttpClient given = httpClient;
      if (given != null && connectTimeout != null) {
        throw new IllegalStateException("a connect timeout is a setting of the HttpClient, and one was given");
      }
      Duration connect = connectTimeout == null ? DEFAULT_CONNECT_TIMEOUT : connectTimeout;
      // Over plain HTTP the JDK's client would ask for an upgrade to HTTP/2 with the first request, of any kind.
      HttpClient http = given != null
          ? given
          : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(connect)
              .followRedirects(HttpClient.Redirect.NEVER).build();
      return new FoliotClient(new Transport(this, http, given == null), requestTimeout);
    }
  }
}
