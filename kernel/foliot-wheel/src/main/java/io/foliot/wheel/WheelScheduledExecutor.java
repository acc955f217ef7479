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
 * java.util.concurrent.ScheduledThreadPoolExecutor}: scheduling and cancelling take constant time regardless of the
 * number of tasks, a cancelled task is released at once, and tasks that block do not delay others, because threads are
 * started as they are needed.
 *
 * <p>Tasks start no earlier than their delay, by the nanosecond. Timers start in the order of their deadlines, to the
 * nanosecond, also after a stall; those of one thread with equal deadlines start in the order of its calls. A task
 * starts when it is handed to the workers: a single worker runs the tasks in this order, and several workers begin them
 * in this order. The next run of a periodic task is scheduled when the last one ends. Deadlines lie within 146 years of
 * the executor's start; later ones are cut to that.
 *
 * <p>A task is rejected, with the cause, if there is no worker and none can be started; if a further worker cannot be
 * started, its task waits for the others. If the driver thread dies, of an {@code OutOfMemoryError} or an exception of
 * the clock, it logs the reason and further timers are rejected with it; {@link #shutdownNow} returns the tasks that
 * waited, and {@link #shutdown} ends them with that failure.
 *
 * <p>Unlike in {@code ScheduledThreadPoolExecutor}, {@link #execute} and {@link #submit} hand a task to a thread at
 * once, the exception of a task given to {@code execute} goes to its thread's uncaught exception handler, and {@link
 * ScheduledFuture#getDelay} of a future is zero once it has fired or has been cancelled.
 */
public final class WheelScheduledExecutor extends AbstractExecutorService implements ScheduledExecutorService {
  private static final int RUNNING = 0;
  private static final int SHUTDOWN = 1;
  private static final int STOP = 2;

  private final WheelDriver driver;
  private final WorkerPool workers;
  private final boolean runsDelayedAfterShutdown;
  private final boolean runsPeriodicAfterShutdown;

  /** RUNNING -> SHUTDOWN -> STOP, or straight to STOP. */
  private final AtomicInteger state = new AtomicInteger(RUNNING);

  /** Accepted tasks that have not ended. Once it has reached zero after a shutdown, it stays zero. */
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

  /** The executor as the driver's owner. */
  private final class Handover implements WheelDriver.Owner {
    @Override
    public void starting() {
      workers.ensureStaffed();
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
    // From here on a shutdown may cancel it, so only the thread that moves it out of WAITING decrements the count.
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
      // The shutdown may have cancelled waiting tasks before this one was scheduled.
      task.cancelWaiting();
    }
    return task;
  }

  /** Ends a task that the driver has not accepted, without counting it as cancelled there. */
  private static void refuse(ScheduledTask<?> task) {
    boolean ends = task.end(WheelNode.CANCELLED);
    boolean cancels = task.cancelWaiting();
    assert cancels || task.isCancelled() : "a task that was refused has ended: wasArmed=" + ends;
  }

  /** Returns whether a waiting task may keep waiting. */
  private boolean isWanted(ScheduledTask<?> task) {
    return switch (state.get()) {
      case RUNNING -> true;
      case SHUTDOWN -> task.isPeriodic() ? runsPeriodicAfterShutdown : runsDelayedAfterShutdown;
      default -> !task.isPeriodic();
    };
  }

  /** Counts a new task, or rejects it. */
  private void admit() {
    outstanding.add(1);
    if (state.get() != RUNNING) {
      leave();
      throw new RejectedExecutionException("the executor has been shut down, so this task was not accepted");
    }
  }

  /** Removes an ended task from the count; the last one after a shutdown terminates the executor. */
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

  // Called by tasks.

  long nowNanos() {
    return driver.nowNanos();
  }

  long deadlineNanos(long delayNanos) {
    return driver.deadlineNanos(delayNanos);
  }

  /** Hands a task whose time has come to a worker. */
  void begin(ScheduledTask<?> task) {
    workers.execute(task);
  }

  /** Removes a cancelled task from the wheel. */
  void unschedule(ScheduledTask<?> task) {
    driver.cancel(task);
  }

  void ended(ScheduledTask<?> task) {
    if (task.isPeriodic()) {
      periodic.remove(task);
    }
    leave();
  }

  /** Arms a periodic task for its next run; if that is not possible, the task ends with the reason. */
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
      // The task was cancelled after its run and before it was armed, so cancel found nothing in the wheel. If instead
      // it has already begun its next run, this removes nothing.
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

  /** Ends the tasks that wait for a driver that has died, so that a shutdown does not wait for them for ever. */
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

  /** Returns the counters of this executor's timer; each run of a periodic task counts. */
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
     * Sets how many tasks may run at a time; no limit by default.
     *
     * @throws IllegalArgumentException if it is not positive
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

    /** Creates and starts the executor. */
    public WheelScheduledExecutor build() {
      return new WheelScheduledExecutor(this);
    }
  }
}
