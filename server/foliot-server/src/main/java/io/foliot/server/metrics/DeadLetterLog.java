package io.foliot.server.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;

/** A log of the dead letters of the queues that share a label, at a bounded rate. Safe for use by any thread. */
final class DeadLetterLog {
  /** Shortest time between two lines. */
  private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Logger log;
  private final AtomicLong nextNanos;
  private final AtomicLong unlogged = new AtomicLong();

  /**
   * Creates a log.
   *
   * @param nowNanos the time of a monotonic clock
   */
  DeadLetterLog(Logger log, long nowNanos) {
    this.log = log;
    nextNanos = new AtomicLong(nowNanos);
  }

  /**
   * Logs a dead letter of a queue, or counts it if the previous line is too recent.
   *
   * @param task returns the label of the task
   */
  void failed(String queue, Supplier<String> task, long nowNanos) {
    long next = nextNanos.get();
    if (nowNanos - next < 0 || !nextNanos.compareAndSet(next, nowNanos + LOG_EVERY_NANOS)) {
      unlogged.incrementAndGet();
      return;
    }
    long missed = unlogged.getAndSet(0);
    log.warn(
        "a task failed permanently and is a dead letter; \"foliot tasks {} --state failed\" shows why: queue={}, {}{}",
        queue, queue, task.get(), missed == 0 ? "" : ", deadLettersNotLogged=" + missed);
  }
}
