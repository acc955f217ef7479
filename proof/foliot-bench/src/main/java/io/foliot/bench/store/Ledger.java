package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** The tasks that have begun, how often, and when the first did. Any thread. */
final class Ledger {
  private static final long NEVER = Long.MIN_VALUE;

  private final AtomicIntegerArray times;
  private final CountDownLatch absent;
  private final AtomicLong firstNanos = new AtomicLong(NEVER);

  /** For tasks with numbers from 0. */
  Ledger(int tasks) {
    times = new AtomicIntegerArray(tasks);
    absent = new CountDownLatch(tasks);
  }

  /** A task has begun. */
  void begun(int number) {
    if (firstNanos.get() == NEVER) {
      firstNanos.compareAndSet(NEVER, System.nanoTime());
    }
    if (times.getAndIncrement(number) == 0) {
      absent.countDown();
    }
  }

  /** Waits until all have begun. */
  void await(Duration bound) throws InterruptedException {
    if (!absent.await(bound.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("every task must begin in time: tasks=" + times.length() + ", absent="
          + absent.getCount() + ", bound=" + bound);
    }
  }

  /** When the first began, as a time of {@link System#nanoTime}. */
  long firstNanos() {
    return firstNanos.get();
  }

  /** Fails if one began more than once, or never. */
  void ensureEachOnce() {
    for (int number = 0; number < times.length(); number++) {
      if (times.get(number) != 1) {
        throw new IllegalStateException("every task must begin once: task=" + number + ", times=" + times.get(number));
      }
    }
  }
}
