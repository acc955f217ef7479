package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** Makes calls at a steady rate, however long their answers take. */
final class Pace {
  private final long gapNanos;

  Pace(int perSecond) {
    gapNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Returns how many calls fall into a time. */
  int count(Duration time) {
    return (int) (time.toNanos() / gapNanos);
  }

  /** Calls the step with {@code count} numbers from 0, each at its time. The thread sleeps between two calls. */
  void keep(int count, IntConsumer step) {
    long begun = System.nanoTime();
    for (int number = 0; number < count; number++) {
      long wait = begun + number * gapNanos - System.nanoTime();
      while (wait > 0) {
        LockSupport.parkNanos(wait);
        wait = begun + number * gapNanos - System.nanoTime();
      }
      step.accept(number);
    }
  }
}
