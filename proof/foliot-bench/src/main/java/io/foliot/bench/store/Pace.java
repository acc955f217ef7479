package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * Calls a step at a steady rate. The step must not wait for an answer. After a delay, the calls that are overdue are
 * made without a pause between them.
 */
final class Pace {
  private final long gapNanos;

  Pace(int perSecond) {
    gapNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Returns how many calls are made in this time. */
  int count(Duration time) {
    return (int) (time.toNanos() / gapNanos);
  }

  /** Calls the step with the numbers from 0 to {@code count - 1}, each at its time. */
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
