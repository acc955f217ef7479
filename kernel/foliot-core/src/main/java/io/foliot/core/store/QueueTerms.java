package io.foliot.core.store;

import io.foliot.api.QueueConfig;

/**
 * The settings of a queue that a store applies.
 *
 * @param maxAttempts the number of attempts of a generation, unless the task sets another number
 * @param maxWaitMillis how far resets may push the due time beyond the first due time; {@link Long#MAX_VALUE} for no
 *     limit
 * @param maxRunMillis how long extensions may keep an attempt running, counted from the claim
 * @param retainFinishedMillis how long finished and cancelled tasks are kept
 * @param retainFailedMillis how long failed tasks are kept
 */
public record QueueTerms(int maxAttempts, long maxWaitMillis, long maxRunMillis, long retainFinishedMillis,
    long retainFailedMillis) {
  /** Terms of a queue with default settings. */
  public static final QueueTerms DEFAULT = of(QueueConfig.of("default", io.foliot.api.Target.pull()));

  /** Returns the terms of a queue. */
  public static QueueTerms of(QueueConfig queue) {
    return new QueueTerms(queue.retry().maxAttempts(),
        queue.maxWait() == null ? Long.MAX_VALUE : queue.maxWait().toMillis(), queue.maxRun().toMillis(),
        queue.retention().finished().toMillis(), queue.retention().failed().toMillis());
  }
}
