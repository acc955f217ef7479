package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/** Races the shutdown of an executor with callers that give it tasks and with workers that run them. */
final class ShutdownStress {
  private ShutdownStress() {}

  private static void nothing() {}

  private static String terminated(WheelScheduledExecutor executor) {
    return executor.isTerminated() ? "terminated" : executor.toString();
  }

  private static String endOf(@Nullable Future<?> task, List<Runnable> pending) {
    if (task == null) {
      return pending.isEmpty() ? "rejected" : "rejected, and returned";
    }
    String state = task.isCancelled() ? "cancelled" : task.isDone() ? "ran" : "waits";
    long times = pending.stream().filter(task::equals).count();
    return times == 0 ? state : times == 1 ? "returned, " + state : "returned " + times + " times";
  }

  @JCStressTest
  @Description("A shutdown that keeps delayed tasks, while a task is scheduled: the task is kept or rejected.")
  @Outcome(id = "rejected, terminated", expect = ACCEPTABLE, desc = "The shutdown comes first.")
  @Outcome(id = "waits, WheelScheduledExecutor.shutting down, tasks=1.", expect = ACCEPTABLE, desc = "The task comes first; "
      + "the executor waits for it.")
  @Outcome(expect = FORBIDDEN, desc = "The task is lost, or the count of tasks is wrong.")
  @State
  public static class ShutdownAgainstSchedule {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private @Nullable Future<?> task;

    @Actor
    public void caller() {
      try {
        task = executor.schedule(ShutdownStress::nothing, 1, HOURS);
      } catch (RejectedExecutionException e) {
        task = null;
      }
    }

    @Actor
    public void stopper() {
      executor.shutdown();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, List.of());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdown that cancels delayed tasks, while a task is scheduled: the task is cancelled or rejected.")
  @Outcome(id = "rejected, terminated", expect = ACCEPTABLE, desc = "The shutdown comes first.")
  @Outcome(id = "cancelled, terminated", expect = ACCEPTABLE, desc = "The task comes first; the shutdown cancels it.")
  @Outcome(expect = FORBIDDEN, desc = "The task was accepted before the shutdown, and handed off after the shutdown had "
      + "searched for tasks: the task waits for its time, and the executor waits for the task.")
  @State
  public static class CancellingShutdownAgainstSchedule {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().executeExistingDelayedTasksAfterShutdown(false)
        .build();
    private @Nullable Future<?> task;

    public CancellingShutdownAgainstSchedule() {
      Future<?> other = executor.schedule(ShutdownStress::nothing, 1, HOURS);
      assert !other.isDone();
      driver.turn();
    }

    @Actor
    public void caller() {
      try {
        task = executor.schedule(ShutdownStress::nothing, 1, HOURS);
      } catch (RejectedExecutionException e) {
        task = null;
      }
    }

    @Actor
    public void stopper() {
      executor.shutdown();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, List.of());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdown, which cancels periodic tasks, while such a task is scheduled: the task is cancelled "
      + "or rejected, and counted once.")
  @Outcome(id = "rejected, terminated", expect = ACCEPTABLE, desc = "The shutdown comes first.")
  @Outcome(id = "cancelled, terminated", expect = ACCEPTABLE, desc = "The task comes first; the shutdown cancels it.")
  @Outcome(expect = FORBIDDEN, desc = "The shutdown cancelled a task that was then rejected. Both subtracted it from the "
      + "count of tasks, and the executor ends too early or never.")
  @State
  public static class ShutdownAgainstPeriodicSchedule {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private @Nullable Future<?> task;

    @Actor
    public void caller() {
      try {
        task = executor.scheduleAtFixedRate(ShutdownStress::nothing, 1, 1, HOURS);
      } catch (RejectedExecutionException e) {
        task = null;
      }
    }

    @Actor
    public void stopper() {
      executor.shutdown();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, List.of());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdown that cancels delayed tasks, while the last running task ends, which ends the driver, too.")
  @Outcome(id = "returns, terminated", expect = ACCEPTABLE, desc = "The shutdown returns, whichever thread ends the executor.")
  @Outcome(expect = FORBIDDEN, desc = "The shutdown read the driver's state. Then the driver stopped, before the "
      + "shutdown asked the driver for the tasks: the shutdown throws, or waits for ever.")
  @State
  public static class CancellingShutdownAgainstLastRun {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().executeExistingDelayedTasksAfterShutdown(false)
        .build();
    private final ScheduledTask<?> task = (ScheduledTask<?>) executor.schedule(ShutdownStress::nothing, 0, NANOSECONDS);
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile String end = "waits for ever";

    public CancellingShutdownAgainstLastRun() {
      driver.turn();
    }

    @Actor
    public void worker() {
      while (!executor.isShutdown()) {
        Thread.onSpinWait();
      }
      task.run();
    }

    @Actor
    public void stopper() {
      Thread.ofVirtual().start(() -> {
        try {
          executor.shutdown();
          end = "returns";
        } catch (RejectedExecutionException e) {
          end = "throws";
        } finally {
          over.countDown();
        }
      });
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = Patience.opens(over) ? end : "waits for ever";
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdown that keeps a delayed task, while the driver that would fire the task dies.")
  @Outcome(id = "ran, terminated", expect = ACCEPTABLE, desc = "The task ends with the failure of the driver, in either order.")
  @Outcome(expect = FORBIDDEN, desc = "The driver missed the shutdown, and the shutdown missed the death: "
      + "the executor waits for ever.")
  @State
  public static class ShutdownAgainstDeath {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private final Future<?> task = executor.schedule(ShutdownStress::nothing, 1, HOURS);

    @Actor
    public void driver() {
      driver.die();
    }

    @Actor
    public void stopper() {
      executor.shutdown();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, List.of());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdown that cancels delayed tasks asks the driver for them while the driver dies.")
  @Outcome(id = "returns, cancelled, terminated", expect = ACCEPTABLE, desc = "The driver returns the task before it dies.")
  @Outcome(id = "returns, ran, terminated", expect = ACCEPTABLE, desc = "The driver dies first; the task has failed.")
  @Outcome(expect = FORBIDDEN, desc = "The shutdown waits for a driver that has died, or the task is lost.")
  @State
  public static class CancellingShutdownAgainstDeath {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().executeExistingDelayedTasksAfterShutdown(false)
        .build();
    private final Future<?> task = executor.schedule(ShutdownStress::nothing, 1, HOURS);
    private final CountDownLatch over = new CountDownLatch(1);

    @Actor
    public void driver() {
      driver.die();
    }

    @Actor
    public void stopper() {
      Thread.ofVirtual().start(() -> {
        executor.shutdown();
        over.countDown();
      });
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = (Patience.opens(over) ? "returns, " : "waits for ever, ") + endOf(task, List.of());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdownNow while a worker runs a task that it has just taken.")
  @Outcome(id = "ran, terminated", expect = ACCEPTABLE, desc = "The worker comes first.")
  @Outcome(id = "returned, cancelled, terminated", expect = ACCEPTABLE, desc = "The shutdown comes first; the worker finds "
      + "the task abandoned, and cancels it.")
  @Outcome(expect = FORBIDDEN, desc = "The task ran and is returned, or neither, or the count of tasks is wrong.")
  @State
  public static class ShutdownNowAgainstRun {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private final ScheduledTask<?> task = (ScheduledTask<?>) executor.schedule(ShutdownStress::nothing, 0, NANOSECONDS);
    private List<Runnable> pending = List.of();

    public ShutdownNowAgainstRun() {
      driver.turn();
    }

    @Actor
    public void worker() {
      task.run();
    }

    @Actor
    public void stopper() {
      pending = executor.shutdownNow();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, pending);
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdownNow while the driver fires a task and gives it to the workers.")
  @Outcome(id = "returned, waits, terminated", expect = ACCEPTABLE, desc = "The task is returned from the wheel or "
      + "from the queue of the workers.")
  @Outcome(expect = FORBIDDEN, desc = "The task is lost between the wheel and the queue, or is returned from both.")
  @State
  public static class ShutdownNowAgainstFire {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private final ScheduledTask<?> task = (ScheduledTask<?>) executor.schedule(ShutdownStress::nothing, 0, NANOSECONDS);
    private List<Runnable> pending = List.of();

    @Actor
    public void driver() {
      driver.turn();
    }

    @Actor
    public void stopper() {
      pending = executor.shutdownNow();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, pending);
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdownNow while a task is scheduled.")
  @Outcome(id = "rejected, terminated", expect = ACCEPTABLE, desc = "The shutdown comes first.")
  @Outcome(id = "returned, waits, terminated", expect = ACCEPTABLE, desc = "The task comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The task is lost, or rejected and returned, or the count of tasks is wrong.")
  @State
  public static class ShutdownNowAgainstSchedule {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private @Nullable Future<?> task;
    private List<Runnable> pending = List.of();

    public ShutdownNowAgainstSchedule() {
      Future<?> other = executor.schedule(ShutdownStress::nothing, 1, HOURS);
      boolean cancels = other.cancel(false);
      assert cancels;
      driver.turn();
    }

    @Actor
    public void caller() {
      try {
        task = executor.schedule(ShutdownStress::nothing, 1, HOURS);
      } catch (RejectedExecutionException e) {
        task = null;
      }
    }

    @Actor
    public void stopper() {
      pending = executor.shutdownNow();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, pending);
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdownNow while a run of a periodic task ends and arms the task again.")
  @Outcome(id = "cancelled, terminated", expect = ACCEPTABLE, desc = "The worker comes too late to arm the task.")
  @Outcome(id = "returned, waits, terminated", expect = ACCEPTABLE, desc = "The task was armed in time and returned from "
      + "the wheel.")
  @Outcome(id = "returned, cancelled, terminated", expect = ACCEPTABLE, desc = "The task was returned before the worker "
      + "ran it, and the worker cancels it.")
  @Outcome(expect = FORBIDDEN, desc = "The task is lost, or the count of tasks is wrong.")
  @State
  public static class ShutdownNowAgainstRearm {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private final ScheduledTask<?> task = (ScheduledTask<?>) executor
        .scheduleAtFixedRate(ShutdownStress::nothing, 0, 1, HOURS);
    private List<Runnable> pending = List.of();

    public ShutdownNowAgainstRearm() {
      driver.turn();
    }

    @Actor
    public void worker() {
      task.run();
    }

    @Actor
    public void stopper() {
      pending = executor.shutdownNow();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(task, pending.stream().distinct().toList());
      r.r2 = terminated(executor);
    }
  }

  @JCStressTest
  @Description("A shutdownNow during the execute of a task that runs until an interrupt; workers are virtual threads.")
  @Outcome(id = "(rejected|returned|interrupted)", expect = ACCEPTABLE, desc = "In either order, nothing continues to run.")
  @Outcome(expect = FORBIDDEN, desc = "The task began after the workers were interrupted, and was not interrupted: it runs on.")
  @State
  public static class ShutdownNowAgainstExecute {
    private final WheelScheduledExecutor executor = WheelScheduledExecutor.create();
    private final CountDownLatch never = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile boolean rejected;
    private List<Runnable> pending = List.of();

    @Actor
    public void caller() {
      try {
        executor.execute(() -> {
          try {
            boolean opened = Patience.await(never);
            assert !opened;
          } catch (InterruptedException e) {
            interrupts.incrementAndGet();
          } finally {
            over.countDown();
          }
        });
      } catch (RejectedExecutionException e) {
        rejected = true;
      }
    }

    @Actor
    public void stopper() {
      pending = executor.shutdownNow();
    }

    @Arbiter
    public void end(L_Result r) {
      if (rejected) {
        r.r1 = "rejected";
      } else if (!pending.isEmpty()) {
        r.r1 = "returned";
      } else if (Patience.opens(over)) {
        r.r1 = interrupts.get() == 1 ? "interrupted" : "runs on";
      } else {
        r.r1 = "lost or runs on";
      }
    }
  }
}
