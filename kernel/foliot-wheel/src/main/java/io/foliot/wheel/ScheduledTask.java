package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link WheelScheduledExecutor}, its future and its timer in one object: 48 bytes with compact object
 * headers.
 *
 * <p>Phases: {@code WAITING -> RUNNING -> RETURNED | THREW}; a periodic task goes back to WAITING;
 * {@code WAITING -> CANCELLED}; {@code RUNNING -> CANCELLED}, by way of INTERRUPTING if the thread is to be
 * interrupted. A waiting task that {@code shutdownNow} returns is ABANDONED: it can only be cancelled.
 */
class ScheduledTask<V> extends WheelNode implements RunnableScheduledFuture<V> {
  private static final VarHandle PHASE;
  private static final VarHandle DONE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      PHASE = lookup.findVarHandle(ScheduledTask.class, "phase", int.class);
      DONE = lookup.findVarHandle(ScheduledTask.class, "done", CountDownLatch.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int WAITING = 0;
  private static final int RUNNING = 1;
  private static final int RETURNED = 2;
  private static final int THREW = 3;
  private static final int INTERRUPTING = 4;
  private static final int CANCELLED_PHASE = 5;
  private static final int ABANDONED = 6;

  final WheelScheduledExecutor executor;

  /**
   * A Callable or a Runnable; null once the task has ended, so that a future that a caller keeps retains nothing else.
   */
  private @Nullable Object work;

  /** The value or the failure; written before the phase that says which. */
  private @Nullable Object outcome;

  /** The thread that runs the task; written before the phase RUNNING. */
  private @Nullable Thread runner;

  private volatile int phase = WAITING;

  /** The latch of the threads that wait for the end; null if there are none. */
  private volatile @Nullable CountDownLatch done;

  ScheduledTask(WheelScheduledExecutor executor, Object work, long deadlineNanos) {
    super(deadlineNanos);
    this.executor = executor;
    this.work = requireNonNull(work, "a task must not be null");
  }

  /** Reads the phase ahead of a run by another thread. */
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
    ((Runnable) requireNonNull(running, "a task that runs has something to run")).run();
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

  /** Sets a task whose run is over to WAITING for its next run; returns false if it has been cancelled. */
  final boolean waitAgain() {
    runner = null;
    if (PHASE.compareAndSet(this, RUNNING, WAITING)) {
      return true;
    }
    awaitInterrupt();
    executor.ended(this);
    return false;
  }

  /** Waits until a cancel that interrupts has done so, before this thread starts another task. */
  private void awaitInterrupt() {
    while (phase == INTERRUPTING) {
      Thread.onSpinWait();
    }
    boolean interrupted = Thread.interrupted();
    assert !interrupted || phase == CANCELLED_PHASE;
  }

  /** Ends the task with a failure, unless it runs or has ended; called if its executor cannot run it, or not again. */
  final void fail(Throwable failure) {
    if (PHASE.compareAndSet(this, WAITING, RUNNING)) {
      finish(failure, THREW);
    }
  }

  /** Releases the threads that wait for the end. */
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

  /** Cancels a task that its executor has abandoned and does not count any more. */
  private boolean cancelAbandoned() {
    boolean cancels = PHASE.compareAndSet(this, ABANDONED, CANCELLED_PHASE);
    if (cancels) {
      end();
    }
    return cancels;
  }

  /** Marks the task as abandoned, so that its executor may return it; returns false if it runs or has ended. */
  final boolean abandon() {
    return PHASE.compareAndSet(this, WAITING, ABANDONED);
  }

  private boolean cancelRunning(boolean mayInterrupt) {
    if (!PHASE.compareAndSet(this, RUNNING, mayInterrupt ? INTERRUPTING : CANCELLED_PHASE)) {
      return false;
    }
    if (mayInterrupt) {
      // Read after the phase was taken: before it, the runner may be that of an earlier run of a periodic task.
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

  /** Cancels the task if it waits, and returns whether it did. */
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

  /** Returns the latch, which is created if there is none, and is open if the task has ended. */
  private CountDownLatch done() {
    CountDownLatch waiting = done;
    if (waiting == null) {
      CountDownLatch fresh = new CountDownLatch(1);
      CountDownLatch raced = (CountDownLatch) DONE.compareAndExchange(this, null, fresh);
      waiting = raced == null ? fresh : raced;
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

  /** Returns the time until it may run; zero once it has fired or has been cancelled. */
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
    String[] names = {"waiting", "running", "returned", "threw", "cancelled", "cancelled", "waiting"};
    return "ScheduledTask[" + names[phase] + ", work=" + work + "]";
  }

  /** A task that runs again and again, until it throws or is cancelled. */
  static final class Periodic extends ScheduledTask<Object> {
    /** Positive for a fixed rate, negative for a fixed delay. */
    private final long periodNanos;

    /** Deadline of the last run, from which the next deadline of a fixed rate follows. */
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

    /** Advances to the deadline of the next run, and returns it. */
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
