package io.foliot.jobs;

import io.foliot.core.store.TaskStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * The store's clock at the slots of jobs, in milliseconds since 1970. Thread-safe.
 *
 * <p>A store with a clock in this process is read each time. For any other store, a reading is reused for a second: the
 * result is the reading plus the time that has passed since it arrived. A frequent writer therefore waits only for its
 * writes, and not for readings of the clock. The result is never ahead of the store's clock, unless that clock is set
 * back meanwhile. With a reused reading, the result is at most twice {@value #TOLERANCE_MILLIS} ms behind, because a
 * reading is not reused in two cases:
 * <ul>
 * <li>The reading took longer than {@value #TOLERANCE_MILLIS} ms.
 * <li>The wall clock and the monotonic clock of this process disagree by more than {@value #TOLERANCE_MILLIS} ms on the
 * time that has passed. The monotonic clock may have stopped while the machine was suspended.
 * </ul>
 *
 * <p>Readings are kept for each slot, because a store may have several servers with different clocks. The passes over a
 * job use the clock of its slot.
 */
final class StoreTime {
  /** Maximum age of a reading that is reused. */
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long TOLERANCE_MILLIS = 50;

  private final TaskStore store;
  private final JobSurroundings surroundings;
  private final ConcurrentMap<Integer, Reading> readings = new ConcurrentHashMap<>();

  private record Reading(long micros, long nanos, long wallMillis) {}

  StoreTime(TaskStore store, JobSurroundings surroundings) {
    this.store = store;
    this.surroundings = surroundings;
  }

  /** Reads the time at the slot of a job from the store. */
  CompletionStage<Long> now(String job) {
    int slot = slot(job);
    long begunNanos = surroundings.nanoTime();
    CompletionStage<Long> read = store.timeMicros(slot);
    if (!read.toCompletableFuture().isDone()) {
      return read.thenApply(micros -> {
        long nanos = surroundings.nanoTime();
        if (nanos - begunNanos <= TimeUnit.MILLISECONDS.toNanos(TOLERANCE_MILLIS)) {
          readings.put(slot, new Reading(micros, nanos, surroundings.wallMillis()));
        }
        return millis(micros);
      });
    }
    return read.thenApply(StoreTime::millis);
  }

  /** Returns the time at the slot of a job, read now, or derived from the latest reading and this process's clocks. */
  CompletionStage<Long> estimated(String job) {
    Reading last = readings.get(slot(job));
    if (last == null) {
      return now(job);
    }
    long age = surroundings.nanoTime() - last.nanos();
    long wallAge = surroundings.wallMillis() - last.wallMillis();
    boolean hasBeenSuspended = Math.abs(wallAge - TimeUnit.NANOSECONDS.toMillis(age)) > TOLERANCE_MILLIS;
    return age > MAX_AGE_NANOS || hasBeenSuspended
        ? now(job)
        : CompletableFuture.completedFuture(millis(last.micros() + TimeUnit.NANOSECONDS.toMicros(age)));
  }

  /** Returns the wall clock of this process, in milliseconds since 1970. */
  long wallMillis() {
    return surroundings.wallMillis();
  }

  private int slot(String job) {
    return Shards.hash16(job) & (store.slotCount() - 1);
  }

  private static long millis(long micros) {
    return Math.floorDiv(micros, 1_000);
  }
}
