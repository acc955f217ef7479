package io.foliot.client;

import java.time.Duration;

/**
 * The policy by which the client repeats calls. The client repeats only calls that are safe to repeat, see
 * {@link FoliotClient}.
 *
 * <p>The backoff after attempt n is {@code firstBackoff} times 2 to the power of (n - 1), at most {@code maxBackoff}.
 * The wait before the next attempt is a random time between half of the backoff and the full backoff, but not shorter
 * than the server's {@code Retry-After}.
 *
 * @param maxAttempts the largest number of attempts of a call; 1 for no retries
 * @param firstBackoff the backoff after the first attempt
 * @param maxBackoff the longest backoff
 * @param maxRetryAfter the longest {@code Retry-After} that the client obeys; if the server requires a longer wait, the
 *     call fails at once
 */
public record RetryPolicy(int maxAttempts, Duration firstBackoff, Duration maxBackoff, Duration maxRetryAfter) {
  /** Maximum number of doublings of the backoff, which bounds the power of 2. */
  private static final int MAX_DOUBLINGS = 30;

  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be positive: maxAttempts=" + maxAttempts);
    }
    Durations.requirePositive("firstBackoff", firstBackoff);
    Durations.requirePositive("maxBackoff", maxBackoff);
    Durations.requireNotNegative("maxRetryAfter", maxRetryAfter);
  }

  /**
   * Returns a policy of four attempts, with backoffs of 100, 200 and 400 ms. The longest {@code Retry-After} is 30 s,
   * and {@code maxBackoff} is 5 s.
   */
  public static RetryPolicy standard() {
    return new RetryPolicy(4, Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(30));
  }

  /** Returns a policy of one attempt. */
  public static RetryPolicy none() {
    RetryPolicy standard = standard();
    return new RetryPolicy(1, standard.firstBackoff, standard.maxBackoff, standard.maxRetryAfter);
  }

  /**
   * Returns the wait after an attempt, without {@code Retry-After}.
   *
   * @param attempt the number of the attempt, from 1
   * @param random a random number from 0 to 1
   */
  Duration backoff(int attempt, double random) {
    double doubled = (double) firstBackoff.toMillis() * Math.pow(2, Math.min(attempt - 1, MAX_DOUBLINGS));
    double millis = Math.min(doubled, (double) maxBackoff.toMillis());
    return Duration.ofMillis((long) (millis / 2 + millis / 2 * random));
  }
}
