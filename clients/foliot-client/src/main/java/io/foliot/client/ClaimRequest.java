package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a claim.
 *
 * @param max the largest number of tasks
 * @param pollWait how long the server may wait for the first one; zero for an answer at once
 * @param lease how long each may run before it is anyone's again, unless the lease is extended
 * @param worker a name for people; null for none
 */
public record ClaimRequest(int max, Duration pollWait, Duration lease, @Nullable String worker) {
  public ClaimRequest {
    if (max < 1) {
      throw new IllegalArgumentException("max must be positive: max=" + max);
    }
    DurationText.requireNotNegative("pollWait", pollWait);
    DurationText.requirePositive("lease", lease);
    if (worker != null) {
      Names.requireName("worker", worker);
    }
  }
}
