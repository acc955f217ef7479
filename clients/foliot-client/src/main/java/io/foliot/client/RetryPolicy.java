package io.foliot.client;

import java.time.Duration;

/**
 * The rule by which the client repeats calls. It does so only where repeating can do no harm (see
 * {@link FoliotClient}).
 *
 * <p>The wait before attempt n + 1 is drawn between half of {@code firstBackoff} times 2 to the (n - 1) and all of it,
 * and never shorter than the server's {@code Retry-After}.
 *
 * @param maxAttempts how often a call is made at most; 1 for no retries
 * @param maxBackoff where the doubling ends
 * @param maxRetryAfter if the server asks for a longer wait, the call fails at once and the caller decides
 */
public record RetryPolicy(int maxAttempts, Duration firstBackoff, Duration maxBackoff, Duration maxRetryAfter) {
  /** Beyond it the doubling would overflow, and any backoff has long reached its maximum. */
  private static final int MAX_DOUBLINGS = 30;

  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be positive: maxAttempts=" + maxAttempts);
    }
    DurationText.requirePositive("firstBackoff", firstBackoff);
    DurationText.requirePositive("maxBackoff", maxBackoff);
    DurationText.requireNotNegative("maxRetryAfter", maxRetryAfter);
  }

  /** Returns a policy of four attempts, backoffs from 100 ms to 5 s, at most 30 s on the server's wish. */
  public static RetryPolicy standard() {
    return new RetryPolicy(4, Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(30));
  }

  /** Returns a policy of one attempt. */
  public static RetryPolicy none() {
    RetryPolicy standard = standard();
    return new RetryPolicy(1, standard.firstBackoff, standard.maxBackoff, standard.maxRetryAfter);
  }

  /**
   * Returns the wait after an attempt.
   *
   * @param attempt counted from 1
   * @param luck from 0 to 1
   */
  Duration backoff(int attempt, double luck) {
    double doubled = (double) firstBackoff.toMillis() * Math.pow(2, Math.min(attempt - 1, MAX_DOUBLINGS));
    double millis = Math.min(doubled, (double) maxBackoff.toMillis());
    return Duration.ofMillis((long) (millis / 2 + millis / 2 * luck));
  }
}
