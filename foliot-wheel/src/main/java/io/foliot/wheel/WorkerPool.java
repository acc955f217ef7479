package io.foliot.wheel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in the order of their arrival on threads that it starts as they are needed. A task that blocks delays no
 * other one while a further thread may be started; short tasks share a few threads.
 */
final class WorkerPool implements Executor {
  /*
   * A worker is searching while it is about to look into the queue. The rule that keeps the queue moving: when somebody
   * adds a task, or the last searching worker takes one and leaves others behind, there must be another searching worker;
   * one is woken or started. So blocking tasks bring up a thread each, while a row of short ones is worked off by those
   * that run, and costs no wake-up each. This is how the Go scheduler wakes its threads.
   *
   * A worker that stops searching looks at the queue once more afterwards; whoever adds a task looks at the number of
   * searching workers afterwards. So at least one of them sees the other.
   */
  static final int UNBOUNDED = Integer.MAX_VALUE;

  /** Workers that wait for tasks; more than that end when they find nothing. */
  private static final int MAX_IDLE = Math.max(2, 2 * Runtime.getRuntime().availableProcessors());

  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger searching = new AtomicInteger();
  private final Set<Worker> workers = ConcurrentHashMap.newKeySet();
  private final ThreadFactory threadFactory;
  private final int limit;
  private volatile boolean interrupted;

  private final ReentrantLock lock = new ReentrantLock();

  // Under the lock.
  private final ArrayDeque<Worker> idle = new ArrayDeque<>();
  private int count;
  private boolean closed;

  WorkerPool(ThreadFactory threadFactory, int limit) {
    this.threadFactory = threadFactory;
    this.limit = limit;
  }

  @Override
  public void execute(Runnable task) {
    queue.add(task);
    if (searching.get() == 0) {
      search();
    }
  }

  /** Takes out the tasks that no worker has begun. */
  List<Runnable> drain() {
    List<Runnable> tasks = new ArrayList<>();
    for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
      tasks.add(task);
    }
    return tasks;
  }

  /** Interrupts what runs; what begins from now on begins interrupted. */
  void interrupt() {
    interrupted = true;
    for (Worker worker : workers) {
      worker.thread.interrupt();
    }
  }

  /** Lets the workers end once they find nothing more to do. */
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

  /** Sees to it that some worker searches. */
  private void search() {
    if (!searching.compareAndSet(0, 1)) {
      return;
    }
    Worker started = null;
    lock.lock();
    try {
      if (!idle.isEmpty()) {
        // This one is counted already; wake counts it for those that close wakes.
        searching.decrementAndGet();
        wake(idle.pop());
      } else if (count < limit) {
        count++;
        started = new Worker();
      } else {
        // All that are allowed run a task; each looks into the queue when it is done.
        searching.decrementAndGet();
      }
    } finally {
      lock.unlock();
    }
    if (started != null) {
      start(started);
    }
  }

  private void start(Worker worker) {
    workers.add(worker);
    try {
      worker.thread.start();
    } catch (Throwable e) {
      // No search for another one: that would fail in the same way. The next task that is added tries again.
      forget(worker);
      searching.decrementAndGet();
      throw e;
    }
  }

  private void wake(Worker worker) {
    searching.incrementAndGet();
    worker.woken = true;
    LockSupport.unpark(worker.thread);
  }

  private void forget(Worker worker) {
    workers.remove(worker);
    lock.lock();
    try {
      count--;
    } finally {
      lock.unlock();
    }
  }

  private void stopSearching() {
    if (searching.decrementAndGet() == 0 && !queue.isEmpty()) {
      search();
    }
  }

  private final class Worker implements Runnable {
    final Thread thread = threadFactory.newThread(this);
    private volatile boolean woken;

    @Override
    public void run() {
      do {
        for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
          letOthersSearch();
          run(task);
          searching.incrementAndGet();
        }
      } while (waits());
      forget(this);
      letOthersSearch();
    }

    /** A thread that cannot be started must not cost this worker the task that it has taken. */
    private void letOthersSearch() {
      try {
        stopSearching();
      } catch (Throwable e) {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }

    private void run(Runnable task) {
      boolean stale = Thread.interrupted();
      if (interrupted) {
        thread.interrupt();
      }
      assert interrupted || !stale || !thread.isInterrupted();
      try {
        task.run();
      } catch (Throwable e) {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }

    /** Waits to be woken, unless there are enough workers that do; false to end. */
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
      letOthersSearch();
      while (!woken) {
        LockSupport.park(WorkerPool.this);
        // An interrupt meant for a task that is over would keep the thread from parking.
        boolean stale = Thread.interrupted();
        assert !stale || !thread.isInterrupted();
      }
      return true;
    }
  }

  @Override
  public String toString() {
    @Nullable
    Runnable first = queue.peek();
    return "WorkerPool[workers=" + workers.size() + ", searching=" + searching.get() + ", first=" + first + "]";
  }
}
