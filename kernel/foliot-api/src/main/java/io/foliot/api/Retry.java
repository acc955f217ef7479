package io.foliot.api;

import java.time.Duration;

/**
 * The rule for repeating failed attempts. The wait is {@code backoff * multiplier^(attempt - 1)}, but at most {@code
 * maxBackoff}. Jitter then lengthens or shortens the wait by a random fraction of at most {@code jitter}.
 *
 * @param maxAttempts the number of attempts of one generation, from 1 to {@value #MAX_ATTEMPTS}
 * @param backoff the wait after the first failed attempt
 * @param multiplier the growth of the wait with each further attempt, from 1 to 100
 * @param maxBackoff the longest wait before jitter
 * @param jitter the largest random part of the wait, as a fraction from 0 to 1
 */
public record Retry(int maxAttempts, Duration backoff, double multiplier, Duration maxBackoff, double jitter) {
  /** Maximum number of attempts of one generation that a queue or a task may set. */
  public static final int MAX_ATTEMPTS = 10_000;

  static final FieldType.Whole ATTEMPTS = new FieldType.Whole(1, MAX_ATTEMPTS);
  static final FieldType.Decimal MULTIPLIER = new FieldType.Decimal(1, 100);
  static final FieldType.Decimal JITTER = new FieldType.Decimal(0, 1);
  /** Default rule: five attempts; the wait begins at one second and doubles up to ten minutes, with a jitter of 0.2. */
  public static final Retry DEFAULT = new Retry(5, Duration.ofSeconds(1), 2, Duration.ofMinutes(10), 0.2);

  /** @throws InvalidSettingException if a value is out of its bounds */
  public Retry {
    ATTEMPTS.checked("retry.maxAttempts", maxAttempts);
    FieldType.Span.DELAY.checked("retry.backoff", backoff);
    MULTIPLIER.checked("retry.multiplier", multiplier);
    FieldType.Span.DELAY.checked("retry.maxBackoff", maxBackoff);
    JITTER.checked("retry.jitter", jitter);
  }

  /**
   * Returns the wait after a failed attempt.
   *
   * @param attempt the number of the attempt that failed, from 1
   * @param random a random number from 0 (inclusive) to 1 (exclusive)
   * @return milliseconds, not negative
   */
  public long backoffMillis(int attempt, double random) {
    double plain = Math.min((double) backoff.toMillis() * Math.pow(multiplier, attempt - 1),
        (double) maxBackoff.toMillis());
    return Math.max(0, Math.round(plain * (1 + jitter * (2 * random - 1))));
  }

  /**
   * Returns the wait after a failed attempt whose receiver requested a wait. The result is never shorter than the
   * requested wait. It is also never shorter than the backoff of this rule, so a receiver cannot use up the attempts at
   * once. Jitter lengthens the requested wait by at most {@code jitter * maxBackoff}, so that tasks with the same
   * requested wait do not all become due together. Under {@link #DEFAULT}, a requested wait of a day grows by at most
   * two minutes.
   *
   * @param attempt the number of the attempt that failed, from 1
   * @param requestedMillis the wait that the receiver requested, not negative
   * @param random a random number from 0 (inclusive) to 1 (exclusive)
   * @return milliseconds, not negative
   */
  public long backoffMillis(int attempt, long requestedMillis, double random) {
    double spread = jitter * random * Math.min(requestedMillis, maxBackoff.toMillis());
    return Math.max(backoffMillis(attempt, random), requestedMillis + Math.round(spread));
  }
}
