package io.foliot.jobs;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Compares the clock of a node with the store's. While they disagree, it is unknown which one is wrong, and a pass by a
 * store's clock that is ahead would decide times that have not come yet. So passes wait meanwhile. Thread-safe.
 */
public final class ClockCheck {
  /** Compares nothing, for nodes whose clock has no meaning. */
  public static final ClockCheck NONE = new ClockCheck(() -> 0, Long.MAX_VALUE);

  private static final System.Logger LOG = System.getLogger(ClockCheck.class.getName());

  private final LongSupplier wallMillis;
  private final long maxOffsetMillis;
  private final AtomicBoolean disagreed = new AtomicBoolean();

  /**
   * @param wallMillis returns the node's clock in milliseconds since 1970
   * @param maxOffsetMillis by how much the clocks may differ
   */
  public ClockCheck(LongSupplier wallMillis, long maxOffsetMillis) {
    this.wallMillis = wallMillis;
    this.maxOffsetMillis = maxOffsetMillis;
  }

  /** Returns whether the clocks disagree, given a reading of the store's clock that has just been made. */
  boolean disagree(long storeMillis) {
    if (maxOffsetMillis == Long.MAX_VALUE) {
      return false;
    }
    long offset = storeMillis - wallMillis.getAsLong();
    boolean disagree = Math.abs(offset) > maxOffsetMillis;
    if (disagreed.compareAndSet(!disagree, disagree)) {
      if (disagree) {
        LOG.log(System.Logger.Level.ERROR, "the clocks of the store and of this node disagree; this node plans no jobs"
            + " until one of the clocks is set (NTP): storeAheadMillis={0}, allowedMillis={1}", offset,
            maxOffsetMillis);
      } else {
        LOG.log(System.Logger.Level.INFO, "the clocks of the store and of this node agree again; jobs are planned");
      }
    }
    return disagree;
  }
}
