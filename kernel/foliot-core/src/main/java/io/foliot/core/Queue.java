package io.foliot.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Named settings that tasks share.
 *
 * @param name see {@link Limits#ensureQueueName}
 * @param target where and how to deliver
 * @param retry how failed attempts are repeated
 * @param priority from -10 to 10; each step more takes twice the share of what the node can do at once
 * @param rate attempts begun per second, over the whole cluster; null for no limit
 * @param concurrency attempts running at once, over the whole cluster; null for no limit
 * @param maxWait how far resets may push a task beyond its first due time; null for no limit
 * @param maxRun how long extensions may keep one attempt running
 * @param retainFinished how long finished and cancelled tasks can be looked at
 * @param retainFailed how long failed tasks can be looked at and redriven
 * @param paused whether no new attempts begin
 */
public record Queue(String name, Target target, Retry retry, int priority, @Nullable Double rate,
    @Nullable Integer concurrency, @Nullable Duration maxWait, Duration maxRun, Duration retainFinished,
    Duration retainFailed, boolean paused) {
  /** A day: longer work reports progress by finishing and re-arming. */
  public static final Duration DEFAULT_MAX_RUN = Duration.ofHours(24);

  public Queue {
    Limits.ensureQueueName(name);
    Limits.ensure(priority >= -10 && priority <= 10, "priority is from -10 to 10", priority);
    Limits.ensure(rate == null || (rate >= 0.001 && rate <= 1e9), "rate is from 0.001 to 10^9 a second",
        String.valueOf(rate));
    Limits.ensure(concurrency == null || concurrency >= 1, "concurrency is at least 1", String.valueOf(concurrency));
    if (maxWait != null) {
      Limits.ensureDuration("maxWait", maxWait);
    }
    Limits.ensureDuration("maxRun", maxRun);
    Limits.ensureDuration("retention.finished", retainFinished);
    Limits.ensureDuration("retention.failed", retainFailed);
  }

  /** A queue with defaults for everything but where it delivers to. */
  public static Queue of(String name, Target target) {
    return new Queue(name, target, Retry.DEFAULT, 0, null, null, null, DEFAULT_MAX_RUN, Duration.ofHours(1),
        Duration.ofDays(14), false);
  }

  /** The same queue with other retries. */
  public Queue withRetry(Retry newRetry) {
    return new Queue(name, target, newRetry, priority, rate, concurrency, maxWait, maxRun, retainFinished, retainFailed,
        paused);
  }

  /** The same queue with other limits. */
  public Queue withLimits(@Nullable Double newRate, @Nullable Integer newConcurrency) {
    return new Queue(name, target, retry, priority, newRate, newConcurrency, maxWait, maxRun, retainFinished,
        retainFailed, paused);
  }

  /** The same queue with another priority. */
  public Queue withPriority(int newPriority) {
    return new Queue(name, target, retry, newPriority, rate, concurrency, maxWait, maxRun, retainFinished, retainFailed,
        paused);
  }

  /** The same queue with another bound for resets. */
  public Queue withMaxWait(@Nullable Duration newMaxWait) {
    return new Queue(name, target, retry, priority, rate, concurrency, newMaxWait, maxRun, retainFinished, retainFailed,
        paused);
  }

  /** The same queue with other retention. */
  public Queue withRetention(Duration finished, Duration failed) {
    return new Queue(name, target, retry, priority, rate, concurrency, maxWait, maxRun, finished, failed, paused);
  }

  /** The same queue, paused or not. */
  public Queue withPaused(boolean newPaused) {
    return new Queue(name, target, retry, priority, rate, concurrency, maxWait, maxRun, retainFinished, retainFailed,
        newPaused);
  }
}
