package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs callbacks after a delay. Any thread may schedule, cancel and reset timers. One driver thread advances a timing
 * wheel. The thread sleeps until the next deadline and does not wake while there is nothing to do.
 *
 * <p>A callback never runs before its delay has passed, not even by a nanosecond. It may run late by the sum of three
 * times: up to one tick (65 us by default), the slack (0 by default), and the time that the operating system takes to
 * wake a thread. If deadlines would wake the driver more than 1,000 times a second, a callback may run later by another
 * millisecond.
 *
 * <p>A timer starts when its callback is called inline or given to the executor. Timers start in the order of their
 * deadlines, to the nanosecond, also after a stall. Timers that one thread schedules with equal deadlines start in the
 * order of the calls. An executor with several threads begins callbacks in this order, and they may then overtake each
 * other. The order has one exception: while a call of {@code schedule} or {@code reset} is in progress, timers with
 * later deadlines may start before the timer of this call.
 *
 * <p>An {@code OutOfMemoryError} or an exception of the clock may end the driver thread. The thread then logs the
 * reason, and further timers are rejected with that reason as the cause. {@link #stop} returns the timers that waited.
 *
 * <p>By default callbacks run on virtual threads. There are as many threads as needed, so a callback that blocks delays
 * no other callback; short callbacks share a few threads.
 */
public final class WheelTimer implements AutoCloseable {
  private final WheelDriver driver;
  private final Executor executor;

  /** Threads that run the callbacks; null if the user has given an executor. */
  private final @Nullable WorkerPool workers;

  private WheelTimer(Builder builder) {
    workers = builder.executor == null ? new WorkerPool(builder.workerFactory, WorkerPool.UNBOUNDED) : null;
    executor = builder.executor == null ? requireNonNull(workers) : builder.executor;
    BiConsumer<? super Timeout, ? super Throwable> onError = builder.onError;
    driver = new WheelDriver(builder, new Callbacks(onError, workers));
  }

  /** The owner of the driver. */
  private record Callbacks(BiConsumer<? super Timeout, ? super Throwable> onError, @Nullable WorkerPool workers)
      implements
        WheelDriver.Owner {
    @Override
    public void starting() {
      if (workers != null) {
        workers.ensureStaffed();
      }
    }

    @Override
    public void handOver() {
      if (workers != null) {
        workers.handOver();
      }
    }

    @Override
    public void failed(WheelNode node, Throwable failure) {
      onError.accept((WheelTimeout) node, failure);
    }
  }

  /** Returns a {@code WheelTimer} with the defaults of {@link Builder}. */
  public static WheelTimer create() {
    return builder().build();
  }

  /** Returns a builder of a {@code WheelTimer}. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Runs a task once, after a delay.
   *
   * @param delay the time until the task runs; a delay of zero or less makes the task due at once. The deadline is at
   *     most 146 years after the creation of this {@code WheelTimer}
   * @throws RejectedExecutionException if {@link #stop} was called, if the hand-off is full, if the driver thread has
   *     died, or if the driver thread or the first worker cannot be started. If a thread has died or cannot be started,
   *     the exception has a cause. After a failed start, the next call tries again
   */
  public Timeout schedule(Runnable task, long delay, TimeUnit unit) {
    long deadlineNanos = driver.deadlineNanos(unit.toNanos(delay));
    WheelTimeout timeout = new WheelTimeout(this, task, deadlineNanos);
    driver.schedule(timeout, deadlineNanos);
    return timeout;
  }

  /** As {@link #schedule(Runnable, long, TimeUnit)}. */
  public Timeout schedule(Runnable task, Duration delay) {
    return schedule(task, saturatedNanos(delay), TimeUnit.NANOSECONDS);
  }

  /**
   * Stops the driver thread, and waits until the thread and any running inline callback have ended. A call from such a
   * callback does not wait. Callbacks that were given to the executor continue. From now on no timer fires and every
   * {@code schedule} is rejected.
   *
   * @return exactly the timers that had neither fired nor been cancelled; this call has cancelled them. Later calls
   *     return an empty list at once
   */
  public List<Timeout> stop() {
    List<WheelNode> unfired = driver.stop();
    if (workers != null) {
      workers.close();
    }
    return unfired.stream().map(node -> (Timeout) (WheelTimeout) node).toList();
  }

  /** As {@link #stop}. */
  @Override
  public void close() {
    List<Timeout> unfired = stop();
    assert unfired.stream().allMatch(Timeout::isCancelled);
  }

  /** Returns the counters of this {@code WheelTimer}. */
  public TimerCounters counters() {
    return driver.counters();
  }

  WheelDriver driver() {
    return driver;
  }

  /** Gives the callback of a due timer to the executor; called on the driver thread. */
  void execute(Runnable task) {
    if (workers != null) {
      workers.gather(task);
    } else {
      executor.execute(task);
    }
  }

  static long saturatedNanos(Duration duration) {
    return TimeUnit.NANOSECONDS.convert(duration);
  }

  /** The settings of a {@code WheelTimer}. Not safe for use by several threads. */
  public static final class Builder {
    /**
     * Base-2 logarithm of the default tick of 65,536 ns. The operating system wakes a thread late by about that time,
     * so a finer tick would gain nothing.
     */
    private static final int DEFAULT_TICK_SHIFT = 16;

    TimerClock clock = TimerClock.system();
    int tickShift = DEFAULT_TICK_SHIFT;
    long slackNanos;
    int handOffLimit = Integer.MAX_VALUE;
    ThreadFactory threadFactory = Thread.ofPlatform().name("foliot-timer")::unstarted;
    private final ThreadFactory workerFactory = Thread.ofVirtual().name("foliot-timer-worker-", 0).factory();
    private @Nullable Executor executor;
    private BiConsumer<? super Timeout, ? super Throwable> onError = Builder::toUncaughtExceptionHandler;

    Builder() {}

    private static void toUncaughtExceptionHandler(Timeout timeout, Throwable failure) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }

    /**
     * Sets the tick, the step in which the wheel advances; 65 us by default. A timer may fire up to one tick late. The
     * tick is rounded down to a power of two of nanoseconds.
     *
     * @throws IllegalArgumentException if {@code tick} is not positive
     */
    public Builder tick(Duration tick) {
      long nanos = saturatedNanos(tick);
      if (nanos <= 0) {
        throw new IllegalArgumentException("a tick must be positive: tick=" + tick);
      }
      tickShift = 63 - Long.numberOfLeadingZeros(nanos);
      return this;
    }

    /**
     * Sets the slack: how late timers may fire, beyond one tick; zero by default. With slack, more timers fire together
     * and the wheel moves timers less often. For timeouts that are nearly always cancelled, a tenth of the delay is a
     * good value.
     *
     * @throws IllegalArgumentException if {@code slack} is negative
     */
    public Builder slack(Duration slack) {
      long nanos = saturatedNanos(slack);
      if (nanos < 0) {
        throw new IllegalArgumentException("slack must not be negative: slack=" + slack);
      }
      slackNanos = nanos;
      return this;
    }

    /** Sets the executor of the callbacks; by default they run on virtual threads. */
    public Builder executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /** Runs the callbacks on the driver thread. This costs least, but the callbacks must be short and never block. */
    public Builder inline() {
      return executor(Runnable::run);
    }

    /** Sets the clock; {@link TimerClock#system} by default. */
    public Builder clock(TimerClock clock) {
      this.clock = requireNonNull(clock, "clock");
      return this;
    }

    /**
     * Sets the factory of the driver thread. The default is a platform thread named {@code foliot-timer}. The thread
     * starts with the first timer, and keeps the JVM alive until {@code stop} unless it is a daemon. {@link #build}
     * calls the factory, and throws if the factory returns null or a thread that was started.
     */
    public Builder threadFactory(ThreadFactory threadFactory) {
      this.threadFactory = requireNonNull(threadFactory, "threadFactory");
      return this;
    }

    /**
     * Sets the maximum number of timers that wait for the driver to place them in the wheel; no limit by default. While
     * so many timers wait, {@code schedule} is rejected. Concurrent callers may exceed the limit by one each. Resets,
     * and further runs of periodic tasks, are never rejected for this reason.
     *
     * @throws IllegalArgumentException if {@code timers} is not positive
     */
    public Builder handOffLimit(int timers) {
      if (timers <= 0) {
        throw new IllegalArgumentException("the limit of the hand-off must be positive: timers=" + timers);
      }
      handOffLimit = timers;
      return this;
    }

    /**
     * Sets the handler for callbacks that throw on the driver thread, and for callbacks that the executor refuses. By
     * default the uncaught exception handler of the driver thread gets the exception.
     */
    public Builder onError(BiConsumer<? super Timeout, ? super Throwable> onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** Creates a {@code WheelTimer}. Its driver thread starts with the first call of {@code schedule}. */
    public WheelTimer build() {
      return new WheelTimer(this);
    }
  }
}
