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
 * Runs callbacks after a delay. Any thread may schedule, cancel and reset; one driver thread turns the wheel. It sleeps
 * exactly until the next deadline and does not wake while there is nothing to do.
 *
 * <p>A callback never runs before its delay has passed, by the nanosecond. It runs late by up to one tick (65 us unless
 * set), plus what the operating system needs to wake a thread, plus a millisecond while the driver would have to wake
 * more than 1,000 times a second.
 *
 * <p>Timers start in the order of their deadlines, to the nanosecond, also after a stall, and those of one thread with
 * equal deadlines in the order of its calls. To start is to be called inline, or to be given to the executor: callbacks
 * that it runs on several threads are begun in this order, and may then overtake each other. A timer whose call is
 * still under way when a later deadline is reached may start after the timer of that deadline.
 *
 * <p>If the driver thread dies, of an {@code OutOfMemoryError} or an exception of the clock, it logs the reason,
 * further timers are rejected with it, and {@link #stop} returns those that waited.
 *
 * <p>By default callbacks run on virtual threads, as many as are needed so that a callback that blocks delays no
 * others; short callbacks share a few threads.
 */
public final class WheelTimer implements AutoCloseable {
  private final WheelDriver driver;
  private final Executor executor;

  /** The threads that callbacks run on, unless the user has given an executor. */
  private final @Nullable WorkerPool workers;

  private WheelTimer(Builder builder) {
    workers = builder.executor == null ? new WorkerPool(builder.workerFactory, WorkerPool.UNBOUNDED) : null;
    executor = builder.executor == null ? requireNonNull(workers) : builder.executor;
    BiConsumer<? super Timeout, ? super Throwable> onError = builder.onError;
    driver = new WheelDriver(builder, new Callbacks(onError, workers));
  }

  /** The timer as its driver's owner. */
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
    public void failed(WheelNode node, Throwable failure) {
      onError.accept((WheelTimeout) node, failure);
    }
  }

  /** Returns a timer with the defaults of {@link Builder}. */
  public static WheelTimer create() {
    return builder().build();
  }

  /** Returns a builder of a timer. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Runs a task once, after a delay.
   *
   * @param delay zero or negative for at once; a deadline beyond 146 years from the timer's start is cut to that
   * @throws RejectedExecutionException if the timer has stopped, its hand-off is full, or its thread has died or cannot
   *     be started. In the last two cases the cause says why; after a failed start, the next call tries again
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
   * Stops the driver thread, and waits for its end and the end of an inline callback that is running, unless that
   * callback is the caller. Callbacks that were given to the executor continue. From now on nothing fires and every
   * {@code schedule} is rejected.
   *
   * @return exactly the timers that have neither fired nor been cancelled; they are cancelled now. Empty, and at
   *     once, for all callers but the first
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

  /** Returns the counters of this timer. */
  public TimerCounters counters() {
    return driver.counters();
  }

  WheelDriver driver() {
    return driver;
  }

  void execute(Runnable task) {
    executor.execute(task);
  }

  static long saturatedNanos(Duration duration) {
    return TimeUnit.NANOSECONDS.convert(duration);
  }

  /** The settings of a timer. Not safe for use by several threads. */
  public static final class Builder {
    /** 2^16 ns: about as late as the operating system wakes a thread, so a finer tick gains nothing. */
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
     * Sets the step of the wheel, and with it how late a timer may be on purpose; rounded down to a power of two in
     * nanoseconds.
     *
     * @throws IllegalArgumentException if it is not positive
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
     * Sets how much later than a tick timers may fire so that more of them fire together and the wheel moves them less;
     * zero unless set. For timeouts that nearly always get cancelled, a tenth of the delay is a good value.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Builder slack(Duration slack) {
      long nanos = saturatedNanos(slack);
      if (nanos < 0) {
        throw new IllegalArgumentException("slack must not be negative: slack=" + slack);
      }
      slackNanos = nanos;
      return this;
    }

    /** Sets the executor of the callbacks; virtual threads of the timer's own unless set. */
    public Builder executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /** Runs the callbacks on the driver thread: the cheapest way, for callbacks that are short and never block. */
    public Builder inline() {
      return executor(Runnable::run);
    }

    /** Sets the clock; {@link TimerClock#system} unless set. */
    public Builder clock(TimerClock clock) {
      this.clock = requireNonNull(clock, "clock");
      return this;
    }

    /**
     * Sets the factory of the driver thread; by default a platform thread named {@code foliot-timer}. The thread starts
     * with the first timer, and keeps the JVM alive until {@code stop} unless it is a daemon. {@link #build} calls the
     * factory, and throws if it returns null or a thread that was started.
     */
    public Builder threadFactory(ThreadFactory threadFactory) {
      this.threadFactory = requireNonNull(threadFactory, "threadFactory");
      return this;
    }

    /**
     * Bounds how many new timers may wait for the driver to take them on; beyond that {@code schedule} is rejected.
     * Unbounded unless set. Callers that race may exceed it by one each.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder handOffLimit(int timers) {
      if (timers <= 0) {
        throw new IllegalArgumentException("the limit of the hand-off must be positive: timers=" + timers);
      }
      handOffLimit = timers;
      return this;
    }

    /**
     * Sets the handler of a callback that threw on the driver thread, or that the executor refused; the driver thread's
     * uncaught exception handler unless set.
     */
    public Builder onError(BiConsumer<? super Timeout, ? super Throwable> onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** Starts a timer and returns it. */
    public WheelTimer build() {
      return new WheelTimer(this);
    }
  }
}
