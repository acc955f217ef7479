package io.foliot.api;

import java.time.Duration;

/** The fields of the rule for repeating failed attempts. */
public final class RetryFields {
  /** The number of attempts of one generation. */
  public static final Field<Integer> MAX_ATTEMPTS = Field.of("maxAttempts",
      Retry.ATTEMPTS, Retry.DEFAULT.maxAttempts(),
      "attempts until a task is a dead letter");
  /** The wait after the first failed attempt. */
  public static final Field<Duration> BACKOFF = Field.of("backoff", FieldType.Span.DELAY, Retry.DEFAULT.backoff(),
      "wait after the first failure");
  /** The growth of the wait. */
  public static final Field<Double> MULTIPLIER = Field.of("multiplier", Retry.MULTIPLIER,
      Retry.DEFAULT.multiplier(), "factor by which the wait grows with each failure");
  /** The longest wait before jitter. */
  public static final Field<Duration> MAX_BACKOFF = Field.of("maxBackoff", FieldType.Span.DELAY,
      Retry.DEFAULT.maxBackoff(), "the longest wait, before the jitter");
  /** The largest random part of the wait. */
  public static final Field<Double> JITTER = Field.of("jitter", Retry.JITTER, Retry.DEFAULT.jitter(),
      "random share of the wait, from 0 to 1");

  /** The table. */
  public static final Fields TABLE = Fields.of("retry", MAX_ATTEMPTS, BACKOFF, MULTIPLIER, MAX_BACKOFF, JITTER);

  private RetryFields() {}

  static Retry retry(Values values) {
    return new Retry(values.require(MAX_ATTEMPTS), values.require(BACKOFF), values.require(MULTIPLIER),
        values.require(MAX_BACKOFF), values.require(JITTER));
  }

  static Values values(Retry retry) {
    return Values.of(TABLE).with(MAX_ATTEMPTS, retry.maxAttempts()).with(BACKOFF, retry.backoff())
        .with(MULTIPLIER, retry.multiplier()).with(MAX_BACKOFF, retry.maxBackoff()).with(JITTER, retry.jitter());
  }
}
