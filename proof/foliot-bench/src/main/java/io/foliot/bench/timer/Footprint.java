package io.foliot.bench.timer;

import java.lang.ref.Reference;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Measures the memory that timers take. */
final class Footprint {
  private static final int COLLECTIONS = 3;

  /** Pause before a collection that lets the timer's own threads finish the work that callers have left for them. */
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long NEAR_NANOS = TimeUnit.SECONDS.toNanos(300);
  private static final long FAR_NANOS = TimeUnit.SECONDS.toNanos(600);

  private Footprint() {}

  /**
   * Returns the bytes of heap for each waiting timer, including its handle. The array of the handles is not included.
   * Neither is the callback, which all timers share.
   *
   * @throws IllegalStateException if one of the timers fires
   */
  static double bytesPerTimer(Supplier<? extends Peer> maker, int timers) {
    SplittableRandom random = new SplittableRandom(timers);
    LongAdder fired = new LongAdder();
    Runnable task = fired::increment;
    Object[] handles = new Object[timers];
    try (Peer peer = maker.get()) {
      // With the first timer, the peer starts its threads and creates its tables.
      peer.cancel(peer.schedule(task, FAR_NANOS));
      long emptyBytes = usedBytes();
      for (int index = 0; index < timers; index++) {
        handles[index] = peer.schedule(task, random.nextLong(NEAR_NANOS, FAR_NANOS));
      }
      long fullBytes = usedBytes();
      if (fired.sum() != 0) {
        throw new IllegalStateException("no timer may fire before it is due: fired=" + fired.sum());
      }
      return (double) (fullBytes - emptyBytes) / timers;
    } finally {
      Reference.reachabilityFence(handles);
    }
  }

  private static long usedBytes() {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int collection = 0; collection < COLLECTIONS; collection++) {
      LockSupport.parkNanos(SETTLE_NANOS);
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
