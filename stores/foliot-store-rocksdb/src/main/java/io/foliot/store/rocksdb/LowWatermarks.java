package io.foliot.store.rocksdb;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The low watermarks of the ranges of an index: instants before which a range has no entry. A scan starts at the
 * watermark, so it never walks over dead entries. A poll reads nothing if the watermarks of its ranges are in the
 * future.
 *
 * <p><b>Invariant.</b> No visible entry is before the watermark of its range.
 *
 * <p>The writer lowers the watermark <i>before</i> an entry becomes visible. A scan raises it to the first entry that
 * it has seen. An earlier entry may become visible after the scan has taken its view of the index. A scan therefore
 * registers before it takes its view. From then on the writer notes the lowest entry written meanwhile, including
 * writes under way at that time, and the scan never raises the watermark above it. One scan at a time learns in a
 * range; others only read.
 *
 * <p>Rejected: a version number of the range that must be the same at begin and end. A loaded writer always has a write
 * under way, so no scan would ever learn anything.
 */
final class LowWatermarks {
  /** The watermark of a range of which nothing is known. */
  static final long UNKNOWN = Long.MIN_VALUE;
  /** The watermark of an empty range. */
  static final long EMPTY = Long.MAX_VALUE;

  // written under the lock, read by any thread
  private volatile AtomicLongArray watermarks;

  // guarded by this
  private long[] underWay;
  private long[] sinceBegin;
  private boolean[] learning;
  private int[] touched = new int[64];
  private int touchedCount;

  LowWatermarks(int ranges) {
    watermarks = new AtomicLongArray(ranges);
    underWay = new long[ranges];
    sinceBegin = new long[ranges];
    learning = new boolean[ranges];
    Arrays.fill(underWay, EMPTY);
    for (int i = 0; i < ranges; i++) {
      watermarks.setPlain(i, UNKNOWN);
    }
  }

  /** Returns an instant before which the range has no visible entry. */
  long watermark(int range) {
    AtomicLongArray now = watermarks;
    return range < now.length() ? now.get(range) : UNKNOWN;
  }

  /** Makes room for more ranges. */
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
    learning = Arrays.copyOf(learning, size);
    watermarks = grown;
  }

  /** Notes that an entry is about to be written; the writer calls this before it commits. */
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
    if (learning[range]) {
      sinceBegin[range] = Math.min(sinceBegin[range], wakeAt);
    }
  }

  /** Notes that every entry that was about to be written is visible now. */
  synchronized void visible() {
    for (int i = 0; i < touchedCount; i++) {
      underWay[touched[i]] = EMPTY;
    }
    touchedCount = 0;
  }

  /**
   * Notes that a scan is about to take its view of the index.
   *
   * @return whether the scan may learn; it must then end with {@link #learned}
   */
  synchronized boolean begin(int range) {
    if (learning[range]) {
      return false;
    }
    learning[range] = true;
    sinceBegin[range] = underWay[range];
    return true;
  }

  /** Ends a scan that may learn: its view has no entry before {@code first}, which is UNKNOWN after a failed scan. */
  synchronized void learned(int range, long first) {
    learning[range] = false;
    long watermark = Math.min(first, sinceBegin[range]);
    if (watermark > watermarks.get(range)) {
      watermarks.set(range, watermark);
    }
  }
}
