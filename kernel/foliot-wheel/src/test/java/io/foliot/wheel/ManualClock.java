package io.foliot.wheel;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A clock that a test moves, and that knows whether the driver sleeps. For one driver. */
final class ManualClock implements TimerClock {
  private static final long BOUND_SECONDS = 30;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long nanos;
  private long parkedUntil;
  private boolean parked;
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

  /** Moves the time before there is a driver. */
  void setWithoutDriver(long toNanos) {
    lock.lock();
    try {
      nanos = toNanos;
    } finally {
      lock.unlock();
    }
  }

  /** Moves the time, and returns once the driver has dealt with it and sleeps. */
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

  /** Moves the time to where the driver wakes by itself, if it sleeps. */
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

  /** Waits until the driver sleeps and has no reason to wake. */
  void awaitAsleep() {
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
      while (!parked || permit || nanos >= parkedUntil) {
        if (left <= 0) {
          throw new AssertionError("the driver did not come to rest within " + BOUND_SECONDS + " s");
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      lock.unlock();
    }
  }

  /** Returns how often the driver has gone to sleep. */
  int parks() {
    lock.lock();
    try {
      return parks;
    } finally {
      lock.unlock();
    }
  }

  /** Returns when the driver will wake by itself. */
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
