package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** A steady rate, regardless of the time of the answers. */
final class Pace {
  private final long gapNanos;

  Pace(int perSecond) {
    gapNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Returns how many fall into a time. */
  int count(Duration time) {
    return (int) (time.toNanos() / gapNanos);
  }

  /** Tells numbers from 0, each at its time; the calling thread sleeps between them. */
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
