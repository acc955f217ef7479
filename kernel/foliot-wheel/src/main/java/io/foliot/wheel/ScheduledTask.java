package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link WheelScheduledExecutor}. The task, its future and its timer are one object, of 48 bytes with
 * compact object headers.
 *
 * <p>The phases of a task are {@code WAITING -> RUNNING -> RETURNED | THREW}. A periodic task goes from RUNNING back to
 * WAITING. A cancel leads from WAITING or RUNNING to CANCELLED_PHASE. A cancel that interrupts a running task passes
 * through INTERRUPTING. A waiting task that {@code shutdownNow} returns is ABANDONED and can then only be cancelled.
 */
class ScheduledTask<V> extends WheelNode implements RunnableScheduledFuture<V> {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<ScheduledTask> PHASE = AtomicIntegerFieldUpdater
      .newUpdater(ScheduledTask.class, "phase");

  @SuppressWarnings("rawtypes")
  private static final AtomicReferenceFieldUpdater<ScheduledTask, CountDownLatch> DONE = AtomicReferenceFieldUpdater
      .newUpdater(ScheduledTask.class, CountDownLatch.class, "done");

  private static final int WAITING = 0;
  private static final int RUNNING = 1;
  private static final int RETURNED = 2;
  private static final int THREW = 3;
  private static final int INTERRUPTING = 4;
  private static final int CANCELLED_PHASE = 5;
  private static final int ABANDONED = 6;

  final WheelScheduledExecutor executor;

  /** Callable or Runnable to run. Null once the task has ended, so that a kept future does not retain it. */
  private @Nullable Object work;

  /** Value or failure of the task. It is written before the phase RETURNED or THREW. */
  private @Nullable Object outcome;

  /** Thread that runs the task; null if none does. It is written before the phase RUNNING. */
  private @Nullable Thread runner;

  private volatile int phase = WAITING;

  /** Latch of the threads that wait for the end of the task; null if no thread has waited. */
  private volatile @Nullable CountDownLatch done;

  ScheduledTask(WheelScheduledExecutor executor, Object work, long deadlineNanos) {
    super(deadlineNanos);
    this.executor = executor;
    this.work = requireNonNull(work, "a task must not be null");
  }

  /** Loads the phase into the processor cache, because the run of the task will need it. */
  @Override
  final int preload() {
    return phase;
  }

  @Override
  final void expire() {
    executor.begin(this);
  }

  /** Runs the task once, on a worker. */
  @Override
  public final void run() {
    runner = Thread.currentThread();
    if (!PHASE.compareAndSet(this, WAITING, RUNNING)) {
      runner = null;
      cancelAbandoned();
      return;
    }
    Object value;
    try {
      value = call();
    } catch (Throwable e) {
      finish(e, THREW);
      return;
    }
    returned(value);
  }

  private @Nullable Object call() throws Exception {
    Object running = work;
    if (running instanceof Callable<?> callable) {
      return callable.call();
    }
    ((Runnable) requireNonNull(running, "a running task has no work")).run();
    return null;
  }

  /** Ends a run that did not throw. */
  void returned(@Nullable Object value) {
    finish(value, RETURNED);
  }

  private void finish(@Nullable Object result, int finalPhase) {
    outcome = result;
    if (PHASE.compareAndSet(this, RUNNING, finalPhase)) {
      end();
    } else {
      outcome = null;
      awaitInterrupt();
    }
    executor.ended(this);
  }

  /** Sets the phase to WAITING after a run of a periodic task; returns false if the task has been cancelled. */
  final boolean waitAgain() {
    runner = null;
    if (PHASE.compareAndSet(this, RUNNING, WAITING)) {
      return true;
    }
    awaitInterrupt();
    executor.ended(this);
    return false;
  }

  /** Waits until a concurrent cancel has interrupted this thread, and clears the interrupt before the next task. */
  private void awaitInterrupt() {
    while (phase == INTERRUPTING) {
      Thread.onSpinWait();
    }
    boolean interrupted = Thread.interrupted();
    assert !interrupted || phase == CANCELLED_PHASE;
  }

  /** Ends a waiting task with a failure. Called if the executor cannot start the task or schedule its next run. */
  final void fail(Throwable failure) {
    if (PHASE.compareAndSet(this, WAITING, RUNNING)) {
      finish(failure, THREW);
    }
  }

  /** Drops the work, and releases the threads that wait for the end of the task. */
  private void end() {
    work = null;
    runner = null;
    CountDownLatch waiting = done;
    if (waiting != null) {
      waiting.countDown();
    }
  }

  @Override
  public final boolean cancel(boolean mayInterruptIfRunning) {
    while (true) {
      int before = phase;
      if (before == WAITING) {
        if (cancelWaiting()) {
          return true;
        }
      } else if (before == RUNNING) {
        if (cancelRunning(mayInterruptIfRunning)) {
          return true;
        }
      } else {
        return before == ABANDONED && cancelAbandoned();
      }
    }
  }

  /** Cancels an abandoned task. The executor no longer counts it. */
  private boolean cancelAbandoned() {
    boolean cancels = PHASE.compareAndSet(this, ABANDONED, CANCELLED_PHASE);
    if (cancels) {
      end();
    }
    return cancels;
  }

  /** Marks a waiting task as abandoned, so that its executor may return it. Returns false if the task does not wait. */
  final boolean abandon() {
    return PHASE.compareAndSet(this, WAITING, ABANDONED);
  }

  private boolean cancelRunning(boolean mayInterrupt) {
    if (!PHASE.compareAndSet(this, RUNNING, mayInterrupt ? INTERRUPTING : CANCELLED_PHASE)) {
      return false;
    }
    if (mayInterrupt) {
      // The runner is read after the change of the phase. An earlier read may return the thread of an earlier run of a
      // periodic task.
      Thread thread = runner;
      if (thread != null) {
        thread.interrupt();
      }
      phase = CANCELLED_PHASE;
    }
    // The executor decrements its count when the run is over.
    end();
    return true;
  }

  /** Cancels the task if it waits, and returns whether it was waiting. */
  final boolean cancelWaiting() {
    boolean cancels = PHASE.compareAndSet(this, WAITING, CANCELLED_PHASE);
    if (cancels) {
      try {
        executor.unschedule(this);
      } finally {
        end();
        executor.ended(this);
      }
    }
    return cancels;
  }

  @Override
  public final boolean isDone() {
    int now = phase;
    return now != WAITING && now != RUNNING && now != ABANDONED;
  }

  @Override
  public final boolean isCancelled() {
    int now = phase;
    return now == INTERRUPTING || now == CANCELLED_PHASE;
  }

  @Override
  public boolean isPeriodic() {
    return false;
  }

  @Override
  public final @Nullable V get() throws InterruptedException, ExecutionException {
    if (!isDone()) {
      done().await();
    }
    return report();
  }

  @Override
  public final @Nullable V get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    if (!isDone() && !done().await(timeout, unit)) {
      throw new TimeoutException("the task has not ended within " + timeout + " " + unit);
    }
    return report();
  }

  /** Returns the latch. Creates it if there is none, and opens it if the task has ended. */
  private CountDownLatch done() {
    CountDownLatch waiting = done;
    if (waiting == null) {
      DONE.compareAndSet(this, null, new CountDownLatch(1));
      waiting = requireNonNull(done);
    }
    if (isDone()) {
      waiting.countDown();
    }
    return waiting;
  }

  @SuppressWarnings("unchecked")
  private @Nullable V report() throws ExecutionException {
    int end = phase;
    if (end == RETURNED) {
      return (V) outcome;
    }
    if (end == THREW) {
      throw new ExecutionException((Throwable) outcome);
    }
    throw new CancellationException("the task was cancelled");
  }

  /** Returns the time until this task may run; negative if it is overdue; zero once it has fired or was cancelled. */
  @Override
  public final long getDelay(TimeUnit unit) {
    return unit.convert(delayNanos(), TimeUnit.NANOSECONDS);
  }

  private long delayNanos() {
    long now = word();
    return isArmed(now) ? deadlineNanos(now) - executor.nowNanos() : 0;
  }

  @Override
  public final int compareTo(Delayed other) {
    if (other == this) {
      return 0;
    }
    if (other instanceof ScheduledTask<?> task && isArmed(word()) && isArmed(task.word())) {
      return Long.compare(deadlineNanos(word()), deadlineNanos(task.word()));
    }
    return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
  }

  @Override
  public String toString() {
    // Indexed by the phase.
    String[] names = {"waiting", "running", "returned", "threw", "cancelled", "cancelled", "waiting"};
    return "ScheduledTask[" + names[phase] + ", work=" + work + "]";
  }

  /** A task that runs repeatedly until it throws or is cancelled. */
  static final class Periodic extends ScheduledTask<Object> {
    /** Period in nanoseconds: positive for a fixed rate, negative for a fixed delay. */
    private final long periodNanos;

    /** Deadline of the current run, in nanoseconds since the driver's creation. */
    private long timeNanos;

    Periodic(WheelScheduledExecutor executor, Runnable work, long deadlineNanos, long periodNanos) {
      super(executor, work, deadlineNanos);
      this.timeNanos = deadlineNanos;
      this.periodNanos = periodNanos;
    }

    @Override
    void returned(@Nullable Object nothing) {
      if (waitAgain()) {
        executor.scheduleAgain(this);
      }
    }

    /** Computes and sets the deadline of the next run, and returns this deadline. */
    long nextNanos() {
      timeNanos = periodNanos > 0
          ? WheelDriver.later(timeNanos, periodNanos)
          : executor.deadlineNanos(-periodNanos);
      return timeNanos;
    }

    @Override
    public boolean isPeriodic() {
      return true;
    }
  }
}
