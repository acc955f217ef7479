package io.foliot.server.metrics;

import java.util.concurrent.TimeUnit;

/**
 * Whether jobs are planned late. A single late pass says little: the passes that are overdue after a restart are late
 * once. So planning counts as late while at least half of the passes of a window begin late. Thread-safe.
 */
public final class LatePasses {
  /** A pass that begins later than this is late. */
  static final long LATE_MILLIS = 1_000;
  /** Length of a window in which passes are counted. */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
  /** Fewest late passes of a window that count. */
  static final int FEWEST = 3;

  // guarded by this
  private long windowNanos;
  private long passes;
  private long late;
  private long latestMillis;
  private boolean wasLate;
  private long wasLateMillis;

  /** @param nowNanos the monotonic time at which the first window begins */
  LatePasses(long nowNanos) {
    windowNanos = nowNanos;
  }

  /** Records a pass that began this late. */
  synchronized void passed(long lateMillis, long nowNanos) {
    advance(nowNanos);
    passes++;
    if (lateMillis > LATE_MILLIS) {
      late++;
      latestMillis = Math.max(latestMillis, lateMillis);
    }
  }

  private void advance(long nowNanos) {
    long passedNanos = nowNanos - windowNanos;
    if (passedNanos >= WINDOW_NANOS) {
      // Windows without any pass are not late.
      wasLate = passedNanos < 2 * WINDOW_NANOS && late >= FEWEST && 2 * late >= passes;
      wasLateMillis = latestMillis;
      passes = 0;
      late = 0;
      latestMillis = 0;
      windowNanos = nowNanos;
    }
  }

  /** Returns how late the latest pass of the last full window began, or 0 if planning is not late. */
  public synchronized long lateMillis(long nowNanos) {
    advance(nowNanos);
    return wasLate ? wasLateMillis : 0;
  }
}
