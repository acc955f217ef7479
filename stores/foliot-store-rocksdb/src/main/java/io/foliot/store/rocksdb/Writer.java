package io.foliot.store.rocksdb;

import io.foliot.core.TimeSource;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The only thread that writes. It drains the waiting calls, runs them one after the other against {@link CommitTable},
 * writes their changes in one synced batch, and only then completes the calls (group commit). While one commit syncs,
 * the next calls queue up, so the more callers there are, the fewer syncs each call costs. A commit that does no more
 * than move index entries is not synced.
 *
 * <p>Claims are urgent: the writer takes them before all other calls, so that due tasks do not wait behind a burst of
 * touches. Other calls run in the order of their arrival. A commit has a bounded number of items, and large calls come
 * in {@link Slices}, so a claim waits some milliseconds for the commit before its own.
 *
 * <p>Committed calls are completed on another thread, in the order of the commits. Dependent stages never run on the
 * writer thread.
 *
 * <p>The states are: open → closing (accepted calls are still run) → ended; open or closing → failed → ended.
 */
final class Writer {
  /** Maximum number of waiting calls. */
  private static final int MAX_WAITING_CALLS = 1 << 16;
  /** Maximum number of items in all calls that are not completed: some seconds of work. This limit bounds the heap. */
  private static final long MAX_WAITING_ITEMS = 1_000_000;
  /** Maximum number of payload bytes in all calls that are not completed. */
  private static final long MAX_WAITING_BYTES = 256L << 20;
  /** Maximum number of waiting urgent calls. An engine has two claims under way for each of its loops. */
  private static final int MAX_URGENT_CALLS = 1 << 12;
  /** Maximum number of items in a commit of several calls. This bounds the time that callers wait. */
  private static final int MAX_ITEMS_PER_COMMIT = 10_000;
  /**
   * Maximum number of items in a commit while urgent calls come: a few milliseconds of work. A large commit has one
   * sync for more items, but the next urgent call waits for all of it.
   */
  private static final int MAX_ITEMS_BETWEEN_URGENT = 1_000;
  /** Time after an urgent call in which further urgent calls are expected. */
  private static final long URGENT_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** Maximum number of items of other calls in a commit that has urgent calls. */
  private static final int MAX_ITEMS_BESIDE_URGENT = Slices.ITEMS;
  /**
   * With urgent calls, a commit may have this part of the items that wait, even if these are more. Otherwise, on a disk
   * whose syncs are slow, small commits would be slower than calls arrive.
   */
  private static final int PART_BESIDE_URGENT = 32;
  /** Maximum number of payload bytes in a commit of several calls: a few milliseconds of disk time. */
  private static final long MAX_BYTES_PER_COMMIT = 8 << 20;
  /** The interval at which an idle writer drops expired history. */
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The totals of all commits that wrote something since the store was opened, and the figures of the latest one. */
  record Done(long commits, long syncs, long items, long prepareNanos, long syncNanos, long lastItems,
      long lastSyncNanos) {
    Done plus(long count, boolean synced, long preparedNanos, long wroteNanos) {
      return new Done(commits + 1, syncs + (synced ? 1 : 0), items + count, prepareNanos + preparedNanos,
          syncNanos + wroteNanos, count, wroteNanos);
    }
  }

  private final TimeSource clock;
  private final CommitTable table;
  private final TaskOperations operations;
  private final Database db;
  private final LowWatermarks[] watermarks;
  private final Documents documents;
  private final Runnable afterEnd;

  // any thread
  private final MpscVarHandleArrayQueue<Operation<?>> queue = new MpscVarHandleArrayQueue<>(MAX_WAITING_CALLS);
  private final MpscVarHandleArrayQueue<Operation<?>> urgentQueue = new MpscVarHandleArrayQueue<>(MAX_URGENT_CALLS);
  private final AtomicLong waitingItems = new AtomicLong();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final Thread thread;
  private final ThreadPoolExecutor answers;
  private volatile boolean idle;
  private volatile boolean closing;
  private volatile boolean ended;
  private volatile @Nullable StoreException failure;

  // written by the writer, read by any thread
  private volatile Done done = new Done(0, 0, 0, 0, 0, 0, 0);

  // writer thread only
  private final List<Operation<?>> running = new ArrayList<>();
  /** Time of the latest commit with urgent calls. */
  private long urgentNanos;

  Writer(TimeSource clock, CommitTable table, TaskOperations operations, Database db, List<LowWatermarks> watermarks,
      Documents documents, Runnable afterEnd) {
    this.clock = clock;
    this.table = table;
    this.operations = operations;
    this.db = db;
    this.watermarks = watermarks.toArray(new LowWatermarks[0]);
    this.documents = documents;
    this.afterEnd = afterEnd;
    urgentNanos = clock.monotonicNanos() - URGENT_NANOS;
    answers = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        task -> daemon(task, "foliot-rocksdb-answers"));
    thread = daemon(this::run, "foliot-rocksdb-writer");
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    thread.start();
  }

  /**
   * Enqueues a call. The returned stage completes after the commit. The stage fails at once if the store is closed or
   * too many writes wait.
   */
  <R> CompletionStage<R> call(Operation<R> operation) {
    StoreException reason = refusal();
    if (reason != null) {
      return CompletableFuture.failedFuture(reason);
    }
    long waiting = waitingItems.addAndGet(operation.items);
    long bytes = waitingBytes.addAndGet(operation.bytes);
    boolean fits = waiting <= MAX_WAITING_ITEMS && bytes <= MAX_WAITING_BYTES;
    if (!fits || !(operation.urgent ? urgentQueue : queue).offer(operation)) {
      release(operation);
      return CompletableFuture.failedFuture(new StoreException(
          "too many writes wait: items=" + waiting + ", bytes=" + bytes + "; nothing of this call was written",
          null));
    }
    // Orders the offer before the read of idle: the writer sets idle and then reads the queue.
    VarHandle.fullFence();
    if (idle) {
      LockSupport.unpark(thread);
    }
    if (ended) {
      operation.stage.completeExceptionally(endReason());
    }
    return operation.stage;
  }

  private @Nullable StoreException refusal() {
    StoreException reason = failure;
    if (reason != null) {
      return new StoreException("the store has closed itself: " + reason.getMessage(), reason);
    }
    return closing ? new StoreException("the store is closed", null) : null;
  }

  private StoreException endReason() {
    StoreException reason = refusal();
    return reason != null ? reason : new StoreException("the store is closed", null);
  }

  /** Throws if calls are refused. */
  void ensureOpen() {
    StoreException reason = refusal();
    if (reason != null) {
      throw reason;
    }
  }

  @Nullable
  StoreException failure() {
    return failure;
  }

  /** Closes the store after a failure. Only the first reason is kept. */
  void fail(StoreException reason) {
    synchronized (this) {
      if (failure == null) {
        failure = reason;
      }
    }
    LockSupport.unpark(thread);
  }

  /**
   * Refuses new calls, and returns when the writer has ended. Accepted calls are still run, unless the store has
   * failed. If {@link RocksDbOptions#onFailure} calls this method on the writer's thread, the method returns at once.
   */
  void close() {
    closing = true;
    if (Thread.currentThread() == thread) {
      return;
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      LockSupport.unpark(thread);
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (failure == null) {
        if (!isIdle() || table.isRetiring()) {
          commit();
        } else if (closing) {
          break;
        } else {
          await();
        }
      }
      if (failure == null) {
        flushForNextOpen();
      }
    } catch (Throwable e) {
      fail(e instanceof StoreException reason
          ? reason
          : new StoreException("the writer ended unexpectedly; its last writes may be lost: " + e, e));
    } finally {
      end();
    }
  }

  private void await() {
    idle = true;
    if (isIdle() && !closing && failure == null) {
      LockSupport.parkNanos(this, IDLE_NANOS);
    }
    idle = false;
    if (isIdle() && !closing && failure == null) {
      commit();
    }
  }

  private boolean isIdle() {
    return urgentQueue.isEmpty() && queue.isEmpty();
  }

  private void commit() {
    long start = clock.monotonicNanos();
    long count = take(start);
    for (Operation<?> operation : running) {
      operation.announce(table.stored());
    }
    table.stored().prefetch();
    for (Operation<?> operation : running) {
      run(operation);
    }
    table.now(clock.wallMillis());
    table.finish(operations.generationFloor());
    long prepared = clock.monotonicNanos();
    if (!table.batch().isEmpty()) {
      boolean synced = running.isEmpty() || table.hasFollowers() || running.stream().anyMatch(call -> call.synced);
      if (synced) {
        db.write(table.batch());
      } else {
        db.writeUnsynced(table.batch());
      }
      for (LowWatermarks watermark : watermarks) {
        watermark.visible();
      }
      done = done.plus(count, synced, prepared - start, clock.monotonicNanos() - prepared);
    }
    table.committed();
    documents.committed();
    answer();
  }

  /** Moves waiting calls into {@link #running}, and returns the number of their items. Urgent calls come first. */
  private long take(long nowNanos) {
    long urgent = take(urgentQueue, MAX_ITEMS_PER_COMMIT);
    urgentNanos = urgent > 0 ? nowNanos : urgentNanos;
    return urgent + take(queue, mostOthers(urgent > 0, nowNanos - urgentNanos < URGENT_NANOS, waitingItems.get()));
  }

  /**
   * Returns how many items a commit may have besides those of urgent calls.
   *
   * @param hasUrgent whether the commit has urgent calls
   * @param expectsUrgent whether there was an urgent call lately
   * @param waiting the number of items that wait
   */
  static long mostOthers(boolean hasUrgent, boolean expectsUrgent, long waiting) {
    if (!expectsUrgent) {
      return MAX_ITEMS_PER_COMMIT;
    }
    long most = Math.max(waiting / PART_BESIDE_URGENT, hasUrgent ? MAX_ITEMS_BESIDE_URGENT : MAX_ITEMS_BETWEEN_URGENT);
    return Math.min(most, MAX_ITEMS_PER_COMMIT);
  }

  /** Takes calls of a queue up to the limits of a commit. The first call is taken even if it exceeds the limits. */
  private long take(MpscVarHandleArrayQueue<Operation<?>> waiting, long mostItems) {
    long count = 0;
    long bytes = 0;
    for (Operation<?> next = waiting.peek(); next != null && (count == 0
        || (count + next.items <= mostItems && bytes + next.bytes <= MAX_BYTES_PER_COMMIT)); next = waiting.peek()) {
      waiting.poll();
      running.add(next);
      count += next.items;
      bytes += next.bytes;
    }
    return count;
  }

  private void run(Operation<?> operation) {
    long nowMicros = clock.wallMicros();
    table.now(Math.floorDiv(nowMicros, 1_000));
    try {
      operation.run(nowMicros);
    } catch (StoreFullException | StoreAwayException | ItemsFailedException e) {
      operation.refuse(e);
    } catch (MalformedException | NewerVersionException e) {
      // The bytes are whole, but this version cannot read them: only the call that needs them fails.
      operation.refuse(e);
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException e) {
      // The caller has caused the failure, for example by an instant that does not fit a long. Items before the failed
      // item remain in effect, as the contract allows.
      operation.refuse(e);
    }
  }

  private void answer() {
    if (running.isEmpty()) {
      return;
    }
    List<Operation<?>> committed = List.copyOf(running);
    running.clear();
    answers.execute(() -> {
      for (Operation<?> operation : committed) {
        release(operation);
        operation.complete();
      }
    });
  }

  private void release(Operation<?> operation) {
    waitingItems.addAndGet(-operation.items);
    waitingBytes.addAndGet(-operation.bytes);
  }

  /** Records the exact floor of generations, and flushes, so that the next open has no log to read. */
  private void flushForNextOpen() {
    table.recordFloor(Math.max(operations.generationFloor(), table.generationGiven()) + 1);
    db.write(table.batch());
    db.flush();
  }

  private void end() {
    ended = true;
    List<Operation<?>> left = new ArrayList<>(running);
    running.clear();
    for (MpscVarHandleArrayQueue<Operation<?>> waiting : List.of(urgentQueue, queue)) {
      for (Operation<?> next = waiting.poll(); next != null; next = waiting.poll()) {
        left.add(next);
      }
    }
    StoreException reason = endReason();
    answers.execute(() -> left.forEach(operation -> operation.stage.completeExceptionally(reason)));
    answers.shutdown();
    afterEnd.run();
  }

  long waitingItems() {
    return waitingItems.get();
  }

  Done done() {
    return done;
  }
}
