package io.foliot.engine;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import java.time.Duration;

/**
 * The lengths of the leases of attempts that this node makes itself.
 *
 * <ul>
 * <li>A lease outlasts the timeout of the attempt by a margin: the time to claim, begin and settle. {@link Attempts}
 * does not renew such a lease.
 * <li>If the timeout is longer than a renewed lease, the claim gets a lease of that length, and {@link Attempts} renews
 * the lease while the delivery runs. After a crash the task then comes back before its timeout is over.
 * <li>An internal queue has a margin of its own. Its tasks are small and repeatable, and callers wait for them.
 * </ul>
 *
 * @param marginMillis by how much a lease outlasts the timeout
 * @param renewedMillis the length of a lease that is renewed
 */
record LeaseLengths(long marginMillis, long renewedMillis) {
  private static final long INTERNAL_MARGIN_MILLIS = Duration.ofSeconds(3).toMillis();

  /** Returns the lengths that the options set. */
  static LeaseLengths of(EngineOptions options) {
    return new LeaseLengths(options.leaseMarginMillis(), options.renewedLeaseMillis());
  }

  /** Returns the length of the lease of a claim. The lease is renewed if it is not longer than the timeout. */
  long claimMillis(QueueConfig queue) {
    return queue.target().timeout().toMillis() > renewedMillis ? renewedMillis : fullMillis(queue);
  }

  /** Returns the length of a lease that outlasts the timeout. */
  long fullMillis(QueueConfig queue) {
    return queue.target().timeout().toMillis()
        + (queue.name().startsWith(Limits.INTERNAL_QUEUES) ? INTERNAL_MARGIN_MILLIS : marginMillis);
  }
}
