package io.foliot.core;

import java.time.Duration;

/**
 * The rule by which failed attempts are repeated. The wait is {@code backoff * multiplier^(attempt - 1)}, but at most
 * {@code maxBackoff}. It is then lengthened or shortened by a random part of up to {@code jitter} of itself.
 *
 * @param maxAttempts attempts a generation gets in all, at least 1
 * @param backoff the wait after the first failed attempt
 * @param multiplier the growth of the wait with each further attempt, from 1 to 100
 * @param maxBackoff the longest wait before jitter
 * @param jitter the largest random part of the wait, from 0 to 1
 */
public record Retry(int maxAttempts, Duration backoff, double multiplier, Duration maxBackoff, double jitter) {
  /** The most attempts a queue or a task may ask for. */
  public static final int MAX_ATTEMPTS = 10_000;

  /** Five attempts; the wait begins at one second and doubles up to ten minutes, with a jitter of a fifth. */
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
   * Returns the wait after a failed attempt whose receiver requested a wait. The result is never shorter than the
   * requested wait, and never shorter than the queue's own backoff, so that a receiver cannot use up the attempts at
   * once. Jitter only lengthens the requested wait, and counts at most {@code maxBackoff} of it. So tasks that got the
   * same wait spread out, and a wait of a day does not grow by hours.
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
