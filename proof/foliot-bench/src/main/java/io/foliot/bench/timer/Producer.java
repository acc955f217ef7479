package io.foliot.bench.timer;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One thread that has timers waiting, none of them due within the next five minutes, and calls the timer for a batch of
 * them at a time. Each batch is picked at random from all, which is done by {@code pick}, outside of what is to be
 * measured.
 */
final class Producer {
  private static final long NEAR_NANOS = TimeUnit.SECONDS.toNanos(300);

  /** No timer is due later, so a reset to it pushes a deadline back. */
  private static final long FAR_NANOS = TimeUnit.SECONDS.toNanos(600);

  /** A power of two. Delays are drawn beforehand, so that no call is measured with the drawing of its delay. */
  private static final int DELAYS = 1 << 14;

  private final Peer peer;
  private final Runnable task;
  private final int live;
  private final int batch;
  private final SplittableRandom random;
  private final long[] delaysNanos;
  private int nextDelay;

  /**
   * The timers that wait. Between {@link #cancelPicked} and {@link #scheduleBatch}, the last batch of places is empty.
   */
  private final Object[] handles;

  /**
   * Schedules the timers that are to wait.
   *
   * @param live how many timers wait while nothing is being measured, at least one batch
   */
  Producer(Peer peer, Runnable task, int live, int batch, long seed) {
    if (live < batch || batch <= 0) {
      throw new IllegalArgumentException("a batch is a part of the timers: batch=" + batch + ", live=" + live);
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

  /** Adds a batch of timers. */
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

  /** Cancels the batch that was picked. */
  void cancelPicked() {
    for (int index = live; index < handles.length; index++) {
      peer.cancel(handles[index]);
    }
  }

  /** Pushes the deadlines of the batch that was picked back, as a heartbeat does. */
  void resetPickedToLater() {
    for (int index = live; index < handles.length; index++) {
      handles[index] = peer.reset(handles[index], task, FAR_NANOS);
    }
  }

  /** Brings the deadlines of the batch that was picked nearer, if it was reset to later ones before. */
  void resetPickedToNearer() {
    for (int index = live; index < handles.length; index++) {
      handles[index] = peer.reset(handles[index], task, delayNanos());
    }
  }

  /** Schedules and cancels, one after the other: the life of a request timeout. */
  void scheduleThenCancelBatch() {
    for (int index = 0; index < batch; index++) {
      peer.cancel(peer.schedule(task, delayNanos()));
    }
  }
}
