package io.foliot.load;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Records the callbacks of one lot of tasks, which are numbered from 0: the number of deliveries of each task, and the
 * time of its first delivery. The receiver's thread records the callbacks. A call of {@link #await} or
 * {@link #delivered} makes these records visible to another thread.
 */
final class Ledger {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final int tasks;
  private final int[] deliveries;
  private final long[] firstMicros;
  private final long[] dueMillis;

  // written by the receiver, read by any thread
  private final AtomicInteger delivered = new AtomicInteger();
  private final AtomicInteger repeated = new AtomicInteger();
  private final AtomicInteger unknown = new AtomicInteger();

  Ledger(int tasks) {
    this.tasks = tasks;
    deliveries = new int[tasks];
    firstMicros = new long[tasks];
    dueMillis = new long[tasks];
  }

  int tasks() {
    return tasks;
  }

  /** Sets the due time of a task. Called before the task is submitted. */
  void due(int task, long millis) {
    dueMillis[task] = millis;
  }

  long dueMillis(int task) {
    return dueMillis[task];
  }

  /**
   * Records an arrival.
   *
   * @param task the number of the task; -1 if the callback contains no number
   * @param wallMicros the time of the arrival, in microseconds since 1970
   */
  void arrived(int task, long wallMicros) {
    if (task < 0 || task >= tasks) {
      unknown.incrementAndGet();
    } else if (deliveries[task]++ == 0) {
      firstMicros[task] = wallMicros;
      delivered.incrementAndGet();
    } else {
      repeated.incrementAndGet();
    }
  }

  /** Returns the number of tasks that have arrived, each counted once. */
  int delivered() {
    return delivered.get();
  }

  /**
   * Waits until {@code count} tasks have arrived. Returns false if no task arrived for too long.
   *
   * @param patience the longest time without an arrival, counted only after the latest due time
   */
  boolean await(int count, Duration patience) {
    long lastDueMillis = Arrays.stream(dueMillis).max().orElse(0);
    int arrived = delivered.get();
    long progressMillis = System.currentTimeMillis();
    while (arrived < count) {
      LockSupport.parkNanos(POLL_NANOS);
      long now = System.currentTimeMillis();
      int before = arrived;
      arrived = delivered.get();
      progressMillis = arrived > before ? now : progressMillis;
      if (arrived < count && now > Math.max(progressMillis, lastDueMillis) + patience.toMillis()) {
        return false;
      }
    }
    return true;
  }

  /** Returns the time of the first arrival of a task, in microseconds since 1970; 0 if the task has not arrived. */
  long firstMicros(int task) {
    return firstMicros[task];
  }

  /** Returns the latest time at which a task first arrived, in microseconds since 1970; 0 if no task has arrived. */
  long lastMicros() {
    long last = 0;
    for (long micros : firstMicros) {
      last = Math.max(last, micros);
    }
    return last;
  }

  /**
   * Returns the lateness of the first arrival of each task that was due within a period, in microseconds.
   *
   * @param fromMillis the beginning of the period, inclusive
   * @param toMillis the end of the period, exclusive
   */
  Samples lateMicros(long fromMillis, long toMillis) {
    Samples late = new Samples();
    for (int i = 0; i < tasks; i++) {
      if (deliveries[i] > 0 && dueMillis[i] >= fromMillis && dueMillis[i] < toMillis) {
        late.add(firstMicros[i] - dueMillis[i] * 1_000);
      }
    }
    return late;
  }

  /** Returns the lateness of the first arrival of each task, in microseconds. */
  Samples lateMicros() {
    return lateMicros(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /**
   * Checks that the first {@code expected} tasks arrived once each and never early, and that no other task arrived.
   *
   * @param lot the name of these tasks in the report
   */
  void prove(Report report, String lot, int expected) {
    int missing = 0;
    int early = 0;
    int unexpected = 0;
    for (int i = 0; i < tasks; i++) {
      missing += i < expected && deliveries[i] == 0 ? 1 : 0;
      unexpected += i >= expected && deliveries[i] > 0 ? 1 : 0;
      early += deliveries[i] > 0 && firstMicros[i] < dueMillis[i] * 1_000 ? 1 : 0;
    }
    report.checkEqual(lot + ", delivered", expected, expected - missing)
        .checkNone(lot + ", delivered twice", repeated.get())
        .checkNone(lot + ", delivered early", early).checkNone(lot + ", never submitted", unexpected + unknown.get());
  }

  /** Returns the number of deliveries of tasks that had arrived before. */
  int repeated() {
    return repeated.get();
  }
}
