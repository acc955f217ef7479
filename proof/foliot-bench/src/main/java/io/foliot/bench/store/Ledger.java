package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** Records how often each task has begun, and when the first task began. Thread-safe. */
final class Ledger {
  private static final long NEVER = Long.MIN_VALUE;

  private final AtomicIntegerArray times;
  private final CountDownLatch absent;
  private final AtomicLong firstNanos = new AtomicLong(NEVER);

  /** Creates a ledger for this many tasks, numbered from 0. */
  Ledger(int tasks) {
    times = new AtomicIntegerArray(tasks);
    absent = new CountDownLatch(tasks);
  }

  void begun(int number) {
    if (firstNanos.get() == NEVER) {
      firstNanos.compareAndSet(NEVER, System.nanoTime());
    }
    if (times.getAndIncrement(number) == 0) {
      absent.countDown();
    }
  }

  /** Waits until all tasks have begun. Fails if one has not begun within the bound. */
  void await(Duration bound) throws InterruptedException {
    if (!absent.await(bound.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("every task must begin in time: tasks=" + times.length() + ", absent="
          + absent.getCount() + ", bound=" + bound);
    }
  }

  /** Returns when the first task began, by {@link System#nanoTime}; {@link Long#MIN_VALUE} if none has. */
  long firstNanos() {
    return firstNanos.get();
  }

  /** Fails if a task has begun more than once, or not at all. */
  void ensureEachOnce() {
    for (int number = 0; number < times.length(); number++) {
      if (times.get(number) != 1) {
        throw new IllegalStateException("every task must begin once: task=" + number + ", times=" + times.get(number));
      }
    }
  }
}
