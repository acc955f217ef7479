package io.foliot.jobs;

import io.foliot.core.store.TaskStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * The store's clock at the slots of jobs, in milliseconds since 1970. Any thread.
 *
 * <p>A store with a clock in this process is read each time. For any other store, the last answer plus the time that
 * has passed since it arrived is used for a second, so that a frequent writer waits only for its writes. The time is
 * never ahead of the store's, unless the store's clock is set back meanwhile. It is at most twice
 * {@value #TOLERANCE_MILLIS} ms behind: an answer that took longer is not used again. Nor is any answer used once the
 * two clocks of this process differ by more than that in the time that has passed, because the monotonic clock stops
 * while a machine is suspended.
 *
 * <p>Answers are kept for each slot: the nodes of a store's cluster have different clocks, and the passes over a job
 * use the clock of its slot.
 */
final class StoreTime {
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long TOLERANCE_MILLIS = 50;

  private final TaskStore store;
  private final JobSurroundings surroundings;
  private final ConcurrentMap<Integer, Answer> answers = new ConcurrentHashMap<>();

  private record Answer(long micros, long nanos, long wallMillis) {}

  StoreTime(TaskStore store, JobSurroundings surroundings) {
    this.store = store;
    this.surroundings = surroundings;
  }

  /** Returns the time at the slot of a job, as it is now. */
  CompletionStage<Long> now(String job) {
    int slot = slot(job);
    long askedNanos = surroundings.nanoTime();
    CompletionStage<Long> asked = store.timeMicros(slot);
    if (!asked.toCompletableFuture().isDone()) {
      return asked.thenApply(micros -> {
        long nanos = surroundings.nanoTime();
        if (nanos - askedNanos <= TimeUnit.MILLISECONDS.toNanos(TOLERANCE_MILLIS)) {
          answers.put(slot, new Answer(micros, nanos, surroundings.wallMillis()));
        }
        return millis(micros);
      });
    }
    return asked.thenApply(StoreTime::millis);
  }

  /** Returns the time at the slot of a job, read now, or derived from the last answer and this process's clock. */
  CompletionStage<Long> estimated(String job) {
    Answer last = answers.get(slot(job));
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

  private int slot(String job) {
    return Shards.hash16(job) & (store.slotCount() - 1);
  }

  private static long millis(long micros) {
    return Math.floorDiv(micros, 1_000);
  }
}
