package io.foliot.engine;

import io.foliot.core.Scheduler.OverloadedException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits how many items and bytes may wait for the store. A call that does not fit is refused before it has any effect.
 * Thread-safe.
 */
final class Admission {
  private final long maxItems;
  private final long maxBytes;
  private final AtomicLong items = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();

  Admission(long maxItems, long maxBytes) {
    this.maxItems = maxItems;
    this.maxBytes = maxBytes;
  }

  /**
   * Admits a call. A call that is larger than a limit is admitted when nothing else waits.
   *
   * @throws OverloadedException if other calls wait, and this call would exceed a limit
   */
  void enter(long callItems, long callBytes) {
    long itemsAfter = items.addAndGet(callItems);
    long bytesAfter = bytes.addAndGet(callBytes);
    boolean alone = itemsAfter == callItems;
    if (!alone && (itemsAfter > maxItems || bytesAfter > maxBytes)) {
      leave(callItems, callBytes);
      throw new OverloadedException("too much already waits for the store; try again in a second: items="
          + (itemsAfter - callItems) + " of " + maxItems + ", bytes=" + (bytesAfter - callBytes) + " of " + maxBytes);
    }
  }

  void leave(long callItems, long callBytes) {
    items.addAndGet(-callItems);
    bytes.addAndGet(-callBytes);
  }
}
