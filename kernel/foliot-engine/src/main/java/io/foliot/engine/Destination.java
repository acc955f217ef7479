package io.foliot.engine;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A destination, and its limit of concurrent attempts. A round lasts for as many successes as the limit. The limit
 * doubles each round until it is halved for the first time. From then on the limit grows by one each round. The limit
 * grows only while at least half of it is in use. The limit is halved when most of the recent answers are failures, or
 * when the destination reports overload; but at most once in a tenth of a second. A destination that fails at a limit
 * of one gets one trial attempt at a time, at growing intervals. The first success sets its limit to two, and the
 * doubling begins again. These trials are the circuit breaker. The algorithm follows TCP's congestion control (Jacobson
 * 1988).
 *
 * <p>When a claim is sent, it takes a place for each of its tasks. A slow store must not leave a quick destination
 * idle. A claim may therefore take as many additional places as attempts ended while the previous claim was with the
 * store. By the time the new claim comes back, about as many attempts have ended and freed their places. Places are
 * taken only up to twice the limit.
 */
final class Destination {
  private static final double START_LIMIT = 16;
  /** Weight of the newest answer in the share of failures. */
  private static final double NEWEST = 0.1;
  /** Threshold of the share of failures: above it, the limit is halved. */
  private static final double MOST = 0.5;
  private static final long HALVE_EVERY_NANOS = 100_000_000;
  private static final long FIRST_TRIAL_NANOS = 100_000_000;
  private static final long LAST_TRIAL_NANOS = 5_000_000_000L;

  private final String name;
  private final int maxLimit;
  private final Budget attempts;
  private final Budget.Share share = new Budget.Share();
  private final Budget.Share memory = new Budget.Share();

  // guarded by this
  private double limit;
  private boolean slowStart = true;
  private int running;
  private double failures;
  private int ahead;
  private long ended;
  private long halvedNanos = Long.MIN_VALUE;
  private boolean onTrial;
  private long trialWaitNanos;
  private long trialNanos;
  private final Set<Runnable> starving = new LinkedHashSet<>();

  /** @param attempts the budget of attempts that all destinations of a delivery share */
  Destination(String name, int maxLimit, Budget attempts) {
    this.name = name;
    this.maxLimit = maxLimit;
    this.attempts = attempts;
    limit = Math.min(START_LIMIT, maxLimit);
  }

  String name() {
    return name;
  }

  /** Returns the destination's share of the memory budget: the payloads of its attempts. */
  Budget.Share memory() {
    return memory;
  }

  /**
   * Takes places, up to the number wanted, and returns their number. If fewer places are taken than wanted, {@code
   * again} is called when another try may succeed.
   */
  synchronized int acquire(int wanted, long nowNanos, Runnable again) {
    int free = (int) limit + ahead - running;
    if (onTrial) {
      free = running == 0 && nowNanos - trialNanos >= 0 ? 1 : 0;
    }
    int most = Math.max(0, Math.min(wanted, free));
    int given = most == 0 ? 0 : attempts.acquire(most, 1, share, null, again);
    if (given == 0 && most > 0 && attempts.acquireReserved(share, null, nowNanos)) {
      given = 1;
    }
    if (given < wanted) {
      starving.add(again);
    }
    running += given;
    return given;
  }

  /** Gives back places of attempts that have ended or did not begin. */
  synchronized void giveBack(int count) {
    running -= count;
    assert running >= 0 : running;
    attempts.change(share, null, -count);
    wakeStarving();
  }

  /** Returns how many attempts have ended by now. */
  synchronized long ended() {
    return ended;
  }

  /** Records that a claim came back; {@code endedWhenSent} is the value of {@link #ended} when that claim was sent. */
  synchronized void claimed(long endedWhenSent) {
    ahead = onTrial ? 0 : (int) Math.min((long) limit, ended - endedWhenSent);
  }

  /** Records that an attempt ended with a success, or with a failure that was the task's fault. */
  synchronized void well() {
    ended++;
    failures *= 1 - NEWEST;
    if (onTrial) {
      onTrial = false;
      trialWaitNanos = 0;
      failures = 0;
      limit = Math.min(2, maxLimit);
      slowStart = true;
    } else if (running * 2 >= (int) limit) {
      limit = Math.min(maxLimit, limit + (slowStart ? 1 : 1 / limit));
    }
    giveBack(1);
  }

  /** Records that an attempt ended with a failure of the destination. */
  synchronized void ill(Health health, long nowNanos) {
    ended++;
    failures += (1 - failures) * NEWEST;
    boolean less = health == Health.OVERLOADED || failures > MOST;
    if (onTrial) {
      startTrial(nowNanos);
    } else if (less && (halvedNanos == Long.MIN_VALUE || nowNanos - halvedNanos >= HALVE_EVERY_NANOS)) {
      halvedNanos = nowNanos;
      slowStart = false;
      if (limit < 2) {
        startTrial(nowNanos);
      }
      limit = Math.max(1, limit / 2);
      ahead = 0;
    }
    giveBack(1);
  }

  private void startTrial(long nowNanos) {
    onTrial = true;
    trialWaitNanos = trialWaitNanos == 0 ? FIRST_TRIAL_NANOS : Math.min(LAST_TRIAL_NANOS, trialWaitNanos * 2);
    trialNanos = nowNanos + trialWaitNanos;
  }

  /** Records that an attempt ended with this answer. */
  void answered(Answer answer, long nowNanos) {
    Health health = switch (answer) {
      case Answer.Retry retry -> retry.health();
      case Answer.NotBegun notBegun -> notBegun.health();
      default -> Health.WELL;
    };
    if (health != Health.WELL) {
      ill(health, nowNanos);
    } else {
      well();
    }
  }

  private void wakeStarving() {
    if (!starving.isEmpty()) {
      starving.forEach(Runnable::run);
      starving.clear();
    }
  }

  /**
   * Returns the time until the next trial attempt may begin. Returns 0 if the trial attempt may begin now, if an
   * attempt runs, or if the destination is not on trial.
   */
  synchronized long trialWaitNanos(long nowNanos) {
    return onTrial && running == 0 ? Math.max(0, trialNanos - nowNanos) : 0;
  }

  /**
   * Returns whether the budget of attempts, which all destinations of the delivery share, has no more room for this
   * destination.
   */
  boolean isOutOfPlaces() {
    return attempts.isFull(share);
  }

  synchronized boolean isOnTrial() {
    return onTrial;
  }

  synchronized int limit() {
    return onTrial ? 1 : (int) limit;
  }

  synchronized int running() {
    return running;
  }
}
