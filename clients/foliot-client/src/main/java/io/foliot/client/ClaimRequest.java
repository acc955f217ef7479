package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a claim.
 *
 * @param max the largest number of tasks
 * @param pollWait how long the server may wait for the first task; zero to return at once
 * @param lease the duration of the lease. After this time, a claimed task can be claimed again, unless the attempt was
 *     settled or the lease was extended
 * @param worker the name of the worker, which must be unique among processes; null for none
 * @param zone the zone of the process, such as {@code fra1}, at most 64 characters; null for none
 */
public record ClaimRequest(int max, Duration pollWait, Duration lease, @Nullable String worker,
    @Nullable String zone) {
  /** Maximum number of characters of a zone that the server accepts. */
  private static final int MAX_ZONE = 64;

  public ClaimRequest {
    if (max < 1) {
      throw new IllegalArgumentException("max must be positive: max=" + max);
    }
    Durations.requireNotNegative("pollWait", pollWait);
    Durations.requirePositive("lease", lease);
    if (worker != null) {
      Names.requireName("worker", worker);
    }
    if (zone != null) {
      requireZone(zone);
    }
  }

  /** Creates a claim without a zone. */
  public ClaimRequest(int max, Duration pollWait, Duration lease, @Nullable String worker) {
    this(max, pollWait, lease, worker, null);
  }

  /**
   * Returns the given zone if it is valid.
   *
   * @throws IllegalArgumentException if the zone is empty, too long, or not well-formed Unicode
   */
  static String requireZone(String zone) {
    if (Names.requireName("zone", zone).length() > MAX_ZONE) {
      throw new IllegalArgumentException(
          "zone: expected at most " + MAX_ZONE + " characters, but got " + zone.length());
    }
    return zone;
  }
}
