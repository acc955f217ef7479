package io.foliot.core;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The API of an engine, for applications and for the server.
 *
 * <p>Any thread may call the methods, and only {@link #close} blocks. A future completes when its result is durable.
 * Futures may complete on the engine's threads: hand longer work to another thread. A call for several items returns
 * their results in the order of the items. A future fails with
 *
 * <ul>
 * <li>{@link IllegalArgumentException} for a request that can never work
 * <li>{@link UnknownQueueException} for a queue that does not exist
 * <li>{@link FailedException} when the engine cannot continue
 * <li>{@link OverloadedException} when the call is refused for now, for instance because too many calls wait. Nothing
 * was done; try again later
 * <li>{@link io.foliot.core.store.StoreException} when the store fails. Nothing was done if the exception is a {@link
 * io.foliot.core.store.StoreAwayException} or {@link io.foliot.core.store.StoreFullException}; otherwise it is
 * <em>unknown</em> whether the call took effect
 * </ul>
 */
public interface Scheduler extends AutoCloseable {
  /** Submits a task. */
  CompletableFuture<SubmitResult> submit(Submission submission);

  /** Submits at most {@link Limits#MAX_BATCH} tasks. The effect is that of submitting them one by one, in order. */
  CompletableFuture<List<SubmitResult>> submitAll(List<Submission> submissions);

  /** Makes the live task of each key due after {@code delay} from now; at most {@link Limits#MAX_BATCH} keys. */
  CompletableFuture<List<TouchResult>> touch(String queue, List<String> keys, Duration delay);

  /** Makes a live task due now, as a new generation. */
  CompletableFuture<TouchResult> runNow(TaskId id);

  /** Cancels a task. */
  CompletableFuture<CancelResult> cancel(TaskRef ref);

  /** Returns the task, live or final; empty if it does not exist, or is no longer kept. */
  CompletableFuture<Optional<TaskRecord>> find(TaskRef ref);

  /**
   * Pages through the tasks of a queue, in no particular order. A page may be empty and still have a cursor.
   *
   * @param state null for tasks in any state
   * @param limit from 1 to 1,000
   * @param cursor the cursor of the previous page; null for the first one
   */
  CompletableFuture<RecordPage> tasks(String queue, @Nullable TaskState state, int limit, @Nullable String cursor);

  /** Returns the reasons why a task has not fired; empty if there is no such task. */
  CompletableFuture<Optional<Explanation>> explain(TaskId id);

  /**
   * Makes failed tasks of a queue live again; at most {@link Limits#MAX_BATCH}. A task of another queue is not found.
   */
  CompletableFuture<List<RedriveResult>> redrive(String queue, List<TaskId> ids);

  /**
   * Claims tasks of a pull queue for a worker, and waits until at least one is claimed. The list is empty if the wait
   * ends before that.
   */
  default CompletableFuture<List<TaskRecord>> pull(Pull pull) {
    return pull(pull, CompletableFuture.completedFuture(null)).thenApply(Pulled::tasks);
  }

  /**
   * Claims tasks as {@link #pull(Pull)} does. The caller passes the tasks on over a connection that may be slow.
   *
   * @param payloadsTaken completes when the caller has passed the payloads on or given up; until then the payloads
   *        count against the queue's share of this node's memory
   */
  default CompletableFuture<Pulled> pull(Pull pull, CompletionStage<?> payloadsTaken) {
    return pull(pull, payloadsTaken, new CompletableFuture<Void>());
  }

  /**
   * Claims tasks as {@link #pull(Pull, CompletionStage)} does, for a caller that may go away while it waits.
   *
   * @param gone completes when no caller waits for the answer any more. The wait then ends, and no further task is
   *        claimed for it. The future may still complete with tasks that were claimed before
   */
  CompletableFuture<Pulled> pull(Pull pull, CompletionStage<?> payloadsTaken, CompletionStage<?> gone);

  /** Reports that an attempt succeeded. If {@code next} is not null, the task fires again after that time. */
  default CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next) {
    return ack(id, token, next, TaskNote.NONE);
  }

  /** Does the same as {@link #ack(TaskId, Token, Duration)}, and stores the worker's note. */
  CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next, TaskNote note);

  /**
   * Reports that an attempt failed. If the task has attempts left, it is tried again after {@code delay}, or after the
   * queue's backoff if {@code delay} is null.
   */
  default CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason) {
    return nack(id, token, delay, reason, TaskNote.NONE);
  }

  /** Does the same as {@link #nack(TaskId, Token, Duration, String)}, and stores the worker's note. */
  CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason, TaskNote note);

  /**
   * Reports that an attempt did not begin: the worker has not seen the task, because the answer to its claim could not
   * be written. The attempt does not count, and the task is due again; see
   * {@link io.foliot.core.store.Outcome.NotBegun}.
   */
  CompletableFuture<SettleResult> giveBack(TaskId id, Token token, String reason);

  /**
   * Reports that the worker has not begun the attempt, for example because it stops. The attempt does not count, as
   * after {@link #giveBack}. But this is the word of the worker, which may be wrong each time: if the latest attempts
   * of the generation, more than {@link io.foliot.core.store.Outcome.NotBegun#AT_ONCE} in a row, did not begin either,
   * the attempt counts as failed, as after {@link #nack}. So a task that is always given back becomes a dead letter.
   */
  CompletableFuture<SettleResult> notBegun(TaskId id, Token token, String reason, TaskNote note);

  /** Reports that an attempt failed and that a retry is pointless: the task becomes FAILED, a dead letter. */
  default CompletableFuture<SettleResult> fail(TaskId id, Token token, String reason) {
    return fail(id, token, reason, TaskNote.NONE);
  }

  /** Does the same as {@link #fail(TaskId, Token, String)}, and stores the worker's note. */
  CompletableFuture<SettleResult> fail(TaskId id, Token token, String reason, TaskNote note);

  /**
   * Moves the end of a lease to {@code lease} from now, but never to an earlier time. The queue's {@code maxRun} limits
   * the end.
   */
  default CompletableFuture<Extended> extend(TaskId id, Token token, Duration lease) {
    return extend(id, token, lease, TaskNote.NONE);
  }

  /** Does the same as {@link #extend(TaskId, Token, Duration)}, and stores the worker's note. */
  default CompletableFuture<Extended> extend(TaskId id, Token token, Duration lease, TaskNote note) {
    return extend(id, token, lease, note, WorkerId.ANONYMOUS);
  }

  /**
   * Does the same as {@link #extend(TaskId, Token, Duration, TaskNote)}. A successful extension shows that the worker
   * which holds the lease is alive: while all its handlers are busy, a worker pulls nothing.
   *
   * @param caller the worker by its own account. It counts only if this node does not know who holds the lease, because
   *     another node has given the task to the worker, and if the worker has called this node lately
   */
  CompletableFuture<Extended> extend(TaskId id, Token token, Duration lease, TaskNote note, WorkerId caller);

  /**
   * Returns why workers of a queue that call this node get no tasks, or none with an address: {@link
   * TaskReason#TOO_MANY_WORKERS}, {@link TaskReason#NO_SEAT}. Empty if this node has no such worker.
   */
  Set<TaskReason> heldBack(String queue);

  /** Creates or replaces a queue. The change takes effect on all nodes within a second. */
  CompletableFuture<QueueConfig> putQueue(QueueConfig queue);

  /**
   * Changes the settings of a queue, without overwriting concurrent changes. The change takes effect on all nodes
   * within a second.
   *
   * @param change computes the new settings from the current ones; it may be called several times. If it throws, the
   *        future fails with its exception
   * @return the new settings; the future fails with {@link UnknownQueueException} if there is no such queue
   */
  CompletableFuture<QueueConfig> changeQueue(String name, UnaryOperator<QueueConfig> change);

  /**
   * Returns the queue as this node last read it, without calling the store; empty if this node does not know the queue.
   * A change by another node is visible within a second.
   */
  Optional<QueueConfig> queue(String name);

  /**
   * Returns the queue; empty if it does not exist. If another node may have created the queue, this method reads the
   * store before it returns empty.
   */
  CompletableFuture<Optional<QueueConfig>> findQueue(String name);

  /** Returns all queues with their figures, by name. */
  CompletableFuture<List<QueueStatus>> queues();

  /**
   * Deletes a queue that has no live tasks. If nodes share the store, a deletion takes about three seconds. During
   * these seconds, the queue accepts no task. If a caller changes the queue meanwhile, the future fails with {@link
   * OverloadedException}.
   *
   * @return false if there is no such queue; the future fails with {@link QueueInUseException} if it has live tasks
   */
  CompletableFuture<Boolean> deleteQueue(String name);

  /** Pauses or resumes a queue. */
  CompletableFuture<QueueConfig> setPaused(String name, boolean paused);

  /** Returns this node's view of the cluster. */
  ClusterStatus cluster();

  /** Returns a snapshot of this node's work. */
  EngineStatus status();

  /** Returns the workers of the cluster as this node has last read them, which may be about two seconds ago. */
  Fleet fleet();

  /**
   * Records that a worker of this node takes no more tasks of a queue. The worker's waiting pulls return the tasks that
   * were already reserved for them. Tasks that are addressed to the worker and have not begun go to its substitute
   * within a second. The worker's running attempts may finish.
   */
  void left(WorkerId worker, String queue);

  /**
   * Enables or disables a worker. A disabled worker gets no new task; its running attempts finish. The setting lasts
   * until the worker's process ends.
   *
   * @param worker the name; the setting applies to the workers of all owners that have it
   * @return whether there is a live worker of that name
   */
  CompletableFuture<Boolean> enableWorker(String worker, boolean isEnabled);

  /**
   * Returns a future that completes with the cause if the engine has lost one of its threads or run out of memory, and
   * cannot continue. From then on calls fail with {@link FailedException}. Tasks stay in the store, for other nodes or
   * the next start. Stop the engine and start a new engine, or end the process.
   */
  CompletableFuture<Throwable> failure();

  /**
   * Stops the engine. The engine refuses calls, leaves the cluster, and fires tasks until other nodes own its slots.
   * Then it claims nothing more, waits up to {@code patience} for running attempts, and records their ends and the
   * extensions of their leases. The store is not closed. Only the first call sets the patience: later calls complete
   * when the first call does.
   */
  CompletableFuture<Void> stop(Duration patience);

  /** Stops the engine as {@link #stop} does, with a patience of ten seconds. Blocks until the engine has stopped. */
  @Override
  void close();

  /**
   * The terms of a worker's claim.
   *
   * @param queue a queue whose delivery is {@code pull}
   * @param max the maximum number of tasks, from 1 to 1,000
   * @param waitMillis how long to wait for the first task, at most 60,000
   * @param leaseMillis the duration of the leases, at most 24 h; 0 for the queue's timeout
   * @param worker the worker's process in the {@link Fleet}
   * @param zone the worker's data centre, rack or cell; may be empty
   */
  record Pull(String queue, int max, long waitMillis, long leaseMillis, WorkerId worker, String zone) {
    /** Longest wait; proxies between a worker and the server commonly allow this much. */
    public static final long MAX_WAIT_MILLIS = 60_000;
    /** Maximum number of tasks of one call. */
    public static final int MAX_TASKS = 1_000;

    /** Creates the claim of a worker without a zone. */
    public Pull(String queue, int max, long waitMillis, long leaseMillis, String worker) {
      this(queue, max, waitMillis, leaseMillis, worker, "");
    }

    /** Creates the claim of a worker of the application that contains the engine. */
    public Pull(String queue, int max, long waitMillis, long leaseMillis, String worker, String zone) {
      this(queue, max, waitMillis, leaseMillis, WorkerId.of(worker), zone);
    }

    public Pull {
      Limits.ensure(max >= 1 && max <= MAX_TASKS, "max is from 1 to 1000", max);
      Limits.ensure(waitMillis >= 0 && waitMillis <= MAX_WAIT_MILLIS, "wait is from 0 to 60 s", waitMillis);
      Limits.ensure(leaseMillis >= 0 && leaseMillis <= Duration.ofHours(24).toMillis(), "lease is from 0 to 24 h",
          leaseMillis);
    }
  }

  /**
   * The result of a worker's claim.
   *
   * @param tasks the claimed tasks; may be empty
   * @param leaseMillis the minimum duration of the leases. A caller must count it from the instant at which it sent the
   *     call, because its process may be paused before it reads the result
   */
  record Pulled(List<TaskRecord> tasks, long leaseMillis) {}

  /**
   * The result of an extension.
   *
   * @param kind the effect of the call
   * @param leaseEnd the new end of the lease, in milliseconds since 1970 by the store's clock; 0 if the extension was
   *     refused
   * @param leaseMillis the minimum duration of the lease, counted from the call; 0 if the extension was refused. This
   *     duration is shorter than the requested one if the queue's {@code maxRun} ends the lease earlier
   */
  record Extended(ExtendResult.Kind kind, long leaseEnd, long leaseMillis) {}

  /**
   * A queue with its figures.
   *
   * @param queue its settings
   * @param counts the numbers of its tasks by state; at most ten seconds old, unless a count takes more than half a
   *     second
   * @param settledPerSecond how many attempts of the queue ended per second on this node, averaged over some seconds
   * @param lag the time since the oldest waiting task of the queue became due; zero if no due task waits. The figure is
   *        some seconds old. It covers tasks that wait on this node, are parked in the store, or are overdue in slots
   *        of other nodes
   */
  record QueueStatus(QueueConfig queue, QueueCounts counts, double settledPerSecond, Duration lag) {}

  /**
   * The reasons why a task has not fired. The figures of the lane and of the destination come from the node that was
   * called.
   *
   * @param task the task
   * @param state the state of the task at {@code nowMillis}: READY if the task was due then, DELAYED if it was not
   * @param reasons the most important first
   * @param nowMillis the store's clock at the time of the explanation, in milliseconds since 1970
   * @param queue the settings of the task's queue, or null if the queue does not exist
   * @param permitsGranted how many permits of the queue this node has
   * @param slot the slot of the task
   * @param owner the node that owns the slot; null if the owner is not known
   * @param laneWaiting how many tasks wait in the queue's lane in the task's loop on this node
   * @param laneRunning how many attempts of the queue run in the task's loop on this node
   * @param destination the name of the destination of the task's attempts; empty if this node cannot deliver the task
   * @param destinationLimit how many concurrent attempts the destination may have at the moment
   * @param destinationRunning how many attempts to the destination run
   */
  record Explanation(TaskRecord task, TaskState state, List<TaskReason> reasons, long nowMillis,
      @Nullable QueueConfig queue,
      int permitsGranted, int slot, @Nullable String owner, int laneWaiting, int laneRunning, String destination,
      int destinationLimit, int destinationRunning) {
    public Explanation {
      reasons = List.copyOf(reasons);
    }
  }

  /**
   * The cluster as this node sees it.
   *
   * @param node this node
   * @param zone its zone
   * @param leader the leading node, or null if the leader is not known
   * @param nodes all nodes
   * @param slotCount the number of slots of the store
   * @param ownedSlots the number of slots that this node owns
   * @param storeKind the kind of store
   * @param durability the failures that an acknowledged write survives
   * @param coordinator the kind of coordinator
   * @param clockOffsetMicros the store's clock minus this node's clock
   */
  record ClusterStatus(String node, String zone, @Nullable String leader, List<ClusterNode> nodes, int slotCount,
      int ownedSlots, String storeKind, Durability durability, String coordinator, long clockOffsetMicros) {
    public ClusterStatus {
      nodes = List.copyOf(nodes);
    }
  }

  /**
   * A node of the cluster.
   *
   * @param node its name
   * @param zone its data centre, rack or cell
   * @param ownedSlots the number of slots that it owns
   * @param takesSlots false while the clock of the node is so far off that the node owns no slots
   * @param clockOffsetMillis the store's clock minus the node's clock; a change of less than ten milliseconds is not
   *     published
   */
  record ClusterNode(String node, String zone, int ownedSlots, boolean takesSlots, long clockOffsetMillis) {}

  /**
   * The activity of a node.
   *
   * @param wheelEntries the number of ids in the timing wheels
   * @param lanes the lanes of this node, one per queue, by name
   * @param destinations the destinations of this node, in no particular order
   * @param oldestDueMillis the time since the oldest waiting task became due; 0 if no due task waits. It covers tasks
   *        that wait on this node, are parked in the store, or are overdue in slots of other nodes
   * @param unready why the node is not ready; empty if it is ready
   * @param missingQueues queues that have due tasks but do not exist, by name
   */
  record EngineStatus(int wheelEntries, List<LaneStatus> lanes, List<DestinationStatus> destinations,
      long oldestDueMillis, List<Unready> unready, List<String> missingQueues) {
    public EngineStatus {
      lanes = List.copyOf(lanes);
      destinations = List.copyOf(destinations);
      unready = List.copyOf(unready);
      missingQueues = List.copyOf(missingQueues);
    }

    /**
     * Returns whether the node is started and not stopping, its store responds, takes writes and is not sealed, and its
     * loops make turns.
     */
    public boolean ready() {
      return unready.isEmpty();
    }
  }

  /**
   * A queue's lane on this node.
   *
   * @param waiting tasks that wait in memory
   * @param running attempts that run
   * @param hasParked whether the node has found parked tasks of the queue in the store
   * @param oldestDueMillis the time since the oldest task in the lane became due; 0 if none is overdue
   */
  record LaneStatus(String queue, int waiting, int running, boolean hasParked, long oldestDueMillis) {}

  /** A destination, its present limit of concurrent attempts, and the number of attempts that run. */
  record DestinationStatus(String destination, int limit, int running) {}

  /** The queue does not exist. */
  final class UnknownQueueException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String queue;

    /** Creates the exception for the name of the missing queue. */
    public UnknownQueueException(String queue) {
      super("there is no such queue: queue=" + queue);
      this.queue = queue;
    }

    /** Returns the name of the missing queue. */
    public String queue() {
      return queue;
    }
  }

  /** The queue has live tasks. */
  final class QueueInUseException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates the exception with the name of the queue. */
    public QueueInUseException(String queue) {
      super("a queue with live tasks cannot be deleted: queue=" + queue);
    }
  }

  /** The engine cannot continue; nothing was done. */
  final class FailedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates the exception for the failure that ended the engine. */
    public FailedException(Throwable cause) {
      super("the engine of this node has failed and has stopped working; close it and start a new one: cause="
          + cause, cause);
    }
  }

  /** The call is refused for now; nothing was done. */
  class OverloadedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates an exception whose message says why the call is refused. */
    public OverloadedException(String message) {
      super(message);
    }
  }

  /** The owner of a worker has its share of the workers that a node can know, and this worker would be one more. */
  final class TooManyWorkersException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int known;

    /** Creates the exception with the number of workers of the owner that the node knows. */
    public TooManyWorkersException(int known) {
      super("the owner of this worker has its share of the workers that a node can know: workers=" + known);
      this.known = known;
    }

    /** Returns how many workers of the owner the node knows. */
    public int known() {
      return known;
    }
  }

  /** The node does not take the call: it has not started, is stopping, or its store is sealed. Nothing was done. */
  final class NotServingException extends OverloadedException {
    private static final long serialVersionUID = 1;

    /** Creates the exception with the reason. */
    public NotServingException(String message) {
      super(message);
    }
  }
}
