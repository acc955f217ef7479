package io.foliot.wheel;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A clock that a test sets. It has one driver, and records whether the driver sleeps. */
final class ManualClock implements TimerClock {
  private static final long BOUND_SECONDS = 30;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long nanos;

  /** Time in nanoseconds at which the driver wakes by itself; {@code Long.MAX_VALUE} means never. */
  private long parkedUntil;

  private boolean parked;

  /** True after an unpark, until the current or the next park ends. */
  private boolean permit;

  private int parks;

  @Override
  public long nanoTime() {
    lock.lock();
    try {
      return nanos;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void park(long parkNanos) {
    lock.lock();
    try {
      parks++;
      parked = true;
      parkedUntil = parkNanos == FOREVER ? Long.MAX_VALUE : nanos + parkNanos;
      changed.signalAll();
      while (!permit && nanos < parkedUntil) {
        changed.awaitUninterruptibly();
      }
      permit = false;
      parked = false;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void unpark(Thread driver) {
    lock.lock();
    try {
      permit = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Sets the time without waking the driver, for a test that has no driver yet or blocks the driver. */
  void setWithoutDriver(long toNanos) {
    lock.lock();
    try {
      nanos = toNanos;
    } finally {
      lock.unlock();
    }
  }

  /** Sets the time, and returns once the driver has fired the due timers and sleeps. */
  void set(long toNanos) {
    lock.lock();
    try {
      nanos = toNanos;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    awaitAsleep();
  }

  /** Sets the time to the end of the driver's sleep, unless the driver is awake or sleeps for ever. */
  void wakeAsleepDriver() {
    lock.lock();
    try {
      if (parked && !permit && nanos < parkedUntil && parkedUntil != Long.MAX_VALUE) {
        nanos = parkedUntil;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void advance(long byNanos) {
    set(nanoTime() + byNanos);
  }

  /** Waits until the driver sleeps and has no reason to wake. Fails after {@link #BOUND_SECONDS}. */
  void awaitAsleep() {
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
      while (!parked || permit || nanos >= parkedUntil) {
        if (left <= 0) {
          throw new AssertionError("the driver did not go to sleep within " + BOUND_SECONDS + " s");
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of times that the driver has gone to sleep. */
  int parks() {
    lock.lock();
    try {
      return parks;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the driver sleeps. Returns the time in nanoseconds at which it wakes by itself, or {@code
   * Long.MAX_VALUE} for never.
   */
  long parkedUntil() {
    awaitAsleep();
    lock.lock();
    try {
      return parkedUntil;
    } finally {
      lock.unlock();
    }
  }
}
