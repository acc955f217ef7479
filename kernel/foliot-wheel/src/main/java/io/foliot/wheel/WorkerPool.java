package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in the order of their arrival, on threads that are started as they are needed. A task that blocks delays
 * no other task as long as a further thread may be started. Short tasks share a few threads.
 */
final class WorkerPool implements Executor {
  /*
   * A worker is searching while it is about to poll the queue. A worker is woken or started in two cases. A caller adds
   * a task while no worker is searching, or the last searching worker has taken a task and left other tasks in the
   * queue. So each task that blocks leads to another thread. A series of short tasks is drained by running workers,
   * without a wake-up for each task. The Go scheduler wakes its threads in the same way.
   *
   * A driver thread gathers the tasks that are due together, and adds them to the queue as one batch. So the queue and
   * the number of searching workers, which the workers change all the time, are loaded from another processor once for
   * a batch and not once for a task.
   *
   * A worker that stops searching reads the queue again afterwards. A caller that adds a task reads the number of
   * searching workers afterwards. So the worker sees the task, or the caller sees that no worker is searching.
   *
   * The first worker is started before the first task is accepted. From then on there is a worker until the pool is
   * closed, unless the last worker dies of an error. So a task is rejected only if there is no worker and none can be
   * started. If a later start fails, the task waits for a running worker.
   */

  /** Limit of a pool without a maximum number of workers. */
  static final int UNBOUNDED = Integer.MAX_VALUE;

  /** Largest number of idle workers. A further worker ends when it finds no task. */
  private static final int MAX_IDLE = Math.max(2, 2 * Runtime.getRuntime().availableProcessors());

  /** Maximum number of tasks in a batch: some microseconds of work of the driver. */
  private static final int BATCH = 64;

  private final TaskQueue queue = new TaskQueue();

  // Fields that only the driver thread uses.
  private final @Nullable Runnable[] gathered = new Runnable[BATCH];
  private int gatheredCount;

  /** Number of gathered tasks that a hand-over has added to the queue before it failed. */
  private int handedOver;

  /** Number of searching workers, including a worker that is being woken or started. */
  private final AtomicInteger searching = new AtomicInteger();

  private final Set<Worker> workers = ConcurrentHashMap.newKeySet();
  private final ThreadFactory threadFactory;
  private final int limit;

  /** True once {@link #interrupt} was called. */
  private volatile boolean interrupted;

  /** True if there is a worker, or if the last worker has ended in a closed pool. Written under the lock. */
  private volatile boolean staffed;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final ArrayDeque<Worker> idle = new ArrayDeque<>(MAX_IDLE);
  private int count;
  private boolean closed;

  /** True if the latest start of a further worker failed. A series of failures is logged once. */
  private boolean startFails;

  WorkerPool(ThreadFactory threadFactory, int limit) {
    this.threadFactory = threadFactory;
    this.limit = limit;
  }

  /**
   * Runs a task, in the order of the calls, as soon as a worker is free or can be started.
   *
   * @throws RejectedExecutionException if there is no worker and none can be started; the task will not run
   */
  @Override
  public void execute(Runnable task) {
    ensureStaffed();
    queue.add(task);
    if (searching.get() == 0) {
      search();
    }
  }

  /**
   * Accepts a task of the driver thread. The task runs after the next {@link #handOver}, or earlier.
   *
   * @throws RejectedExecutionException if there is no worker and none can be started; the task will not run
   */
  void gather(Runnable task) {
    ensureStaffed();
    if (gatheredCount == BATCH) {
      handOver();
    }
    gathered[gatheredCount++] = task;
  }

  /** Adds the gathered tasks to the queue; called by the driver thread. If this fails, it can be called again. */
  void handOver() {
    if (gatheredCount > 0) {
      while (handedOver < gatheredCount) {
        handedOver = queue.add(gathered, handedOver, gatheredCount);
      }
      handedOver = 0;
      gatheredCount = 0;
      if (searching.get() == 0) {
        search();
      }
    }
  }

  /**
   * Ensures that there is a worker.
   *
   * @throws RejectedExecutionException if there is no worker and none can be started
   */
  void ensureStaffed() {
    if (!staffed) {
      staff();
    }
  }

  private void staff() {
    lock.lock();
    try {
      if (!staffed) {
        searching.incrementAndGet();
        startCounted();
      }
    } catch (Throwable e) {
      throw new RejectedExecutionException("no worker thread can be started, so this task was not accepted", e);
    } finally {
      lock.unlock();
    }
  }

  /** Removes and returns the tasks that no worker has begun. */
  List<Runnable> drain() {
    List<Runnable> tasks = new ArrayList<>();
    for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
      tasks.add(task);
    }
    return tasks;
  }

  /** Interrupts all running tasks. Tasks that begin later are interrupted when they begin. */
  void interrupt() {
    interrupted = true;
    for (Worker worker : workers) {
      requireNonNull(worker.thread).interrupt();
    }
  }

  /** Lets the workers end once the queue is empty. */
  void close() {
    lock.lock();
    try {
      closed = true;
      while (!idle.isEmpty()) {
        wake(idle.pop());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ensures that a worker is searching, if one is idle or can be started within the limit. Does not throw. */
  private void search() {
    if (!searching.compareAndSet(0, 1)) {
      return;
    }
    // The count of searching workers includes this thread. The worker takes over this place in the count. If the worker
    // were counted in addition, it could take a task while this thread still counts as searching, and so wake no
    // further worker. This thread would then stop searching without reading the queue again, and the remaining tasks
    // would wait for ever.
    lock.lock();
    try {
      if (!idle.isEmpty()) {
        wakeCounted(idle.pop());
      } else if (count < limit) {
        tryStartWorker();
      } else {
        // All allowed workers run a task, and each polls the queue when its task is done.
        searching.decrementAndGet();
      }
    } finally {
      lock.unlock();
    }
  }

  private void tryStartWorker() {
    try {
      startCounted();
      startFails = false;
    } catch (Throwable e) {
      if (!startFails) {
        startFails = true;
        ErrorLog.log(() -> "cannot start a worker thread, so tasks wait for those that run: workers=" + count, e);
      }
    }
  }

  /**
   * Starts a worker that is already counted as searching, or decrements the count if the start fails. Called under the
   * lock, so that no worker becomes idle while a start is about to fail.
   */
  private void startCounted() {
    Worker worker = new Worker();
    boolean started = false;
    count++;
    try {
      Thread thread = requireNonNull(threadFactory.newThread(worker), "the thread factory returned null");
      if (thread.getState() != Thread.State.NEW) {
        throw new IllegalThreadStateException(
            "the thread factory returned a thread that was started: thread=" + thread);
      }
      worker.thread = thread;
      workers.add(worker);
      thread.start();
      started = true;
      staffed = true;
    } finally {
      if (!started) {
        workers.remove(worker);
        count--;
        searching.decrementAndGet();
      }
    }
  }

  private void wake(Worker worker) {
    searching.incrementAndGet();
    wakeCounted(worker);
  }

  private static void wakeCounted(Worker worker) {
    worker.woken = true;
    LockSupport.unpark(worker.thread);
  }

  private void forget(Worker worker) {
    workers.remove(worker);
    lock.lock();
    try {
      count--;
      staffed = count > 0 || closed;
    } finally {
      lock.unlock();
    }
  }

  private final class Worker implements Runnable {
    /** Thread of this worker. It remains null if the pool rejects the thread because the factory has started it. */
    @Nullable
    Thread thread;

    private volatile boolean woken;

    /** True while this worker is counted as searching. Only the worker's thread uses the field. */
    private boolean searches = true;

    @Override
    public void run() {
      if (thread == null) {
        return;
      }
      try {
        work();
      } catch (Throwable e) {
        ErrorLog.log(() -> "a worker thread has died; another one is started for the tasks that wait", e);
      }
      forget(this);
      if (searches) {
        stopSearching();
      } else if (!queue.isEmpty()) {
        search();
      }
    }

    private void work() {
      do {
        for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
          stopSearching();
          run(task);
          searching.incrementAndGet();
          searches = true;
        }
      } while (waits());
    }

    private void stopSearching() {
      searches = false;
      if (searching.decrementAndGet() == 0 && !queue.isEmpty()) {
        search();
      }
    }

    private void run(Runnable task) {
      boolean stale = Thread.interrupted();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      assert interrupted || !stale || !Thread.currentThread().isInterrupted();
      try {
        task.run();
      } catch (Throwable e) {
        ErrorLog.toUncaughtExceptionHandler(e);
      }
    }

    /** Waits until this worker is woken. Returns false if the pool is closed or enough workers are idle already. */
    private boolean waits() {
      lock.lock();
      try {
        if (closed || idle.size() >= MAX_IDLE) {
          return false;
        }
        woken = false;
        idle.push(this);
      } finally {
        lock.unlock();
      }
      stopSearching();
      while (!woken) {
        LockSupport.park(WorkerPool.this);
        // An interrupt that arrived after its task ended would make every park return at once.
        boolean stale = Thread.interrupted();
        assert !stale || !Thread.currentThread().isInterrupted();
      }
      // The thread that woke this worker has counted it as searching.
      searches = true;
      return true;
    }
  }

  @Override
  public String toString() {
    return "WorkerPool[workers=" + workers.size() + ", searching=" + searching.get() + ", isEmpty=" + queue.isEmpty()
        + "]";
  }
}
