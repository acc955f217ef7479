package io.foliot.load;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The callbacks that the receiver saw of one lot of tasks, numbered from 0: how often each came, and when first.
 * Written by the receiver's thread; read by others once {@link #await} or {@link #delivered} says how much of it there
 * is.
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

  /** Says when a task is due, before it is submitted. */
  void due(int task, long millis) {
    dueMillis[task] = millis;
  }

  long dueMillis(int task) {
    return dueMillis[task];
  }

  /** A task arrived, by its number; -1 for one that has none. */
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

  /** Returns how many tasks have come, each counted once. */
  int delivered() {
    return delivered.get();
  }

  /**
   * Waits until a number of tasks have arrived. Returns whether they have.
   *
   * @param patience the longest time without an arrival, counted from the last due time on
   */
  boolean await(int count, Duration patience) {
    long lastDueMillis = Arrays.stream(dueMillis).max().orElse(0);
    int seen = delivered.get();
    long progressMillis = System.currentTimeMillis();
    while (seen < count) {
      LockSupport.parkNanos(POLL_NANOS);
      long now = System.currentTimeMillis();
      int before = seen;
      seen = delivered.get();
      progressMillis = seen > before ? now : progressMillis;
      if (seen < count && now > Math.max(progressMillis, lastDueMillis) + patience.toMillis()) {
        return false;
      }
    }
    return true;
  }

  /** When a task first came, in microseconds since 1970; 0 if it never did. */
  long firstMicros(int task) {
    return firstMicros[task];
  }

  /** When the last of those that came did, in microseconds since 1970. */
  long lastMicros() {
    long last = 0;
    for (long micros : firstMicros) {
      last = Math.max(last, micros);
    }
    return last;
  }

  /** By how much tasks came after their due time, in microseconds; of those due from and before these instants. */
  Samples lateMicros(long fromMillis, long toMillis) {
    Samples late = new Samples();
    for (int i = 0; i < tasks; i++) {
      if (deliveries[i] > 0 && dueMillis[i] >= fromMillis && dueMillis[i] < toMillis) {
        late.add(firstMicros[i] - dueMillis[i] * 1_000);
      }
    }
    return late;
  }

  Samples lateMicros() {
    return lateMicros(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** Proves that each of the first tasks came exactly once and none before its time. */
  void prove(Report report, String lot, int expected) {
    int missing = 0;
    int early = 0;
    int strange = 0;
    for (int i = 0; i < tasks; i++) {
      missing += i < expected && deliveries[i] == 0 ? 1 : 0;
      strange += i >= expected && deliveries[i] > 0 ? 1 : 0;
      early += deliveries[i] > 0 && firstMicros[i] < dueMillis[i] * 1_000 ? 1 : 0;
    }
    report.checkEqual(lot + ", delivered", expected, expected - missing)
        .checkNone(lot + ", delivered twice", repeated.get())
        .checkNone(lot + ", delivered early", early).checkNone(lot + ", never submitted", strange + unknown.get());
  }

  /** Returns how many deliveries were repeats. */
  int repeated() {
    return repeated.get();
  }
}
