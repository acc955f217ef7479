package io.foliot.bench.store;

import static java.util.Objects.requireNonNull;

import io.foliot.api.JobHeaders;
import io.foliot.core.Address;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Records which shards have begun, when, and on which workers. Thread-safe. */
final class ShardLedger {
  private static final long POLL_MILLIS = 5;

  private final Map<Shard, Begun> begun = new ConcurrentHashMap<>();
  private final AtomicInteger repeated = new AtomicInteger();
  private final AtomicInteger misplaced = new AtomicInteger();

  /**
   * A shard of a run.
   *
   * @param zone the zone of the shard; empty if the job has no zones
   */
  record Shard(String job, long scheduledMillis, String zone, int number) {
    static Shard of(TaskRecord task) {
      Map<String, String> headers = task.body().headers();
      return new Shard(text(headers, JobHeaders.JOB),
          Instant.parse(text(headers, JobHeaders.SCHEDULED_AT)).toEpochMilli(),
          headers.getOrDefault(JobHeaders.ZONE, ""), Integer.parseInt(text(headers, JobHeaders.SHARD)));
    }

    private static String text(Map<String, String> headers, String name) {
      return requireNonNull(headers.get(name), name);
    }
  }

  /**
   * The latest beginning of a shard.
   *
   * @param atMillis when the shard began, by {@link System#currentTimeMillis}
   * @param atNanos the same, by {@link System#nanoTime}
   */
  record Begun(String worker, int attempt, long atMillis, long atNanos) {}

  /**
   * Records that a shard begins on a worker.
   *
   * @param mustBeOwn whether a shard that is addressed to one worker must begin on that worker
   */
  void begun(PollingWorker worker, TaskRecord task, boolean mustBeOwn) {
    Begun now = new Begun(worker.name(), task.attempt(), System.currentTimeMillis(), System.nanoTime());
    if (begun.put(Shard.of(task), now) != null) {
      repeated.incrementAndGet();
    }
    Address address = task.id().address();
    boolean isForOne = switch (address.kind()) {
      case ANY, ZONE -> false;
      case SEAT, ONLY, ZONE_SEAT -> true;
    };
    if (mustBeOwn && isForOne && address.number() != worker.seat()) {
      misplaced.incrementAndGet();
    }
  }

  Map<Shard, Begun> begun() {
    return begun;
  }

  int size() {
    return begun.size();
  }

  /** Waits until a number of shards have begun. */
  void await(int shards, Duration bound) throws InterruptedException {
    long until = System.nanoTime() + bound.toNanos();
    while (begun.size() < shards) {
      if (System.nanoTime() - until > 0) {
        throw new IllegalStateException("every shard must begin in time: shards=" + shards + ", begun=" + begun.size()
            + ", bound=" + bound);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  /** Fails unless the number of repeated beginnings is the expected one. */
  void ensureRepeated(int expected) {
    if (repeated.get() != expected) {
      throw new IllegalStateException("only the shards that a lost worker had begun may begin again: repeated="
          + repeated + ", expected=" + expected);
    }
  }

  /** Fails if a shard has begun twice, or on a worker that it is not addressed to. */
  void ensureEachOnceInItsPlace() {
    if (repeated.get() != 0 || misplaced.get() != 0) {
      throw new IllegalStateException("each shard must begin once, on the worker that it is addressed to: repeated="
          + repeated + ", misplaced=" + misplaced);
    }
  }
}
