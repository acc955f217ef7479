package io.foliot.engine;

import io.foliot.api.QueueConfig;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A queue's permits on this node, shared by the node's loops: how many attempts may run concurrently, and how many may
 * begin per second. The rate is a token bucket with room for the attempts of a tenth of a second, and for at least one.
 *
 * <p>If other nodes may serve the queue too, the limits belong to the cluster. This object then has only the part that
 * {@link ClusterPermits} has granted, which is none at first.
 */
final class Permits {
  private static final double BURST_SECONDS = 0.1;
  private static final double NANOS = 1e9;
  /** Time that the tasks of one call of {@link #isFull(int, long, Runnable)} are assumed to wait for a permit. */
  private static final long UNMET_NANOS = 500_000_000;
  private static final long NEVER_NANOS = Long.MAX_VALUE / 4;

  // guarded by this
  private int limit = Integer.MAX_VALUE;
  private int inUse;
  private double ratePerNano = Double.POSITIVE_INFINITY;
  private double room = 1;
  private double tokens = 1;
  private long filledNanos;
  private final Set<Runnable> starving = new LinkedHashSet<>();

  private boolean isShared;
  private int granted;
  private double grantedRate;
  private long untilNanos;
  private long untilMillis;
  private int unmet;
  private long unmetNanos;

  private final Runnable requestPermits;

  /** @param requestPermits called when a task waits for a permit of the cluster */
  Permits(Runnable requestPermits) {
    this.requestPermits = requestPermits;
  }

  /** Applies the settings of the queue; its limits hold for the cluster if {@code shared}, else for this node. */
  synchronized void configure(QueueConfig queue, boolean shared, long nowNanos) {
    fill(nowNanos);
    limit = queue.concurrency() == null ? Integer.MAX_VALUE : queue.concurrency();
    ratePerNano = queue.rate() == null ? Double.POSITIVE_INFINITY : queue.rate() / NANOS;
    room = queue.rate() == null ? 1 : Math.max(1, queue.rate() * BURST_SECONDS);
    tokens = Math.min(tokens, room);
    boolean limited = queue.concurrency() != null || queue.rate() != null;
    if (shared && limited && !isShared) {
      tokens = 0;
      untilNanos = nowNanos;
    }
    isShared = shared && limited;
  }

  private boolean hasRate() {
    return ratePerNano != Double.POSITIVE_INFINITY;
  }

  private double room() {
    return isShared ? Math.max(1, room * grantedRate) : room;
  }

  private double ratePerNano() {
    return isShared ? ratePerNano * grantedRate : ratePerNano;
  }

  private int limit(long nowNanos) {
    if (!isShared) {
      return limit;
    }
    if (nowNanos - untilNanos >= 0) {
      return 0;
    }
    return limit == Integer.MAX_VALUE ? limit : Math.min(limit, granted);
  }

  /**
   * Adds the tokens for the time since the latest call. Several loops pass their times, so a time may be earlier than
   * the one before.
   */
  private void fill(long nowNanos) {
    long passedNanos = nowNanos - filledNanos;
    if (hasRate() && passedNanos <= 0) {
      return;
    }
    if (hasRate()) {
      tokens = Math.min(room(), tokens + passedNanos * ratePerNano());
    }
    filledNanos = nowNanos;
  }

  /**
   * Takes permits, up to the number wanted.
   *
   * @param again called once when another try may succeed, if too few permits were free; not called if only the rate
   *     was too low
   * @return the number of permits taken
   */
  synchronized int acquire(int wanted, long nowNanos, Runnable again) {
    fill(nowNanos);
    int given = Math.min(wanted, limit(nowNanos) - inUse);
    if (given < wanted) {
      starving.add(again);
    }
    if (hasRate()) {
      given = Math.min(given, (int) tokens);
    }
    given = Math.max(0, given);
    inUse += given;
    if (hasRate()) {
      tokens -= given;
    }
    return given;
  }

  /**
   * Returns when the taken permits end, in milliseconds since 1970 by the store's clock, or {@link Long#MAX_VALUE} if
   * they do not end. A claim under these permits does not win after their end. Callers must take the permits before
   * they call this method.
   */
  synchronized long untilMillis() {
    return isShared ? untilMillis : Long.MAX_VALUE;
  }

  /** Gives back permits whose attempts have ended. */
  synchronized void release(int count) {
    inUse -= count;
    assert inUse >= 0 : inUse;
    wakeStarving();
  }

  private void wakeStarving() {
    if (!starving.isEmpty()) {
      starving.forEach(Runnable::run);
      starving.clear();
    }
  }

  /** Gives back permits that were not used: no attempt began. */
  synchronized void giveBack(int count) {
    giveBackUnused(count);
    wakeStarving();
  }

  /**
   * Gives back permits as {@link #giveBack} does, but wakes no loop. A woken loop could take the same permits again at
   * once, in vain.
   */
  synchronized void giveBackUnused(int count) {
    if (hasRate()) {
      tokens = Math.min(room(), tokens + count);
    }
    inUse -= count;
    assert inUse >= 0 : inUse;
  }

  /**
   * Returns the nanoseconds until the rate allows the next attempt. Returns 0 if the rate allows an attempt now, and
   * the nanoseconds of many years if this node has no part of the rate.
   */
  synchronized long rateWaitNanos(long nowNanos) {
    fill(nowNanos);
    if (!hasRate() || tokens >= 1) {
      return 0;
    }
    return ratePerNano() == 0 ? NEVER_NANOS : (long) Math.ceil((1 - tokens) / ratePerNano());
  }

  /**
   * Returns whether no permit is free, and records how many tasks wait. Requests permits if the cluster has granted too
   * few.
   *
   * @param waiting how many tasks wait for a permit
   * @param again called when a permit may be free again, if none is now
   */
  synchronized boolean isFull(int waiting, long nowNanos, Runnable again) {
    int free = limit(nowNanos) - inUse;
    if (isShared) {
      // Each loop passes the number of tasks that wait in its own lane. The largest of the recent numbers is used.
      unmet = nowNanos - unmetNanos >= UNMET_NANOS / 2 ? waiting : Math.max(unmet, waiting);
      unmetNanos = nowNanos;
      if (free <= 0 || (hasRate() && grantedRate == 0)) {
        requestPermits.run();
      }
    }
    if (free <= 0) {
      starving.add(again);
    }
    return free <= 0;
  }

  synchronized boolean isFull(long nowNanos) {
    return inUse >= limit(nowNanos);
  }

  /** Returns the queue's limit, or {@link Integer#MAX_VALUE} if it has none. */
  synchronized int limit() {
    return limit;
  }

  /** Returns how many of the queue's permits this node has. */
  synchronized int granted() {
    return isShared ? granted : limit;
  }

  synchronized int inUse() {
    return inUse;
  }

  synchronized boolean isStarvedByRate() {
    return hasRate() && tokens < 1;
  }

  // Called by ClusterPermits.

  /** Returns how many attempts this node would run concurrently if there were permits for all. */
  synchronized int wants(long nowNanos) {
    return inUse + (nowNanos - unmetNanos < UNMET_NANOS ? unmet : 0);
  }

  /**
   * Sets the permits that the node may use from now on.
   *
   * @param rate the node's share of the queue's rate, from 0 to 1
   * @param newUntilMillis when the permits end, in milliseconds since 1970 by the store's clock
   * @param newUntilNanos the same instant by this node's monotonic clock
   */
  synchronized void grant(int permits, double rate, long newUntilMillis, long newUntilNanos, long nowNanos) {
    fill(nowNanos);
    granted = permits;
    grantedRate = rate;
    untilMillis = newUntilMillis;
    untilNanos = newUntilNanos;
    wakeStarving();
  }

  /**
   * Handles a claim that the store has refused because its permits had ended. This shows that this node's estimate of
   * the store's clock is wrong, perhaps after a pause. So this node has no permits until more are granted.
   *
   * @param claimUntilMillis the end of the permits, as the claim carried it
   */
  synchronized void over(long claimUntilMillis, long nowNanos) {
    if (untilMillis == claimUntilMillis && nowNanos - untilNanos < 0) {
      untilNanos = nowNanos;
    }
  }

  /**
   * Limits the permits and the rate to the given values from now on.
   *
   * @return how many permits are in use; they remain taken until their attempts end
   */
  synchronized int lower(int permits, double rate, long nowNanos) {
    fill(nowNanos);
    granted = Math.min(granted, permits);
    grantedRate = Math.min(grantedRate, rate);
    return inUse;
  }

  /** Gives up all permits, unless some are in use. Returns whether they were given up. */
  synchronized boolean giveUp() {
    if (inUse > 0) {
      return false;
    }
    granted = 0;
    grantedRate = 0;
    return true;
  }
}
