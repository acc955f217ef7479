package io.foliot.wheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Races new tasks with workers that go idle or end: no task stays in the queue. The workers are virtual threads. */
final class PoolStress {
  private static final ThreadFactory THREADS = Thread.ofVirtual().factory();

  private PoolStress() {}

  private static String ran(CountDownLatch tasks, WorkerPool pool) {
    String end = Patience.opens(tasks) ? "all ran" : tasks.getCount() + " lost, " + pool;
    pool.close();
    return end;
  }

  @JCStressTest
  @Description("Two tasks arrive at once in a pool without workers.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The first worker runs both tasks, or starts a second worker.")
  @Outcome(expect = FORBIDDEN, desc = "A caller relied on a worker that did not see the caller's task.")
  @State
  public static class ExecuteAgainstExecute {
    private final WorkerPool pool = new WorkerPool(THREADS, WorkerPool.UNBOUNDED);
    private final CountDownLatch tasks = new CountDownLatch(2);

    @Actor
    public void first() {
      pool.execute(tasks::countDown);
    }

    @Actor
    public void second() {
      pool.execute(tasks::countDown);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("Two tasks arrive at once in a pool that may have one worker.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The one worker polls the queue again after each task.")
  @Outcome(expect = FORBIDDEN, desc = "A caller relied on a worker that did not see the caller's task.")
  @State
  public static class ExecuteAgainstExecuteOfOneWorker {
    private final WorkerPool pool = new WorkerPool(THREADS, 1);
    private final CountDownLatch tasks = new CountDownLatch(2);

    @Actor
    public void first() {
      pool.execute(tasks::countDown);
    }

    @Actor
    public void second() {
      pool.execute(tasks::countDown);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("A task arrives just when the only worker has run its last task and goes idle.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The worker sees the task, or the caller sees that no worker searches.")
  @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the task stays in the queue.")
  @State
  public static class ExecuteAgainstLastWorkerGoingIdle {
    private final WorkerPool pool = new WorkerPool(THREADS, 1);
    private final CountDownLatch tasks = new CountDownLatch(3);

    @Actor
    public void first() {
      pool.execute(tasks::countDown);
      while (tasks.getCount() == 3) {
        Thread.onSpinWait();
      }
      pool.execute(tasks::countDown);
    }

    @Actor
    public void second() {
      while (tasks.getCount() == 3) {
        Thread.onSpinWait();
      }
      PlayedDriver.spin();
      pool.execute(tasks::countDown);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("A driver hands over a batch just when the only worker has run its last task and goes idle.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The worker sees the batch, or the driver sees no searcher.")
  @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the tasks stay in the queue.")
  @State
  public static class HandOverAgainstLastWorkerGoingIdle {
    private final WorkerPool pool = new WorkerPool(THREADS, 1);
    private final CountDownLatch tasks = new CountDownLatch(4);

    @Actor
    public void driver() {
      pool.gather(tasks::countDown);
      pool.handOver();
      while (tasks.getCount() == 4) {
        Thread.onSpinWait();
      }
      PlayedDriver.spin();
      pool.gather(tasks::countDown);
      pool.gather(tasks::countDown);
      pool.handOver();
    }

    @Actor
    public void caller() {
      while (tasks.getCount() == 4) {
        Thread.onSpinWait();
      }
      PlayedDriver.spin();
      pool.execute(tasks::countDown);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("A driver hands over two tasks, each of which blocks until the other runs.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The worker of the first task leaves the second to another.")
  @Outcome(expect = FORBIDDEN, desc = "A blocking task delays another one of its batch.")
  @State
  public static class BlockingTaskAgainstItsBatch {
    private final WorkerPool pool = new WorkerPool(THREADS, WorkerPool.UNBOUNDED);
    private final CountDownLatch begun = new CountDownLatch(3);
    private final CountDownLatch tasks = new CountDownLatch(3);

    private void meet() {
      begun.countDown();
      try {
        if (Patience.await(begun)) {
          tasks.countDown();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Actor
    public void driver() {
      pool.gather(this::meet);
      pool.gather(this::meet);
      pool.handOver();
    }

    @Actor
    public void caller() {
      pool.execute(this::meet);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("Two tasks arrive at once, each of which blocks until the other runs.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The first worker starts a second worker before it runs a task.")
  @Outcome(expect = FORBIDDEN, desc = "A blocking task delays another one although no limit is reached.")
  @State
  public static class BlockingTaskAgainstExecute {
    private final WorkerPool pool = new WorkerPool(THREADS, WorkerPool.UNBOUNDED);
    private final CountDownLatch begun = new CountDownLatch(2);
    private final CountDownLatch tasks = new CountDownLatch(2);

    private void meet() {
      begun.countDown();
      try {
        if (Patience.await(begun)) {
          tasks.countDown();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Actor
    public void first() {
      pool.execute(this::meet);
    }

    @Actor
    public void second() {
      pool.execute(this::meet);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("A second worker cannot be started while the only one goes idle.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The one worker finds the task, or is woken for it.")
  @Outcome(expect = FORBIDDEN, desc = "The idle worker relied on a worker whose start failed: the task stays queued.")
  @State
  public static class FailingStartAgainstWorkerGoingIdle {
    private final AtomicInteger started = new AtomicInteger();
    private final WorkerPool pool = new WorkerPool(this::onlyOne, WorkerPool.UNBOUNDED);
    private final CountDownLatch tasks = new CountDownLatch(3);

    private Thread onlyOne(Runnable worker) {
      if (started.getAndIncrement() > 0) {
        PlayedDriver.spin();
        throw new IllegalStateException("no more threads");
      }
      return THREADS.newThread(worker);
    }

    @Actor
    public void first() {
      pool.execute(tasks::countDown);
      pool.execute(tasks::countDown);
    }

    @Actor
    public void second() {
      while (tasks.getCount() == 3) {
        Thread.onSpinWait();
      }
      PlayedDriver.spin();
      pool.execute(tasks::countDown);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("Two tasks arrive at once in a pool whose first worker cannot be started.")
  @Outcome(id = "rejected, all ran", expect = ACCEPTABLE, desc = "One task is rejected, and the other starts a worker.")
  @Outcome(expect = FORBIDDEN, desc = "Both tasks are rejected, or one is neither rejected nor run.")
  @State
  public static class FailingFirstStartAgainstExecute {
    private final AtomicInteger started = new AtomicInteger();
    private final WorkerPool pool = new WorkerPool(this::allButFirst, WorkerPool.UNBOUNDED);
    private final AtomicInteger rejected = new AtomicInteger();
    private final CountDownLatch tasks = new CountDownLatch(2);

    private Thread allButFirst(Runnable worker) {
      if (started.getAndIncrement() == 0) {
        throw new IllegalStateException("no thread yet");
      }
      return THREADS.newThread(worker);
    }

    private void execute() {
      try {
        pool.execute(tasks::countDown);
      } catch (RejectedExecutionException e) {
        rejected.incrementAndGet();
        tasks.countDown();
      }
    }

    @Actor
    public void first() {
      execute();
    }

    @Actor
    public void second() {
      execute();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = (rejected.get() == 0 ? "" : rejected.get() == 1 ? "rejected, " : "both rejected, ") + ran(tasks, pool);
    }
  }

  @JCStressTest
  @Description("A task arrives while the pool is closed.")
  @Outcome(id = "all ran", expect = ACCEPTABLE, desc = "The last worker sees the task, or a new worker is started for it.")
  @Outcome(expect = FORBIDDEN, desc = "The last worker ended and left the task behind.")
  @State
  public static class ExecuteAgainstClose {
    private final WorkerPool pool = new WorkerPool(THREADS, 1);
    private final CountDownLatch tasks = new CountDownLatch(2);

    @Actor
    public void caller() {
      pool.execute(tasks::countDown);
      while (tasks.getCount() == 2) {
        Thread.onSpinWait();
      }
      pool.execute(tasks::countDown);
    }

    @Actor
    public void closer() {
      while (tasks.getCount() == 2) {
        Thread.onSpinWait();
      }
      pool.close();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran(tasks, pool);
    }
  }
}
