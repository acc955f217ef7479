package io.foliot.core.delivery;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Logs the failures of one handler, with their stack traces, at most one a second. Thread-safe. */
public final class FailureLog {
  /** Shortest time between two logged failures. */
  private static final long LOG_EVERY_NANOS = 1_000_000_000;

  private final System.Logger logger;
  private final String queue;
  private final AtomicLong nextNanos;
  private final AtomicLong unlogged = new AtomicLong();

  /**
   * Creates the log of a queue's handler.
   *
   * @param nowNanos the time of a monotonic clock
   */
  public FailureLog(System.Logger logger, String queue, long nowNanos) {
    this.logger = logger;
    this.queue = queue;
    nextNanos = new AtomicLong(nowNanos);
  }

  /**
   * Logs a failure of an attempt, or counts it if another failure was logged less than a second ago.
   *
   * @param key the key of the task, or null if it has none
   */
  public void failed(String task, @Nullable String key, int attempt, Throwable failure, long nowNanos) {
    long next = nextNanos.get();
    if (nowNanos - next < 0 || !nextNanos.compareAndSet(next, nowNanos + LOG_EVERY_NANOS)) {
      unlogged.incrementAndGet();
      return;
    }
    long missed = unlogged.getAndSet(0);
    logger.log(System.Logger.Level.WARNING, "a handler failed; the task is tried again if attempts are left: queue="
        + queue + ", task=" + task + (key == null ? "" : ", key=" + key) + ", attempt=" + attempt
        + (missed == 0 ? "" : ", failuresNotLogged=" + missed),
        failure);
  }
}
