package io.foliot.wheel;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The clock and the driver thread of a timer under stress. The clock does not move unless it is set, and an actor plays
 * the thread: {@link #turn} runs the driver's own loop until it sleeps, and leaves it asleep. So a state costs no
 * thread, and a wake-up that is lost shows as a driver that sleeps too long, not as a hang.
 */
final class PlayedDriver implements TimerClock, ThreadFactory {
  /** The longest duration of an unpark or a task, in spins: about that of a system call. */
  private static final int SPINS_MAX = 64;

  /** Thrown out of the loop by a park that nothing ends; what the driver has written before it sleeps stays. */
  private static final class Asleep extends RuntimeException {
    Asleep() {
      super("the driver sleeps", null, false, false);
    }
  }

  /** True if the thread that unparks the driver plays it then; needed by those who wait for it. */
  private final boolean turnsWhenUnparked;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicBoolean permit = new AtomicBoolean();
  private @Nullable WheelDriver driver;
  /** Under the lock. */
  private boolean fails;

  private volatile long nowNanos;
  private volatile long sleepsUntilNanos;

  private PlayedDriver(boolean turnsWhenUnparked) {
    this.turnsWhenUnparked = turnsWhenUnparked;
  }

  /** A driver that runs only when an actor runs it. */
  static PlayedDriver create() {
    return new PlayedDriver(false);
  }

  /**
   * A driver that its waker plays: the interleaving in which the waker does nothing until the driver sleeps again.
   */
  static PlayedDriver thatTurnsWhenUnparked() {
    return new PlayedDriver(true);
  }

  /** A timer with this driver, ticks of a nanosecond, and callbacks that run where the driver is played. */
  WheelTimer timer() {
    return WheelTimer.builder().clock(this).threadFactory(this).tick(Duration.ofNanos(1)).inline().build();
  }

  /** The settings of an executor with this driver, and with workers that never run: actors run the tasks. */
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

  /** Runs the driver until it sleeps or has stopped; after another actor that does so. */
  void turn() {
    WheelDriver played = driver;
    if (played == null) {
      throw new IllegalStateException("a driver is played once its timer is there");
    }
    lock.lock();
    try {
      played.work();
    } catch (Asleep e) {
      assert !permit.get() || sleepsUntilNanos > nowNanos : "a driver sleeps only until later";
    } finally {
      lock.unlock();
    }
  }

  /** Runs the driver until it has nothing to do, and then dies, as one whose clock fails does. */
  void die() {
    WheelDriver played = driver;
    if (played == null) {
      throw new IllegalStateException("a driver is played once its timer is there");
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

  /** Lets the driver wake up if it has been unparked, and go to sleep again. */
  void settle() {
    while (permit.get()) {
      turn();
    }
  }

  /** Takes a while, to let the others get ahead. */
  static void spin() {
    for (int spins = ThreadLocalRandom.current().nextInt(SPINS_MAX); spins > 0; spins--) {
      Thread.onSpinWait();
    }
  }

  void setNanos(long nanos) {
    nowNanos = nanos;
  }

  /** Returns the end of the driver's last sleep. */
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
      // If this is the driver already, it is unparked by a stop from within its turn, which a real one would collect
      // for.
      turn();
    }
  }
}
