package io.foliot.jobs;

import java.util.HashMap;
import java.util.Map;

/**
 * Divides the planning of this process among the queues for which it is done. Once passes begin late, each pass,
 * and each new job, is charged to its queue: the next pass of that job is due only when the queue's share permits it.
 * Thread-safe.
 *
 * <p>A queue has a time up to which it has used its share. Each pass moves this time by the cost of a pass: the number
 * of queues, divided by the passes that the process can make in a second. A queue with more passes than its share
 * therefore spreads them, and the scheduled times of its jobs are merged or missed by their misfire policies. A queue
 * with few passes never reaches its share, and is not delayed.
 *
 * <p>The number of passes that the process can make is measured in each second in which passes are late. In each other
 * second the estimate grows: by a twentieth, or by a thousandth while a queue's passes are delayed. Delays reach
 * minutes ahead, so a faster growth would show its effect only after the estimate has become far too large. The
 * estimate is never below {@link #FEWEST_PER_SECOND}: passes that are late although few are made wait for something
 * else, such as the poll that takes over the slots of another node, and must not be delayed further.
 *
 * <p>The time of a job's next pass is all that is changed, so no other part has to know of shares. A line of passes for
 * each queue was rejected: the passes wait in the store, which would have to keep them apart.
 */
final class PlanningShares {
  /** A pass that begins later than this shows that the process has more passes than it can make. */
  static final long LATE_MILLIS = 1_000;
  /** Longest delay of a pass. */
  static final long MAX_DELAY_MILLIS = 600_000;
  /** A queue may have used its share up to this time ahead before its passes are delayed. */
  static final long BURST_MILLIS = 1_000;
  /** Smallest estimate of the passes that the process can make in a second. */
  static final int FEWEST_PER_SECOND = 50;
  private static final long SECOND_MILLIS = 1_000;
  /** For this time after its last pass, a queue has a share. */
  private static final long KEPT_MILLIS = 30_000;
  private static final double GROWTH = 1.05;
  private static final double GROWTH_WHILE_DELAYED = 1.001;
  /** Estimate above which nothing is charged: more than a process can make. */
  private static final double UNLIMITED = 1_000_000;

  /** The time up to which a queue has used its share, and the time of its latest pass. */
  private static final class Share {
    double usedUpTo;
    long seen;
  }

  // guarded by this
  private final Map<String, Share> queues = new HashMap<>();
  private double passesPerSecond = UNLIMITED;
  private long secondBegan = Long.MIN_VALUE;
  private long passes;
  private boolean isLate;

  /**
   * Records a pass, and returns when the next pass of its job may be due.
   *
   * @param queue the queue of the job
   * @param due when the pass was due, in milliseconds since 1970
   * @param now when the pass was claimed
   * @param next when the next pass is due
   */
  synchronized long nextPass(String queue, long due, long now, long next) {
    count(now - due > LATE_MILLIS, now);
    return charged(queue, now, next);
  }

  /**
   * Returns when the first pass of a new job may be due.
   *
   * @param queue the queue of the job
   * @param now the store's time, in milliseconds since 1970
   * @param first when the first pass is due
   */
  synchronized long firstPass(String queue, long now, long first) {
    return charged(queue, now, first);
  }

  private long charged(String queue, long now, long next) {
    Share share = queues.computeIfAbsent(queue, name -> new Share());
    share.seen = now;
    if (passesPerSecond >= UNLIMITED) {
      share.usedUpTo = now;
      return next;
    }
    double cost = SECOND_MILLIS * queues.size() / passesPerSecond;
    share.usedUpTo = Math.min(Math.max(share.usedUpTo, (double) now) + cost, (double) (now + MAX_DELAY_MILLIS));
    return share.usedUpTo - now <= BURST_MILLIS ? next : Math.max(next, (long) share.usedUpTo);
  }

  /**
   * Counts the passes of a second. At its end, estimates the limit, and forgets queues that had no pass for a while.
   */
  private void count(boolean late, long now) {
    if (secondBegan == Long.MIN_VALUE || now < secondBegan) {
      // The first pass, or the store's clock was set back: what was used by the old time means nothing.
      queues.clear();
      secondBegan = now;
      passes = 0;
    } else if (now - secondBegan >= SECOND_MILLIS) {
      double measured = (double) SECOND_MILLIS * passes / (now - secondBegan);
      boolean delays = queues.values().stream().anyMatch(share -> share.usedUpTo - now > BURST_MILLIS);
      passesPerSecond = isLate
          ? Math.max(FEWEST_PER_SECOND, measured)
          : Math.min(UNLIMITED, passesPerSecond * (delays ? GROWTH_WHILE_DELAYED : GROWTH));
      passes = 0;
      isLate = false;
      secondBegan = now;
      queues.values().removeIf(share -> now - share.seen > KEPT_MILLIS && share.usedUpTo <= now);
    }
    passes++;
    isLate |= late;
  }
}
