package io.foliot.server.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/** A log of the dead letters of a queue, with at most one line in ten seconds. Safe for use by any thread. */
final class DeadLetterLog {
  /** Shortest time between two lines of a queue. */
  private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Logger log;
  private final String queue;
  private final AtomicLong nextNanos;
  private final AtomicLong unlogged = new AtomicLong();

  /**
   * Creates the log of a queue.
   *
   * @param nowNanos the time of a monotonic clock
   */
  DeadLetterLog(Logger log, String queue, long nowNanos) {
    this.log = log;
    this.queue = queue;
    nextNanos = new AtomicLong(nowNanos);
  }

  /** Logs a dead letter, or counts it if the previous line is less than ten seconds old. */
  void failed(long nowNanos) {
    long next = nextNanos.get();
    if (nowNanos - next < 0 || !nextNanos.compareAndSet(next, nowNanos + LOG_EVERY_NANOS)) {
      unlogged.incrementAndGet();
      return;
    }
    log.warn("a task failed permanently and is a dead letter; \"foliot tasks {} --state failed\" shows why: queue={},"
        + " deadLettersNotLogged={}", queue, queue, unlogged.getAndSet(0));
  }
}
