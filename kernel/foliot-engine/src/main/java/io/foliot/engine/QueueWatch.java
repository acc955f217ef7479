package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.Stages;
import io.foliot.core.TimeSource;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads the settings of all queues once a second, if other nodes may change them. A call needs a further read if the
 * store is shared and the call names a queue that this node does not know. A call that has written a task also needs a
 * further read, unless a recent read shows that the task's queue is not being deleted.
 *
 * <p>A read serves every call that waits for one, for any queues. At most one read is under way. A pause precedes the
 * next read for calls, so calls with made-up names cost the store little. A call always waits for a read that began
 * after the call. So the call finds every queue that another node has created before.
 */
final class QueueWatch {
  /**
   * Validity of a read of the queues, from its start. Within this time a new task needs no further read: a deletion
   * that the read missed waits for longer than this time before it checks for tasks.
   */
  static final long VALID_NANOS = 2_500_000_000L;

  private static final long EVERY_NANOS = 1_000_000_000L;
  private static final long LEAST_PAUSE_NANOS = 10_000_000;
  /** Pause after a read, in multiples of its duration. */
  private static final int PAUSE = 10;

  private final TaskStore store;
  private final QueueRegistry registry;
  private final TimeSource clock;
  private final Inbox inbox;
  private final Consumer<Set<String>> changed;

  // any thread
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> waiting = new ConcurrentLinkedQueue<>();

  // the loop's thread
  private boolean underWay;
  private long beganNanos;
  private long pauseEndNanos;

  /**
   * Creates a watch that reads when {@link #turn} is called.
   *
   * @param inbox the inbox of the loop whose thread reads
   * @param changed receives the names of queues that have changed
   */
  QueueWatch(TaskStore store, QueueRegistry registry, TimeSource clock, Inbox inbox,
      Consumer<Set<String>> changed) {
    this.store = store;
    this.registry = registry;
    this.clock = clock;
    this.inbox = inbox;
    this.changed = changed;
    beganNanos = clock.monotonicNanos();
    pauseEndNanos = beganNanos;
  }

  // Any thread.

  /**
   * Returns a queue; fails with {@link UnknownQueueException} if there is none. If this node does not know the queue
   * and the store is shared, waits for a read of all queues first.
   */
  CompletableFuture<QueueConfig> find(String name) {
    QueueConfig known = registry.callersQueue(name);
    if (known != null) {
      return CompletableFuture.completedFuture(known);
    }
    return store.isShared()
        ? nextRead().thenApply(read -> ensureKnown(name))
        : CompletableFuture.failedFuture(new UnknownQueueException(name));
  }

  /** Returns the queue, or empty if the store does not have it either. */
  CompletableFuture<Optional<QueueConfig>> findAny(String name) {
    return find(name).thenApply(Optional::of)
        .exceptionallyCompose(failure -> GroupCommit.unwrapped(failure) instanceof UnknownQueueException
            ? CompletableFuture.completedFuture(Optional.empty())
            : CompletableFuture.failedFuture(failure));
  }

  /**
   * Runs a call about a queue; fails with {@link UnknownQueueException} if the store does not have the queue either.
   */
  <T> CompletionStage<T> withQueue(String name, Function<QueueConfig, CompletionStage<T>> call) {
    QueueConfig known = registry.callersQueue(name);
    return known == null ? find(name).thenCompose(call) : call.apply(known);
  }

  /** Runs a call about several queues; fails with {@link UnknownQueueException} if the store lacks one of them. */
  <T> CompletionStage<T> withQueues(Collection<String> names, Supplier<CompletionStage<T>> call) {
    for (String name : names) {
      if (registry.callersQueue(name) == null) {
        return find(name).thenCompose(found -> withQueues(names, call));
      }
    }
    return call.get();
  }

  private QueueConfig ensureKnown(String name) {
    QueueConfig known = registry.callersQueue(name);
    if (known == null) {
      throw new UnknownQueueException(name);
    }
    return known;
  }

  /**
   * Completes at the end of a read that begins after this call. Fails with {@link StoreAwayException} if the read
   * fails.
   */
  CompletableFuture<Void> nextRead() {
    CompletableFuture<Void> read = new CompletableFuture<>();
    waiting.add(read);
    inbox.wake();
    return read;
  }

  /**
   * Returns whether the latest read of the queues is recent enough, and shows that a task's queue is not being deleted.
   * The task is live, and was written or read a moment ago. A node that deletes the queue waits for longer than {@link
   * #VALID_NANOS} before it checks for tasks.
   *
   * @param generation the generation of the task, which is no less than the store's clock at the write, in microseconds
   */
  boolean isConfirmed(String queue, long generation) {
    // The time of the read is taken first: the known settings may then be newer than that read, and never older.
    QueueRegistry.Read read = registry.lastRead();
    boolean isRecent = !store.isShared() || (clock.monotonicNanos() - read.nanos() < VALID_NANOS
        && generation - read.storeMicros() < VALID_NANOS / 1_000);
    return isRecent && registry.queue(queue) != null && !registry.isClosing(queue);
  }

  /**
   * Confirms the queues of tasks that have been written. Completes when a read shows that these queues are not being
   * deleted; waits for the end of a deletion that is under way. Fails if a queue is gone: it is then unknown whether
   * the tasks of that queue will ever fire.
   */
  CompletableFuture<Void> confirm(Collection<String> queues) {
    return nextRead().exceptionallyCompose(failure -> CompletableFuture.failedFuture(new StoreException(
        "the task was written, but its queue cannot be read, and may be gone soon", failure))).thenCompose(read -> {
          for (String queue : queues) {
            if (registry.queue(queue) == null) {
              throw new StoreException(
                  "the queue was deleted while the task was written; the task waits until the queue"
                      + " is created again: queue=" + queue,
                  null);
            }
          }
          return queues.stream().anyMatch(registry::isClosing)
              ? confirm(queues)
              : CompletableFuture.completedFuture(null);
        });
  }

  /**
   * The settings of all queues.
   *
   * @param at an instant before the read
   */
  record Found(List<Document> documents, QueueRegistry.Read at) {}

  /** Reads the settings of all queues, and the store's clock before them. */
  static CompletionStage<Found> read(TaskStore store, TimeSource clock) {
    long nowNanos = clock.monotonicNanos();
    return store.timeMicros(0).thenCompose(micros -> store.documents(DocumentKind.QUEUE)
        .thenApply(documents -> new Found(documents, new QueueRegistry.Read(nowNanos, micros))));
  }

  // The loop's thread.

  /** Starts a read if a call waits for one, or if the interval is over. */
  void turn(long nowNanos) {
    boolean isWanted = !waiting.isEmpty() && nowNanos - pauseEndNanos >= 0;
    boolean isDue = store.isShared() && nowNanos - beganNanos >= EVERY_NANOS;
    if (!underWay && (isWanted || isDue)) {
      read(nowNanos);
    }
  }

  private void read(long nowNanos) {
    underWay = true;
    beganNanos = nowNanos;
    List<CompletableFuture<Void>> served = new ArrayList<>();
    for (CompletableFuture<Void> next = waiting.poll(); next != null; next = waiting.poll()) {
      served.add(next);
    }
    long changes = registry.changes();
    inbox.after(Stages.call(() -> read(store, clock)), (read, failure, endNanos) -> {
      underWay = false;
      pauseEndNanos = endNanos + Math.max(LEAST_PAUSE_NANOS, PAUSE * (endNanos - nowNanos));
      if (read == null) {
        StoreException away = new StoreAwayException("the queues cannot be read: " + GroupCommit.unwrapped(failure),
            failure);
        served.forEach(each -> each.completeExceptionally(away));
        return;
      }
      Set<String> different = registry.replaceAll(read.documents(), changes, read.at());
      if (different == null) {
        // This node has applied another read meanwhile, which may be newer.
        waiting.addAll(served);
        return;
      }
      changed.accept(different);
      served.forEach(each -> each.complete(null));
    });
  }
}
