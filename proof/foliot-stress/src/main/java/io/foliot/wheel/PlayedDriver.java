package io.foliot.wheel;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The clock and the driver of a timer under stress. The clock moves only when it is set. An actor plays the driver
 * thread: {@link #turn} runs the loop of the driver until the driver would sleep, and then returns. So a test needs no
 * thread for the driver, and a lost wake-up shows as a driver that sleeps too long, not as a hang.
 */
final class PlayedDriver implements TimerClock, ThreadFactory {
  /** Exclusive bound of the spins of {@link #spin}. This many spins take about as long as a system call. */
  private static final int SPINS_MAX = 64;

  /** Thrown by a park without a permit, to leave the loop of the driver. The state of the driver remains. */
  private static final class Asleep extends RuntimeException {
    Asleep() {
      super("the driver sleeps", null, false, false);
    }
  }

  /** True if the thread that unparks the driver then runs it. Tests whose callers wait for the driver need this. */
  private final boolean turnsWhenUnparked;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicBoolean permit = new AtomicBoolean();
  private @Nullable WheelDriver driver;
  /** True while each park fails as on a broken clock. Guarded by the lock. */
  private boolean fails;

  private volatile long nowNanos;
  private volatile long sleepsUntilNanos;

  private PlayedDriver(boolean turnsWhenUnparked) {
    this.turnsWhenUnparked = turnsWhenUnparked;
  }

  /** Creates a driver that runs only when an actor runs it. */
  static PlayedDriver create() {
    return new PlayedDriver(false);
  }

  /**
   * Creates a driver that is run by the thread that unparks it. This tests interleavings in which the unparking thread
   * does nothing else until the driver sleeps again.
   */
  static PlayedDriver thatTurnsWhenUnparked() {
    return new PlayedDriver(true);
  }

  /** Creates a timer with this driver and ticks of a nanosecond. Callbacks run on the thread that runs the driver. */
  WheelTimer timer() {
    return WheelTimer.builder().clock(this).threadFactory(this).tick(Duration.ofNanos(1)).inline().build();
  }

  /** Returns the settings of an executor with this driver. Its workers never run, because actors run the tasks. */
  WheelScheduledExecutor.Builder executor() {
    return WheelScheduledExecutor.builder().clock(this).driverFactory(this).workerFactory(PlayedDriver::neverRunning)
        .tick(Duration.ofNanos(1));
  }

  @Override
  public Thread newThread(Runnable run) {
    driver = (WheelDriver) run;
    return neverRunning(run);
  }

  private static Thread neverRunning(Runnable run) {
    return new Thread(run) {
      @Override
      public void start() {}
    };
  }

  /** Runs the driver until it sleeps or has stopped. If another actor runs the driver, waits for that actor first. */
  void turn() {
    WheelDriver played = driver;
    if (played == null) {
      throw new IllegalStateException("the driver must belong to a timer before it runs");
    }
    lock.lock();
    try {
      played.work();
    } catch (Asleep e) {
      assert !permit.get() || sleepsUntilNanos > nowNanos : "a driver sleeps only until a later time";
    } finally {
      lock.unlock();
    }
  }

  /** Runs the driver until it has nothing to do, and then lets it die of an exception of its clock. */
  void die() {
    WheelDriver played = driver;
    if (played == null) {
      throw new IllegalStateException("the driver must belong to a timer before it runs");
    }
    lock.lock();
    try {
      fails = true;
      played.run();
    } finally {
      fails = false;
      lock.unlock();
    }
  }

  /** Runs the driver repeatedly, until no unpark is pending. */
  void settle() {
    while (permit.get()) {
      turn();
    }
  }

  /** Spins for a short random time, so that other threads may overtake this one. */
  static void spin() {
    for (int spins = ThreadLocalRandom.current().nextInt(SPINS_MAX); spins > 0; spins--) {
      Thread.onSpinWait();
    }
  }

  void setNanos(long nanos) {
    nowNanos = nanos;
  }

  /**
   * Returns the end of the driver's latest sleep, by {@link #nanoTime}; {@link #FOREVER} for a sleep without an end.
   */
  long sleepsUntilNanos() {
    return sleepsUntilNanos;
  }

  @Override
  public long nanoTime() {
    return nowNanos;
  }

  @Override
  public void park(long nanos) {
    if (fails) {
      throw new IllegalStateException("the clock has failed");
    }
    if (!permit.getAndSet(false)) {
      sleepsUntilNanos = nanos == FOREVER ? FOREVER : nowNanos + nanos;
      throw new Asleep();
    }
  }

  @Override
  public void unpark(Thread driver) {
    permit.set(true);
    spin();
    if (turnsWhenUnparked) {
      // This thread may be running the driver already, if a callback has called stop. On a real driver thread, stop
      // collects the timers itself. Here the nested turn collects them.
      turn();
    }
  }
}
