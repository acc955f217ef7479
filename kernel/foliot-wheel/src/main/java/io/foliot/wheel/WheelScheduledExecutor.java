package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A {@link ScheduledExecutorService} on a timing wheel, to replace a {@link
 * java.util.concurrent.ScheduledThreadPoolExecutor}. Scheduling and cancelling take constant time for any number of
 * tasks. Threads are started as they are needed, so tasks that block do not delay other tasks. This does not hold if
 * {@link Builder#threads} limits the number of threads.
 *
 * <p>A task never starts before its delay has passed, not even by a nanosecond. A task starts when it is handed to the
 * workers. Delayed tasks start in the order of their deadlines, to the nanosecond, also after a stall. Tasks that one
 * thread schedules with equal deadlines start in the order of the calls. A single worker runs the tasks in this order.
 * Several workers take them in this order, and run them concurrently. The next run of a periodic task is scheduled when
 * the previous run ends. A deadline is at most 146 years after the executor's creation.
 *
 * <p>A task is rejected, with the cause, if there is no worker and none can be started. If a further worker cannot be
 * started, tasks wait for the running workers. An {@code OutOfMemoryError} or an exception of the clock may end the
 * driver thread. The thread then logs the reason, and further delayed tasks are rejected with that reason as the cause.
 * {@link #shutdownNow} returns the tasks that waited. After {@link #shutdown} the futures of these tasks fail with a
 * {@code RejectedExecutionException} that has the same cause.
 *
 * <p>This class also differs from {@code ScheduledThreadPoolExecutor} in these points:
 * <ul>
 * <li>The work of a cancelled task is released at once.
 * <li>{@link #execute} and {@link #submit} hand a task to the workers at once.
 * <li>The exception of a task given to {@code execute} goes to the uncaught exception handler of the thread.
 * <li>{@link ScheduledFuture#getDelay} returns zero once the task has fired or has been cancelled.
 * </ul>
 */
public final class WheelScheduledExecutor extends AbstractExecutorService implements ScheduledExecutorService {
  private static final int RUNNING = 0;
  private static final int SHUTDOWN = 1;
  private static final int STOP = 2;

  private final WheelDriver driver;
  private final WorkerPool workers;
  private final boolean runsDelayedAfterShutdown;
  private final boolean runsPeriodicAfterShutdown;

  /** State of the executor: RUNNING -> SHUTDOWN -> STOP, or RUNNING -> STOP. */
  private final AtomicInteger state = new AtomicInteger(RUNNING);

  /**
   * Number of accepted tasks that have not ended, and of tasks that are about to be rejected. If the number is ever
   * zero after a shutdown, all accepted tasks have ended.
   */
  private final StripedCounter outstanding = new StripedCounter();

  /** Periodic tasks that have not ended, for shutdown to cancel. */
  private final Set<ScheduledTask<?>> periodic = ConcurrentHashMap.newKeySet();

  private final CountDownLatch terminated = new CountDownLatch(1);

  private WheelScheduledExecutor(Builder builder) {
    workers = new WorkerPool(builder.workerFactory, builder.threadLimit);
    runsDelayedAfterShutdown = builder.runsDelayedAfterShutdown;
    runsPeriodicAfterShutdown = builder.runsPeriodicAfterShutdown;
    driver = new WheelDriver(builder.driver, new Handover());
  }

  /** The owner of the driver. */
  private final class Handover implements WheelDriver.Owner {
    @Override
    public void starting() {
      workers.ensureStaffed();
    }

    @Override
    public void handOver() {
      workers.handOver();
    }

    @Override
    public void failed(WheelNode node, Throwable failure) {
      ErrorLog.log(() -> "a task cannot be given to a worker and ends with this failure: task=" + node, failure);
      ((ScheduledTask<?>) node).fail(failure);
    }

    @Override
    public void died() {
      if (state.get() == SHUTDOWN) {
        failPending();
      }
    }
  }

  /** Creates an executor with the defaults of {@link Builder}. */
  public static WheelScheduledExecutor create() {
    return builder().build();
  }

  /** Returns a builder of an executor. */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    requireNonNull(command, "command");
    return scheduleNew(new ScheduledTask<>(this, command, driver.deadlineNanos(unit.toNanos(delay))));
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    requireNonNull(callable, "callable");
    return scheduleNew(new ScheduledTask<>(this, callable, driver.deadlineNanos(unit.toNanos(delay))));
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
    return schedulePeriodic(command, initialDelay, positive(period, "period"), 1, unit);
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
    return schedulePeriodic(command, initialDelay, positive(delay, "delay"), -1, unit);
  }

  private static long positive(long length, String name) {
    if (length <= 0) {
      throw new IllegalArgumentException(name + " must be positive: " + name + "=" + length);
    }
    return length;
  }

  private ScheduledFuture<?> schedulePeriodic(
      Runnable command,
      long initialDelay,
      long period,
      int sign,
      TimeUnit unit) {
    requireNonNull(command, "command");
    long deadlineNanos = driver.deadlineNanos(unit.toNanos(initialDelay));
    return scheduleNew(new ScheduledTask.Periodic(this, command, deadlineNanos, sign * unit.toNanos(period)));
  }

  private <T extends ScheduledTask<?>> T scheduleNew(T task) {
    admit();
    // A shutdown may cancel the task from now on. The count must be decremented only once, so the thread that ends the
    // phase WAITING decrements it.
    try {
      if (task.isPeriodic()) {
        periodic.add(task);
      }
      driver.schedule(task, WheelNode.deadlineNanos(task.word()));
    } catch (Throwable e) {
      refuse(task);
      throw e;
    }
    if (!isWanted(task)) {
      // A shutdown may have cancelled the waiting tasks before this task was scheduled.
      task.cancelWaiting();
    }
    return task;
  }

  /** Ends a task that the driver has not accepted. The driver does not count the task as a cancelled timer. */
  private static void refuse(ScheduledTask<?> task) {
    boolean ends = task.end(WheelNode.CANCELLED);
    boolean cancels = task.cancelWaiting();
    assert cancels || task.isCancelled() : "a refused task has run or failed: wasArmed=" + ends;
  }

  /** Returns whether a waiting task may keep waiting. */
  private boolean isWanted(ScheduledTask<?> task) {
    return switch (state.get()) {
      case RUNNING -> true;
      case SHUTDOWN -> task.isPeriodic() ? runsPeriodicAfterShutdown : runsDelayedAfterShutdown;
      default -> !task.isPeriodic();
    };
  }

  /** Counts a new task, or rejects it after a shutdown. */
  private void admit() {
    outstanding.add(1);
    if (state.get() != RUNNING) {
      leave();
      throw new RejectedExecutionException("the executor has been shut down, so this task was not accepted");
    }
  }

  /** Decrements the count of tasks. After a shutdown the last task terminates the executor. */
  private void leave() {
    outstanding.add(-1);
    if (state.get() != RUNNING) {
      terminateIfDone();
    }
  }

  private void terminateIfDone() {
    if (outstanding.sum() == 0) {
      try {
        driver.stop();
        workers.close();
      } finally {
        terminated.countDown();
      }
    }
  }

  /** Runs a task as soon as a thread is free for it. */
  @Override
  public void execute(Runnable command) {
    Immediate task = new Immediate(requireNonNull(command, "command"));
    admit();
    try {
      workers.execute(task);
    } catch (Throwable e) {
      leave();
      throw e;
    }
  }

  /** A task without a timer. */
  private final class Immediate implements Runnable {
    private final Runnable command;

    Immediate(Runnable command) {
      this.command = command;
    }

    @Override
    public void run() {
      try {
        command.run();
      } finally {
        leave();
      }
    }
  }

  // Methods that tasks call.

  long nowNanos() {
    return driver.nowNanos();
  }

  long deadlineNanos(long delayNanos) {
    return driver.deadlineNanos(delayNanos);
  }

  /** Hands a due task to the workers; called on the driver thread. */
  void begin(ScheduledTask<?> task) {
    workers.gather(task);
  }

  /** Cancels the timer of a cancelled task. */
  void unschedule(ScheduledTask<?> task) {
    driver.cancel(task);
  }

  /** Removes an ended task from the count, and from the set of periodic tasks. */
  void ended(ScheduledTask<?> task) {
    if (task.isPeriodic()) {
      periodic.remove(task);
    }
    leave();
  }

  /** Schedules the next run of a periodic task. If this fails, cancels the task or ends it with the failure. */
  void scheduleAgain(ScheduledTask.Periodic task) {
    if (state.get() != RUNNING && !(runsPeriodicAfterShutdown && state.get() == SHUTDOWN)) {
      task.cancelWaiting();
      return;
    }
    try {
      driver.scheduleAgain(task, task.nextNanos());
    } catch (Throwable e) {
      task.end(WheelNode.CANCELLED);
      if (driver.isDead() || !(e instanceof RejectedExecutionException)) {
        ErrorLog.log(() -> "a periodic task cannot be scheduled again and ends with this failure: task=" + task, e);
        task.fail(e);
      } else {
        task.cancelWaiting();
      }
      return;
    }
    if (task.isCancelled()) {
      // The task may have been cancelled after its run, but before its timer was armed again. That cancel found no
      // timer, so the timer is cancelled here. If instead the task was cancelled during its next run, this call has no
      // effect.
      driver.cancel(task);
    }
  }

  @Override
  public void shutdown() {
    if (!state.compareAndSet(RUNNING, SHUTDOWN)) {
      return;
    }
    if (!runsPeriodicAfterShutdown) {
      periodic.forEach(ScheduledTask::cancelWaiting);
    }
    if (!runsDelayedAfterShutdown) {
      driver.forEachPending(node -> {
        if (!((ScheduledTask<?>) node).isPeriodic()) {
          ((ScheduledTask<?>) node).cancelWaiting();
        }
      });
    }
    if (driver.isDead()) {
      failPending();
    }
    terminateIfDone();
  }

  /** Fails the tasks that wait for a dead driver, so that a shutdown does not wait for them for ever. */
  private void failPending() {
    for (WheelNode node : driver.stop()) {
      ((ScheduledTask<?>) node).fail(driver.rejection());
    }
  }

  /** {@inheritDoc} The returned tasks, including periodic ones, are neither done nor cancelled. */
  @Override
  public List<Runnable> shutdownNow() {
    state.set(STOP);
    List<Runnable> pending = new ArrayList<>();
    for (WheelNode node : driver.stop()) {
      abandon((ScheduledTask<?>) node, pending);
    }
    for (Runnable task : workers.drain()) {
      abandon(task, pending);
    }
    workers.interrupt();
    terminateIfDone();
    return pending;
  }

  /** Adds a task that has not begun to the list that {@link #shutdownNow} returns. */
  private void abandon(Runnable task, List<Runnable> pending) {
    if (task instanceof Immediate immediate) {
      pending.add(immediate.command);
      outstanding.add(-1);
    } else if (((ScheduledTask<?>) task).abandon()) {
      pending.add(task);
      outstanding.add(-1);
    }
  }

  @Override
  public boolean isShutdown() {
    return state.get() != RUNNING;
  }

  @Override
  public boolean isTerminated() {
    return terminated.getCount() == 0;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return terminated.await(timeout, unit);
  }

  /** Returns the counters of this executor's timer; each run of a periodic task is counted as a timer. */
  public TimerCounters counters() {
    return driver.counters();
  }

  @Override
  public String toString() {
    String name = isTerminated() ? "terminated" : isShutdown() ? "shutting down" : "running";
    return "WheelScheduledExecutor[" + name + ", tasks=" + outstanding.sum() + "]";
  }

  /** Builder of an executor. Not thread-safe. */
  public static final class Builder {
    private final WheelTimer.Builder driver = WheelTimer.builder();
    private ThreadFactory workerFactory = Thread.ofVirtual().name("foliot-worker-", 0).factory();
    private int threadLimit = WorkerPool.UNBOUNDED;
    private boolean runsDelayedAfterShutdown = true;
    private boolean runsPeriodicAfterShutdown;

    private Builder() {}

    /**
     * Sets the maximum number of tasks that run at the same time; no limit by default.
     *
     * @throws IllegalArgumentException if {@code limit} is not positive
     */
    public Builder threads(int limit) {
      threadLimit = (int) positive(limit, "limit");
      return this;
    }

    /** Sets the factory of the threads that run tasks; virtual threads by default. */
    public Builder workerFactory(ThreadFactory workerFactory) {
      this.workerFactory = requireNonNull(workerFactory, "workerFactory");
      return this;
    }

    /** Sets the factory of the driver thread, which waits for deadlines; a platform thread by default. */
    public Builder driverFactory(ThreadFactory driverFactory) {
      driver.threadFactory(driverFactory);
      return this;
    }

    /** As {@link WheelTimer.Builder#tick}. */
    public Builder tick(Duration tick) {
      driver.tick(tick);
      return this;
    }

    /** As {@link WheelTimer.Builder#clock}. */
    public Builder clock(TimerClock clock) {
      driver.clock(clock);
      return this;
    }

    /** As {@link WheelTimer.Builder#handOffLimit}. */
    public Builder handOffLimit(int tasks) {
      driver.handOffLimit(tasks);
      return this;
    }

    /** Sets whether delayed tasks run after {@code shutdown}; they do by default. */
    public Builder executeExistingDelayedTasksAfterShutdown(boolean value) {
      runsDelayedAfterShutdown = value;
      return this;
    }

    /** Sets whether periodic tasks continue after {@code shutdown}; they are cancelled by default. */
    public Builder continueExistingPeriodicTasksAfterShutdown(boolean value) {
      runsPeriodicAfterShutdown = value;
      return this;
    }

    /** Creates the executor. Threads start when tasks need them. */
    public WheelScheduledExecutor build() {
      return new WheelScheduledExecutor(this);
    }
  }
}
