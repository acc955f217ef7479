package io.foliot.core;

import java.time.Duration;

/**
 * The rule by which failed attempts are repeated: after {@code backoff * multiplier^(attempt - 1)}, at most
 * {@code maxBackoff}, changed by a random part of up to {@code jitter} of it in either direction.
 *
 * @param maxAttempts attempts a generation gets in all, at least 1
 * @param backoff the wait after the first failed attempt
 * @param multiplier at least 1
 * @param maxBackoff the longest wait
 * @param jitter from 0 to 1
 */
public record Retry(int maxAttempts, Duration backoff, double multiplier, Duration maxBackoff, double jitter) {
  /** The most attempts a queue or a task may ask for. */
  public static final int MAX_ATTEMPTS = 10_000;

  /** Five attempts, one second doubling up to ten minutes, a fifth of jitter. */
  public static final Retry DEFAULT = new Retry(5, Duration.ofSeconds(1), 2, Duration.ofMinutes(10), 0.2);

  public Retry {
    Limits.ensure(maxAttempts >= 1 && maxAttempts <= MAX_ATTEMPTS, "retry.maxAttempts is from 1 to 10000", maxAttempts);
    Limits.ensureDuration("retry.backoff", backoff);
    Limits.ensure(multiplier >= 1 && multiplier <= 100, "retry.multiplier is from 1 to 100", multiplier);
    Limits.ensureDuration("retry.maxBackoff", maxBackoff);
    Limits.ensure(jitter >= 0 && jitter <= 1, "retry.jitter is from 0 to 1", jitter);
  }

  /**
   * Returns the wait after a failed attempt.
   *
   * @param attempt the number of the attempt that failed, from 1
   * @param luck a random number from 0 (inclusive) to 1 (exclusive)
   * @return milliseconds, not negative
   */
  public long backoffMillis(int attempt, double luck) {
    double plain = Math.min((double) backoff.toMillis() * Math.pow(multiplier, attempt - 1),
        (double) maxBackoff.toMillis());
    return Math.max(0, Math.round(plain * (1 + jitter * (2 * luck - 1))));
  }

  /**
   * Returns the wait after a failed attempt whose receiver asked for a wait itself: never shorter than the receiver
   * asked for, and never shorter than the queue's own backoff, so that a receiver cannot use up its retries at once.
   * The jitter is added to it, as the part of the requested wait that {@code maxBackoff} covers: many tasks that were
   * given the same second spread out, and a wait of a day does not grow by hours.
   *
   * @param attempt the number of the attempt that failed, from 1
   * @param askedMillis the wait that the receiver asked for, not negative
   * @param luck a random number from 0 (inclusive) to 1 (exclusive)
   * @return milliseconds, not negative
   */
  public long backoffMillis(int attempt, long askedMillis, double luck) {
    double spread = jitter * luck * Math.min(askedMillis, maxBackoff.toMillis());
    return Math.max(backoffMillis(attempt, luck), askedMillis + Math.round(spread));
  }
}
