package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLLL_Result;
import org.openjdk.jcstress.infra.results.LLLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** Races the run of a task against cancels, and against threads that wait for the task. An actor plays the worker. */
final class TaskStress {
  private TaskStress() {}

  /** An executor with one task that has fired, and that a worker is about to run. */
  private static final class Fired {
    final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    final WheelScheduledExecutor executor = driver.executor().build();
    final ScheduledTask<?> task;
    private int runs;

    private Fired(boolean periodic) {
      task = (ScheduledTask<?>) (periodic
          ? executor.scheduleAtFixedRate(this::work, 0, 1, HOURS)
          : executor.schedule(this::work, 0, NANOSECONDS));
      driver.turn();
      assert !WheelNode.isArmed(task.word());
    }

    static Fired once() {
      return new Fired(false);
    }

    static Fired periodic() {
      return new Fired(true);
    }

    private int work() {
      return ++runs;
    }

    /** Runs the task as a worker does. Returns "interrupted" if the worker is interrupted afterwards, else "clean". */
    String run() {
      task.run();
      return Thread.interrupted() ? "interrupted" : "clean";
    }

    /** Shuts the executor down. Returns "terminated", or the executor as text if its count of tasks is wrong. */
    String shutDown() {
      executor.shutdown();
      return executor.isTerminated() ? "terminated" : executor.toString();
    }
  }

  /** Returns the state of a future, with its value or failure. */
  private static String outcome(Future<?> future) {
    return switch (future.state()) {
      case SUCCESS -> "value " + future.resultNow();
      case FAILED -> "failure " + future.exceptionNow();
      case CANCELLED -> "cancelled";
      case RUNNING -> "running";
    };
  }

  /** Waits for a task and returns its end. */
  private static String await(Future<?> future) {
    try {
      return "value " + future.get(Patience.nanos(), NANOSECONDS);
    } catch (CancellationException e) {
      return "cancelled";
    } catch (ExecutionException | InterruptedException e) {
      return e.toString();
    } catch (TimeoutException e) {
      Patience.noteTimeout();
      return "waits for ever";
    }
  }

  @JCStressTest
  @Description("A cancel that may interrupt, against the whole run of a task. The worker's result is whether the interrupt "
      + "outlives the task.")
  @Outcome(id = "clean, true, cancelled, terminated", expect = ACCEPTABLE, desc = "The cancel comes before the end.")
  @Outcome(id = "clean, false, value 1, terminated", expect = ACCEPTABLE, desc = "The task has returned first.")
  @Outcome(expect = FORBIDDEN, desc = "An interrupt hits the worker's next task, or the task ends twice or never, or the "
      + "count of tasks is wrong.")
  @State
  public static class CancelAgainstRun {
    private final Fired fired = Fired.once();

    @Actor
    public void worker(LLLL_Result r) {
      r.r1 = fired.run();
    }

    @Actor
    public void canceller(LLLL_Result r) {
      r.r2 = fired.task.cancel(true);
    }

    @Arbiter
    public void end(LLLL_Result r) {
      r.r3 = outcome(fired.task);
      r.r4 = fired.shutDown();
    }
  }

  @JCStressTest
  @Description("A thread waits for a task that ends.")
  @Outcome(id = "value 1, terminated", expect = ACCEPTABLE, desc = "The waiting thread saw that the task had ended, or "
      + "the worker saw the latch of the waiting thread.")
  @Outcome(expect = FORBIDDEN, desc = "Neither thread saw the write of the other, and the waiting thread waits for "
      + "ever; or the waiting thread saw no value.")
  @State
  public static class GetAgainstReturn {
    private final Fired fired = Fired.once();

    @Actor
    public void worker() {
      fired.task.run();
    }

    @Actor
    public void waiter(LL_Result r) {
      r.r1 = await(fired.task);
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r2 = fired.shutDown();
    }
  }

  @JCStressTest
  @Description("A thread waits for a task that is cancelled.")
  @Outcome(id = "true, cancelled", expect = ACCEPTABLE, desc = "The waiting thread saw the cancel, or the canceller "
      + "saw the latch of the waiting thread.")
  @Outcome(expect = FORBIDDEN, desc = "Neither thread saw the write of the other: the waiting thread waits for ever.")
  @State
  public static class GetAgainstCancel {
    private final Fired fired = Fired.once();

    @Actor
    public void canceller(ZL_Result r) {
      r.r1 = fired.task.cancel(false);
    }

    @Actor
    public void waiter(ZL_Result r) {
      r.r2 = await(fired.task);
    }
  }

  @JCStressTest
  @Description("A cancel while a run of a periodic task ends and arms the task again: the cancel always wins.")
  @Outcome(id = "clean, true, cancelled, unarmed, terminated", expect = ACCEPTABLE, desc = "The task is cancelled before, "
      + "during or after the run, and will not fire again.")
  @Outcome(expect = FORBIDDEN, desc = "The task fires again after its cancel, or an interrupt outlives the run, or the "
      + "count of tasks is wrong.")
  @State
  public static class CancelAgainstRearm {
    private final Fired fired = Fired.periodic();

    @Actor
    public void worker(LLLLL_Result r) {
      r.r1 = fired.run();
    }

    @Actor
    public void canceller(LLLLL_Result r) {
      r.r2 = fired.task.cancel(true);
    }

    @Arbiter
    public void end(LLLLL_Result r) {
      r.r3 = outcome(fired.task);
      r.r4 = WheelNode.isArmed(fired.task.word()) ? "armed" : "unarmed";
      r.r5 = fired.shutDown();
    }
  }

  @JCStressTest
  @Description("A worker arms a periodic task again. Before that worker is done, the task fires and the next worker "
      + "runs it. The second actor plays the driver and the next worker.")
  @Outcome(id = "running, armed", expect = ACCEPTABLE, desc = "The task waits for its next time.")
  @Outcome(expect = FORBIDDEN, desc = "The first worker saw the run of the second, took it for a cancel, and disarmed the "
      + "task that the second had armed: the task never fires again.")
  @State
  public static class RearmAgainstNextRun {
    /** Bound on the spins of the second actor, which may run before the worker or after it. */
    private static final int ARM_SPINS = 10_000;

    /** A time many periods after the start, so that the task is due as soon as it is armed. */
    private static final long NOW_NANOS = 1_000_000;

    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelScheduledExecutor executor = driver.executor().build();
    private final ScheduledTask<?> task;

    public RearmAgainstNextRun() {
      task = (ScheduledTask<?>) executor.scheduleAtFixedRate(PlayedDriver::spin, 0, 1, NANOSECONDS);
      driver.turn();
      driver.setNanos(NOW_NANOS);
    }

    @Actor
    public void worker() {
      task.run();
    }

    @Actor
    public void nextWorker() {
      for (int spins = 0; spins < ARM_SPINS && !WheelNode.isArmed(task.word()); spins++) {
        Thread.onSpinWait();
      }
      if (WheelNode.isArmed(task.word())) {
        driver.turn();
        if (!WheelNode.isArmed(task.word())) {
          task.run();
        }
      }
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = outcome(task);
      r.r2 = WheelNode.isArmed(task.word()) ? "armed" : "unarmed";
    }
  }
}
