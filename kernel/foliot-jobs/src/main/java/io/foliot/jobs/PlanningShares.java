package io.foliot.jobs;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Divides the planning of this process among the queues for which it is done. Once passes begin late, each pass,
 * and each new job, is charged to its queue: the next pass of that job is due only when the queue's share permits it.
 * Thread-safe.
 *
 * <p>A queue has a time up to which it has used its share. Each pass moves this time by the length of a pass: a second,
 * divided by the passes that a queue may have in a second. A queue with more passes than its share therefore spreads
 * them, and the scheduled times of its jobs are merged or missed by their misfire policies. A queue with few passes
 * never reaches its share, and is not delayed.
 *
 * <p>The share follows from the passes that the process made in the latest second in which it could not make more,
 * because passes were late until its end. If several queues had passes, they share half of this number, so that the
 * late passes come to an end: max-min fairness, so queues with few passes leave the rest to the others. Seconds that
 * end without late passes are no measure: after a burst, the process had nothing to do. Nor is a longer time, in which
 * the process had no pass or was suspended. In each second without a measure the share grows: by a twentieth, or by a
 * thousandth while a queue's passes are delayed. Delays reach minutes ahead, so a faster growth would show its effect
 * only after the share has become far too large. The share is never below {@link #FEWEST_PER_SECOND}: passes that are
 * late although few are made wait for something else, such as the poll that takes over the slots of another node, and
 * must not be delayed further.
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
  /** Smallest share, in passes a second. */
  static final int FEWEST_PER_SECOND = 50;
  private static final long SECOND_MILLIS = 1_000;
  /** A time of at most this length, up to the first pass after a second, is a measure. */
  private static final long LONGEST_MILLIS = 2 * SECOND_MILLIS;
  /** Passes were late until the end of a second if one was late in this last part of it. */
  private static final long END_MILLIS = SECOND_MILLIS / 4;
  /**
   * Passes are recorded after reads, so not in the order of their claims, but this long after a later claim at most. A
   * claim that was earlier still shows that the store's clock was set back.
   */
  private static final long ORDER_MILLIS = 10_000;
  /** For this time after its last pass, a queue has a share. */
  private static final long KEPT_MILLIS = 30_000;
  private static final double GROWTH = 1.05;
  private static final double GROWTH_WHILE_DELAYED = 1.001;
  /** Share above which nothing is charged: more passes than a process can make. */
  private static final double UNLIMITED = 1_000_000;

  /** The time up to which a queue has used its share, the time of its latest pass, and its passes of this second. */
  private static final class Share {
    double usedUpTo;
    long seen;
    long passes;
  }

  // guarded by this
  private final Map<String, Share> queues = new HashMap<>();
  private double sharePerSecond = UNLIMITED;
  private long secondBegan = Long.MIN_VALUE;
  private long lastLate = Long.MIN_VALUE;

  /**
   * Records a pass, and returns when the next pass of its job may be due.
   *
   * @param queue the queue of the job
   * @param due when the pass was due, in milliseconds since 1970
   * @param now when the pass was claimed
   * @param next when the next pass is due
   */
  synchronized long nextPass(String queue, long due, long now, long next) {
    endSecond(now);
    share(queue).passes++;
    if (now - due > LATE_MILLIS) {
      lastLate = Math.max(lastLate, now);
    }
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

  private Share share(String queue) {
    return queues.computeIfAbsent(queue, name -> new Share());
  }

  private long charged(String queue, long now, long next) {
    Share share = share(queue);
    share.seen = now;
    if (sharePerSecond >= UNLIMITED) {
      share.usedUpTo = now;
      return next;
    }
    double length = SECOND_MILLIS / sharePerSecond;
    share.usedUpTo = Math.min(Math.max(share.usedUpTo, (double) now) + length, (double) (now + MAX_DELAY_MILLIS));
    return share.usedUpTo - now <= BURST_MILLIS ? next : Math.max(next, (long) share.usedUpTo);
  }

  /** If a second has passed, sets the share of the next one, and forgets queues that had no pass for a while. */
  private void endSecond(long now) {
    if (secondBegan == Long.MIN_VALUE || now < secondBegan - ORDER_MILLIS) {
      // The first pass, or the store's clock was set back: what was used by the old time means nothing.
      queues.clear();
      lastLate = Long.MIN_VALUE;
      secondBegan = now;
      return;
    }
    long elapsed = now - secondBegan;
    if (elapsed < SECOND_MILLIS) {
      return;
    }
    if (elapsed <= LONGEST_MILLIS && lastLate >= now - END_MILLIS) {
      sharePerSecond = Math.max(FEWEST_PER_SECOND, SECOND_MILLIS * fairShare() / elapsed);
    } else {
      boolean delays = queues.values().stream().anyMatch(share -> share.usedUpTo - now > BURST_MILLIS);
      double growth = Math.pow(delays ? GROWTH_WHILE_DELAYED : GROWTH, (double) elapsed / SECOND_MILLIS);
      sharePerSecond = Math.min(UNLIMITED, sharePerSecond * growth);
    }
    secondBegan = now;
    queues.values().forEach(share -> share.passes = 0);
    queues.values().removeIf(share -> now - share.seen > KEPT_MILLIS && share.usedUpTo <= now);
  }

  /**
   * Returns the share of a queue in the passes of this second, of which several queues share half: the number at which
   * queues with more passes leave room for those of all others.
   */
  private double fairShare() {
    long[] passes = queues.values().stream().mapToLong(share -> share.passes).sorted().toArray();
    double rest = Arrays.stream(passes).sum() / (passes.length == 1 ? 1.0 : 2.0);
    for (int i = 0; i < passes.length - 1; i++) {
      double share = rest / (passes.length - i);
      if (passes[i] > share) {
        return share;
      }
      rest -= passes[i];
    }
    return rest;
  }
}
