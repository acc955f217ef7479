package io.foliot.store.rocksdb;

import io.foliot.core.TimeSource;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * A check of the disk's free space that refuses new tasks before the disk is full, so that existing tasks can still be
 * settled. Used by the writer thread only, except {@link #lastFreeBytes}.
 */
final class Room {
  /** Interval between checks of the file system: short enough that little can be written in between. */
  private static final long MEASURE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final System.Logger LOG = System.getLogger(Room.class.getName());

  private final Path folder;
  private final long reserveBytes;
  private final ToLongFunction<Path> freeBytes;
  private final TimeSource clock;
  private long measuredNanos;
  private volatile long lastFreeBytes;

  Room(Path folder, long reserveBytes, ToLongFunction<Path> freeBytes, TimeSource clock) {
    this.folder = folder;
    this.reserveBytes = reserveBytes;
    this.freeBytes = freeBytes;
    this.clock = clock;
    measuredNanos = clock.monotonicNanos();
    lastFreeBytes = freeBytes.applyAsLong(folder);
  }

  private void measure(long nowNanos) {
    measuredNanos = nowNanos;
    try {
      lastFreeBytes = freeBytes.applyAsLong(folder);
    } catch (StoreException e) {
      // A process without free file descriptors cannot measure. If this failure lasts, the file system has a problem.
      LOG.log(System.Logger.Level.WARNING,
          "the free space cannot be measured; keeping the last figure: folder=" + folder
              + ", lastFreeBytes=" + lastFreeBytes,
          e);
    }
  }

  /** Throws {@link StoreFullException} if there is not enough room for a new task. */
  void ensure() {
    long nowNanos = clock.monotonicNanos();
    if (nowNanos - measuredNanos >= MEASURE_NANOS) {
      measure(nowNanos);
    }
    if (lastFreeBytes < reserveBytes) {
      throw new StoreFullException("the disk is nearly full, so new tasks are refused: folder=" + folder
          + ", freeBytes=" + lastFreeBytes + ", neededBytes=" + reserveBytes
          + "; existing tasks are still changed and settled; free some room, and new tasks are accepted within a second");
    }
  }

  /** Returns the free bytes of the file system at the last check. */
  long lastFreeBytes() {
    return lastFreeBytes;
  }
}
