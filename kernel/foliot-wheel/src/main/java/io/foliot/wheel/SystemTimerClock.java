package io.foliot.wheel;

import java.util.concurrent.locks.LockSupport;

/** The clock of {@link System#nanoTime}. */
enum SystemTimerClock implements TimerClock {
  INSTANCE;

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void park(long nanos) {
    if (nanos == FOREVER) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, nanos);
    }
  }

  @Override
  public void unpark(Thread driver) {
    LockSupport.unpark(driver);
  }
}
