package io.foliot.engine;

/**
 * The pause after a failure. It doubles with each failure up to {@link #LAST_NANOS}, and a success ends it. Not
 * thread-safe.
 */
final class Backoff {
  static final long FIRST_NANOS = 20_000_000;
  /** Longest pause. It bounds how late the engine notices that a store is back. */
  static final long LAST_NANOS = 2_000_000_000;

  private long waitNanos;
  private long untilNanos = Long.MIN_VALUE;

  void failed(long nowNanos) {
    waitNanos = waitNanos == 0 ? FIRST_NANOS : Math.min(LAST_NANOS, 2 * waitNanos);
    untilNanos = nowNanos + waitNanos;
  }

  void succeeded() {
    waitNanos = 0;
    untilNanos = Long.MIN_VALUE;
  }

  boolean isOver(long nowNanos) {
    return untilNanos == Long.MIN_VALUE || nowNanos - untilNanos >= 0;
  }
}
