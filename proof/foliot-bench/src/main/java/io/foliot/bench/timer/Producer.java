package io.foliot.bench.timer;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * The timers of one thread. The thread makes its calls for a batch of these timers at a time. Each deadline is at least
 * {@link #NEAR_NANOS} ahead. {@link #pick} picks the batch at random, outside of the measured time.
 */
final class Producer {
  /** Shortest delay of a timer. */
  private static final long NEAR_NANOS = TimeUnit.SECONDS.toNanos(300);

  /** Exclusive bound of the drawn delays. A reset to this delay pushes a deadline back. */
  private static final long FAR_NANOS = TimeUnit.SECONDS.toNanos(600);

  /** Number of delays, a power of two. They are drawn in advance, so that the draw is not part of a measured call. */
  private static final int DELAYS = 1 << 14;

  private final Peer peer;
  private final Runnable task;
  private final int live;
  private final int batch;
  private final SplittableRandom random;
  private final long[] delaysNanos;
  private int nextDelay;

  /**
   * The handles of waiting timers. The last {@code batch} elements are unused at first, and between
   * {@link #cancelPicked} and {@link #scheduleBatch}.
   */
  private final Object[] handles;

  /**
   * Creates the producer and schedules its timers.
   *
   * @param live how many timers wait before the first batch is added; at least {@code batch}
   */
  Producer(Peer peer, Runnable task, int live, int batch, long seed) {
    if (live < batch || batch <= 0) {
      throw new IllegalArgumentException("a batch must be from 1 to live: batch=" + batch + ", live=" + live);
    }
    this.peer = peer;
    this.task = task;
    this.live = live;
    this.batch = batch;
    this.random = new SplittableRandom(seed);
    this.delaysNanos = random.longs(DELAYS, NEAR_NANOS, FAR_NANOS).toArray();
    this.handles = new Object[live + batch];
    for (int index = 0; index < live; index++) {
      handles[index] = peer.schedule(task, delayNanos());
    }
  }

  private long delayNanos() {
    return delaysNanos[nextDelay++ & DELAYS - 1];
  }

  void scheduleBatch() {
    for (int index = live; index < handles.length; index++) {
      handles[index] = peer.schedule(task, delayNanos());
    }
  }

  /** Picks the batch to cancel, or to reset. */
  void pick() {
    for (int index = live; index < handles.length; index++) {
      swap(index, random.nextInt(index + 1));
    }
  }

  private void swap(int index, int other) {
    Object handle = handles[index];
    handles[index] = handles[other];
    handles[other] = handle;
  }

  void cancelPicked() {
    for (int index = live; index < handles.length; index++) {
      peer.cancel(handles[index]);
    }
  }

  /** Pushes back the deadlines of the batch that was picked, as a heartbeat does. */
  void resetPickedToLater() {
    for (int index = live; index < handles.length; index++) {
      handles[index] = peer.reset(handles[index], task, FAR_NANOS);
    }
  }

  /** Brings the deadlines of the batch nearer again, after {@link #resetPickedToLater}. */
  void resetPickedToNearer() {
    for (int index = live; index < handles.length; index++) {
      handles[index] = peer.reset(handles[index], task, delayNanos());
    }
  }

  /** Schedules a batch of timers and cancels each at once, like the timeouts of requests that are answered quickly. */
  void scheduleThenCancelBatch() {
    for (int index = 0; index < batch; index++) {
      peer.cancel(peer.schedule(task, delayNanos()));
    }
  }
}
