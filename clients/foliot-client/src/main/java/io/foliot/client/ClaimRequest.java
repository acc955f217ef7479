package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a claim.
 *
 * @param max the largest number of tasks
 * @param pollWait how long the server may wait for the first one; zero for an answer at once
 * @param lease how long each may run before it is anyone's again, unless the lease is extended
 * @param worker the name of the process, which no other process has; null for none
 * @param zone where the process is, at most 64 characters such as {@code fra1}; null for none
 */
public record ClaimRequest(int max, Duration pollWait, Duration lease, @Nullable String worker,
    @Nullable String zone) {
  private static final int MAX_ZONE = 64;

  public ClaimRequest {
    if (max < 1) {
      throw new IllegalArgumentException("max must be positive: max=" + max);
    }
    DurationText.requireNotNegative("pollWait", pollWait);
    DurationText.requirePositive("lease", lease);
    if (worker != null) {
      Names.requireName("worker", worker);
    }
    if (zone != null) {
      requireZone(zone);
    }
  }

  /** Creates a claim of a process that is in no zone. */
  public ClaimRequest(int max, Duration pollWait, Duration lease, @Nullable String worker) {
    this(max, pollWait, lease, worker, null);
  }

  /**
   * Returns the same text, if it can be a zone.
   *
   * @throws IllegalArgumentException if it cannot
   */
  static String requireZone(String zone) {
    if (Names.requireName("zone", zone).length() > MAX_ZONE) {
      throw new IllegalArgumentException(
          "zone has at most " + MAX_ZONE + " characters: characters=" + zone.length());
    }
    return zone;
  }
}
