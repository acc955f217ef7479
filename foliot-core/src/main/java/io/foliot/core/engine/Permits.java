package io.foliot.core.engine;

import io.foliot.core.Queue;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A queue's permits on this node, shared by its loops: how many attempts may run at once, and how many may begin per
 * second. The rate is a token bucket with room for a tenth of a second, or for one.
 */
final class Permits {
  private static final double BURST_SECONDS = 0.1;
  private static final double NANOS = 1e9;

  // guarded by this
  private int limit = Integer.MAX_VALUE;
  private int inUse;
  private double ratePerNano = Double.POSITIVE_INFINITY;
  private double room = 1;
  private double tokens = 1;
  private long filledNanos;
  private final Set<Runnable> starving = new LinkedHashSet<>();

  synchronized void configure(Queue queue, long nowNanos) {
    fill(nowNanos);
    limit = queue.concurrency() == null ? Integer.MAX_VALUE : queue.concurrency();
    ratePerNano = queue.rate() == null ? Double.POSITIVE_INFINITY : queue.rate() / NANOS;
    room = queue.rate() == null ? 1 : Math.max(1, queue.rate() * BURST_SECONDS);
    tokens = Math.min(tokens, room);
  }

  private void fill(long nowNanos) {
    if (ratePerNano != Double.POSITIVE_INFINITY) {
      tokens = Math.min(room, tokens + Math.max(0, nowNanos - filledNanos) * ratePerNano);
    }
    filledNanos = nowNanos;
  }

  /**
   * Takes up to so many.
   *
   * @param again called when it may be worth asking again, if fewer were given than wanted for want of permits
   */
  synchronized int acquire(int wanted, long nowNanos, Runnable again) {
    fill(nowNanos);
    int given = Math.min(wanted, limit - inUse);
    if (given < wanted) {
      starving.add(again);
    }
    if (ratePerNano != Double.POSITIVE_INFINITY) {
      given = Math.min(given, (int) tokens);
    }
    given = Math.max(0, given);
    inUse += given;
    if (ratePerNano != Double.POSITIVE_INFINITY) {
      tokens -= given;
    }
    return given;
  }

  /** Gives permits back whose attempts have ended. */
  synchronized void release(int count) {
    inUse -= count;
    assert inUse >= 0 : inUse;
    if (!starving.isEmpty()) {
      starving.forEach(Runnable::run);
      starving.clear();
    }
  }

  /** Gives permits back that were not used: no attempt began. */
  synchronized void giveBack(int count) {
    if (ratePerNano != Double.POSITIVE_INFINITY) {
      tokens = Math.min(room, tokens + count);
    }
    release(count);
  }

  /** How long until the rate allows another attempt; 0 if it does already. */
  synchronized long rateWaitNanos(long nowNanos) {
    fill(nowNanos);
    return ratePerNano == Double.POSITIVE_INFINITY || tokens >= 1 ? 0 : (long) Math.ceil((1 - tokens) / ratePerNano);
  }

  synchronized int inUse() {
    return inUse;
  }

  synchronized boolean isFull() {
    return inUse >= limit;
  }

  synchronized boolean isStarvedByRate() {
    return ratePerNano != Double.POSITIVE_INFINITY && tokens < 1;
  }
}
