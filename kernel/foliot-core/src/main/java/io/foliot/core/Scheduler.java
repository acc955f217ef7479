package io.foliot.core;

import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The API of an engine, for applications and for the server.
 *
 * <p>Any thread may call; no call blocks. A future completes when its result is durable. It fails with {@link
 * IllegalArgumentException} for a request that can never work, {@link UnknownQueueException} for a queue that does not
 * exist, {@link FailedException} when the engine cannot continue, {@link OverloadedException} when the call is refused
 * for now, for instance because too many calls wait (nothing was done; try again later), and {@link
 * io.foliot.core.store.StoreException} when the store is unreachable, in which case it is <em>unknown</em> whether the
 * call took effect. Futures may complete on the engine's own threads: hand longer work to another thread.
 */
public interface Scheduler extends AutoCloseable {
  /** Submits a task. */
  CompletableFuture<SubmitResult> submit(Submission submission);

  /** Submits tasks, with the effect of submitting them in order; at most {@link Limits#MAX_BATCH}. */
  CompletableFuture<List<SubmitResult>> submitAll(List<Submission> submissions);

  /** Moves the deadline of the live task of each key to a delay from now; at most {@link Limits#MAX_BATCH} keys. */
  CompletableFuture<List<TouchResult>> touch(String queue, List<String> keys, Duration delay);

  /** Makes a live task due now, as a new generation. */
  CompletableFuture<TouchResult> runNow(TaskId id);

  /** Cancels a task. */
  CompletableFuture<CancelResult> cancel(TaskRef ref);

  /** Returns the task, live or final; empty if it is not known, or not any more. */
  CompletableFuture<Optional<TaskRecord>> find(TaskRef ref);

  /**
   * Pages through the tasks of a queue. A page may be empty and still have a cursor.
   *
   * @param state null for tasks in any state
   * @param limit from 1 to 1,000
   * @param cursor the cursor of the previous page; null for the first one
   */
  CompletableFuture<TaskPage> tasks(String queue, @Nullable TaskState state, int limit, @Nullable String cursor);

  /** Returns why a task has not fired; empty if there is no such task. */
  CompletableFuture<Optional<Explanation>> explain(TaskId id);

  /**
   * Makes failed tasks of a queue live again, tasks of other queues being unknown to it; at most
   * {@link Limits#MAX_BATCH}.
   */
  CompletableFuture<List<RedriveResult>> redrive(String queue, List<TaskId> ids);

  /** Claims tasks of a pull queue for a worker, and waits for the first. The list is empty if none comes. */
  default CompletableFuture<List<TaskRecord>> pull(Pull pull) {
    return pull(pull, CompletableFuture.completedFuture(null)).thenApply(Pulled::tasks);
  }

  /**
   * Claims tasks of a pull queue for a worker, for a caller that passes them on over a connection that may be slow.
   *
   * @param payloadsTaken completes when the caller has passed the payloads on or given up; until then they count
   *        against the queue's share of this node's memory
   */
  CompletableFuture<Pulled> pull(Pull pull, CompletionStage<?> payloadsTaken);

  /** Reports that an attempt succeeded; with {@code next}, the task fires again after that. */
  default CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next) {
    return ack(id, token, next, TaskNote.NONE);
  }

  /** As {@link #ack(TaskId, Token, Duration)}, and stores the worker's note. */
  CompletableFuture<SettleResult> ack(TaskId id, Token token, @Nullable Duration next, TaskNote note);

  /**
   * Reports that an attempt failed; it is repeated after {@code delay}, or the queue's backoff, while attempts last.
   */
  default CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason) {
    return nack(id, token, delay, reason, TaskNote.NONE);
  }

  /** As {@link #nack(TaskId, Token, Duration, String)}, and stores the worker's note. */
  CompletableFuture<SettleResult> nack(TaskId id, Token token, @Nullable Duration delay, String reason, TaskNote note);

  /** Reports that an attempt failed and that a retry is pointless: the task becomes FAILED, a dead letter. */
  default CompletableFuture<SettleResult> fail(TaskId id, Token token, String reason) {
    return fail(id, token, reason, TaskNote.NONE);
  }

  /** As {@link #fail(TaskId, Token, String)}, and stores the worker's note. */
  CompletableFuture<SettleResult> fail(TaskId id, Token token, String reason, TaskNote note);

  /** Sets the end of a lease to this time from now. */
  default CompletableFuture<ExtendResult> extend(TaskId id, Token token, Duration lease) {
    return extend(id, token, lease, TaskNote.NONE);
  }

  /** As {@link #extend(TaskId, Token, Duration)}, and stores the worker's note. */
  CompletableFuture<ExtendResult> extend(TaskId id, Token token, Duration lease, TaskNote note);

  /** Creates or replaces a queue. The change takes effect on all nodes within a second. */
  CompletableFuture<QueueConfig> putQueue(QueueConfig queue);

  /**
   * Changes the settings of a queue, without overwriting concurrent changes. The change takes effect on all nodes
   * within a second.
   *
   * @param change computes the new settings from the current ones; it may run several times, and the future fails with
   *        its exception
   * @return the new settings; the future fails with {@link UnknownQueueException} if there is no such queue
   */
  CompletableFuture<QueueConfig> changeQueue(String name, UnaryOperator<QueueConfig> change);

  /**
   * Returns the queue, if this node knows it: a change by another node may take a second to be known. Does not ask the
   * store.
   */
  Optional<QueueConfig> queue(String name);

  /**
   * Returns the queue, if it exists. If other nodes may have created it, the store is asked before it counts as
   * missing.
   */
  CompletableFuture<Optional<QueueConfig>> findQueue(String name);

  /** Returns all queues with their figures, by name. */
  CompletableFuture<List<QueueStatus>> queues();

  /**
   * Deletes a queue that has no live tasks. Where nodes share the store this takes about three seconds, in which no
   * task is accepted for the queue; any other change of the queue meanwhile wins, and the deletion fails.
   *
   * @return the future fails with {@link QueueInUseException} while it has live tasks; false if there is no such queue
   */
  CompletableFuture<Boolean> deleteQueue(String name);

  /** Pauses or resumes a queue. */
  CompletableFuture<QueueConfig> setPaused(String name, boolean paused);

  /** Returns this node's view of the cluster. */
  ClusterStatus cluster();

  /** Returns a snapshot of this node's work. Cheap; any thread. */
  EngineStatus status();

  /** Returns the workers of the cluster as this node has last read them, which may be about two seconds ago. */
  Fleet fleet();

  /**
   * Notes that a worker of this node is alive. One whose handlers are all busy claims no tasks; its extensions tell.
   */
  void seen(String worker);

  /**
   * Notes that a worker of this node takes no more tasks of a queue. Its waiting pulls return the tasks that were
   * already reserved for them. Tasks addressed to it that have not begun go to its substitute within a second. Attempts
   * that it runs may finish.
   */
  void left(String worker, String queue);

  /**
   * Enables or disables a worker. A disabled one is given no new task; its running attempts finish. The setting lasts
   * until the worker's process ends.
   *
   * @return whether there is a live worker of that name
   */
  CompletableFuture<Boolean> enableWorker(String worker, boolean isEnabled);

  /**
   * Completes, with the cause, if the engine cannot continue because it lost one of its threads or ran out of memory.
   * From then on calls fail with {@link FailedException}; tasks stay in the store, for other nodes or the next start.
   * Stop the engine and start a new engine, or end the process.
   */
  CompletableFuture<Throwable> failure();

  /**
   * Stops: refuses calls, leaves the cluster, fires tasks until other nodes own its slots, then claims nothing more and
   * waits up to this time for running attempts, whose ends it records. The store is not closed. The time of the first
   * call counts: later calls complete when the first one does.
   */
  CompletableFuture<Void> stop(Duration patience);

  /** As {@link #stop} with ten seconds; blocks until it is done. */
  @Override
  void close();

  /**
   * The terms of a worker's claim.
   *
   * @param queue a queue whose delivery is {@code pull}
   * @param max how many tasks at most, from 1 to 1,000
   * @param waitMillis how long to wait for the first, at most 60,000
   * @param leaseMillis the duration of the leases; 0 for the queue's timeout
   * @param worker the name of the worker's process, by which it is known in the {@link Fleet}; empty for a worker that
   *     is not known, which is given no addressed task
   * @param zone the worker's data centre, rack or cell; may be empty
   */
  record Pull(String queue, int max, long waitMillis, long leaseMillis, String worker, String zone) {
    /** The longest wait: proxies on the way commonly allow this much. */
    public static final long MAX_WAIT_MILLIS = 60_000;
    /** The most tasks of one call. */
    public static final int MAX_TASKS = 1_000;

    /** Creates the claim of a worker without a zone. */
    public Pull(String queue, int max, long waitMillis, long leaseMillis, String worker) {
      this(queue, max, waitMillis, leaseMillis, worker, "");
    }

    public Pull {
      Limits.ensure(max >= 1 && max <= MAX_TASKS, "max is from 1 to 1000", max);
      Limits.ensure(waitMillis >= 0 && waitMillis <= MAX_WAIT_MILLIS, "wait is from 0 to 60 s", waitMillis);
      Limits.ensure(leaseMillis >= 0 && leaseMillis <= Duration.ofHours(24).toMillis(), "lease is from 0 to 24 h",
          leaseMillis);
    }
  }

  /**
   * The answer to a worker's claim.
   *
   * @param tasks may be empty
   * @param leaseMillis for how long their leases hold at least, counted from the call. A process that may be paused
   *     before it reads the answer counts it from when it sent the call, and is never too late
   */
  record Pulled(List<TaskRecord> tasks, long leaseMillis) {}

  /**
   * A queue with its figures.
   *
   * @param queue its settings
   * @param counts how many tasks, at most ten seconds old
   * @param settledPerSecond attempts that this node saw end, per second, over the last ten seconds or so
   * @param lag by how much the oldest task of it is overdue that waits on this node, is parked in the store, or was
   *        left over by another node; some seconds old
   */
  record QueueStatus(QueueConfig queue, QueueCounts counts, double settledPerSecond, Duration lag) {}

  /**
   * The reasons why a task has not fired.
   *
   * @param task the task
   * @param state its state; READY and DELAYED are distinguished
   * @param reasons the most important first
   * @param nowMillis the store's clock when it was explained
   * @param queue the settings of its queue, or null if there is none
   * @param permitsGranted how many permits of the queue this node has
   * @param slot its slot
   * @param owner the node that owns the slot; null if that is not known. The figures of the lane and of the destination
   *     are those of the node that answers
   * @param laneWaiting how many tasks wait in the queue's lane on this node
   * @param laneRunning how many attempts of the queue run on this node
   * @param destination where its attempts go
   * @param destinationLimit how many attempts that destination gets at once at the moment
   * @param destinationRunning how many attempts it has
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
   * @param leader the leading node, or null if that is not known
   * @param nodes all nodes
   * @param slotCount how many slots there are
   * @param ownedSlots the number of them that this node owns
   * @param storeKind the kind of store
   * @param durability the failures that an acknowledged write survives
   * @param coordinator how nodes find each other
   * @param clockOffsetMicros the store's clock minus this node's
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
   * @param takesSlots false while its clock is too far off
   * @param clockOffsetMillis by how much the store's clock is ahead of its own, to ten milliseconds
   */
  record ClusterNode(String node, String zone, int ownedSlots, boolean takesSlots, long clockOffsetMillis) {}

  /**
   * The activity of a node.
   *
   * @param wheelEntries ids in the wheels
   * @param lanes one per queue with something to say, by name
   * @param destinations one per destination with attempts or troubles, by name
   * @param oldestDueMillis by how much the oldest task is overdue that waits on this node, is parked in the store, or
   *        was left over by another node
   * @param unready why the node does not serve; empty if it does
   * @param missingQueues queues that do not exist although due tasks of theirs wait, by name
   */
  record EngineStatus(int wheelEntries, List<LaneStatus> lanes, List<DestinationStatus> destinations,
      long oldestDueMillis, List<Unready> unready, List<String> missingQueues) {
    public EngineStatus {
      lanes = List.copyOf(lanes);
      destinations = List.copyOf(destinations);
      unready = List.copyOf(unready);
      missingQueues = List.copyOf(missingQueues);
    }

    /** Returns whether the node serves: it is started, its store answers and takes writes, and its loops turn. */
    public boolean ready() {
      return unready.isEmpty();
    }
  }

  /**
   * A queue's lane on this node.
   *
   * @param waiting tasks that wait in memory
   * @param running attempts that run
   * @param hasParked whether it knows of parked tasks in the store
   * @param oldestDueMillis by how much the oldest task that waits is overdue
   */
  record LaneStatus(String queue, int waiting, int running, boolean hasParked, long oldestDueMillis) {}

  /** A destination: how many attempts it gets at once, and how many run. */
  record DestinationStatus(String destination, int limit, int running) {}

  /** The queue does not exist. */
  final class UnknownQueueException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String queue;

    /** Creates the exception for the name that was asked for. */
    public UnknownQueueException(String queue) {
      super("there is no such queue: queue=" + queue);
      this.queue = queue;
    }

    /** Returns the name that was asked for. */
    public String queue() {
      return queue;
    }
  }

  /** The queue has live tasks. */
  final class QueueInUseException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates the exception with the name. */
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

  /** Too much waits already; nothing was done. */
  class OverloadedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates an exception whose message says what is full. */
    public OverloadedException(String message) {
      super(message);
    }
  }

  /** The node takes no calls: it has not started, it stops, or its store was moved. Nothing was done. */
  final class NotServingException extends OverloadedException {
    private static final long serialVersionUID = 1;

    /** Creates the exception with the reason. */
    public NotServingException(String message) {
      super(message);
    }
  }
}
