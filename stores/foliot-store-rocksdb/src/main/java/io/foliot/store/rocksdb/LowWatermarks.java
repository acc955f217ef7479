package io.foliot.store.rocksdb;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The low watermarks of the ranges of an index. A watermark is an instant; all entries of its range are at or after it.
 * A scan starts at the watermark, so it skips the deleted entries before the watermark. A poll reads nothing if the
 * watermarks of its ranges are in the future.
 *
 * <p><b>Invariant.</b> No visible entry is before the watermark of its range, except entries of tasks that scans skip
 * ({@link Unreadables}).
 *
 * <p>The writer lowers the watermark <i>before</i> an entry becomes visible. A scan raises the watermark to the first
 * entry that the scan has read. An earlier entry may become visible after the scan has taken its view of the index. A
 * scan therefore registers before it takes its view. From then on the writer records the lowest entry that it writes,
 * including the writes under way at that time. The scan never raises the watermark above this entry. One scan at a time
 * may raise the watermark of a range; other scans only read.
 *
 * <p>An alternative was rejected: each range has a version number, and a scan raises the watermark only if the number
 * has not changed during the scan. A loaded writer always has a write under way, so no scan would ever raise a
 * watermark.
 */
final class LowWatermarks {
  /** The watermark of a range that no scan has read yet. */
  static final long UNKNOWN = Long.MIN_VALUE;
  /** The watermark of an empty range. */
  static final long EMPTY = Long.MAX_VALUE;

  // written under the lock, read by any thread
  private volatile AtomicLongArray watermarks;

  // guarded by this
  /** For each range, the lowest entry under way, or EMPTY. */
  private long[] underWay;
  /** For each range with a registered scan, the lowest entry written, or under way, since the scan was registered. */
  private long[] sinceBegin;
  /** For each range, whether a scan that may raise the watermark is registered. */
  private boolean[] hasScan;
  /** The ranges with writes under way: the first {@link #touchedCount} elements. */
  private int[] touched = new int[64];
  private int touchedCount;

  LowWatermarks(int ranges) {
    watermarks = new AtomicLongArray(ranges);
    underWay = new long[ranges];
    sinceBegin = new long[ranges];
    hasScan = new boolean[ranges];
    Arrays.fill(underWay, EMPTY);
    for (int i = 0; i < ranges; i++) {
      watermarks.setPlain(i, UNKNOWN);
    }
  }

  /** Returns the watermark of a range: an instant. Before it, scans find no entry in the range. */
  long watermark(int range) {
    AtomicLongArray current = watermarks;
    return range < current.length() ? current.get(range) : UNKNOWN;
  }

  /** Extends the arrays to at least this number of ranges. */
  synchronized void growTo(int ranges) {
    int old = underWay.length;
    if (ranges <= old) {
      return;
    }
    int size = Math.max(ranges, old * 2);
    AtomicLongArray grown = new AtomicLongArray(size);
    for (int i = 0; i < size; i++) {
      grown.setPlain(i, i < old ? watermarks.get(i) : UNKNOWN);
    }
    underWay = Arrays.copyOf(underWay, size);
    Arrays.fill(underWay, old, size, EMPTY);
    sinceBegin = Arrays.copyOf(sinceBegin, size);
    hasScan = Arrays.copyOf(hasScan, size);
    watermarks = grown;
  }

  /** Lowers the watermark for an entry that is about to be written. The writer calls this before the commit. */
  synchronized void lower(int range, long wakeAt) {
    if (wakeAt < watermarks.get(range)) {
      watermarks.set(range, wakeAt);
    }
    if (underWay[range] == EMPTY) {
      if (touchedCount == touched.length) {
        touched = Arrays.copyOf(touched, touchedCount * 2);
      }
      touched[touchedCount++] = range;
    }
    underWay[range] = Math.min(underWay[range], wakeAt);
    if (hasScan[range]) {
      sinceBegin[range] = Math.min(sinceBegin[range], wakeAt);
    }
  }

  /** Ends all writes under way, because their entries are now visible. */
  synchronized void visible() {
    for (int i = 0; i < touchedCount; i++) {
      underWay[touched[i]] = EMPTY;
    }
    touchedCount = 0;
  }

  /**
   * Registers a scan that is about to take its view of the index.
   *
   * @return whether the scan may raise the watermark; if so, the caller must call {@link #end} after the scan
   */
  synchronized boolean begin(int range) {
    if (hasScan[range]) {
      return false;
    }
    hasScan[range] = true;
    sinceBegin[range] = underWay[range];
    return true;
  }

  /**
   * Ends a registered scan.
   *
   * @param first the first entry in the view of the scan, or an earlier instant; UNKNOWN after a failed scan
   */
  synchronized void end(int range, long first) {
    hasScan[range] = false;
    long watermark = Math.min(first, sinceBegin[range]);
    if (watermark > watermarks.get(range)) {
      watermarks.set(range, watermark);
    }
  }
}
