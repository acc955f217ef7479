package io.foliot.api;

import java.time.Duration;

/** The fields of the settings of a queue, with the rules of each one. */
public final class QueueFields {
  private static final int MOST = 100_000_000;

  /** Where and how tasks are delivered. */
  public static final Field<Target> DELIVERY = Field.required("delivery", new FieldType.Delivery(),
      "where and how tasks are delivered").option(null);
  /** The rule for repeating failed attempts. */
  public static final Field<Retry> RETRY = Field.of("retry",
      new FieldType.Nested<>(RetryFields.TABLE, RetryFields::retry, RetryFields::values), Retry.DEFAULT,
      "how failed attempts are repeated");
  /** The share of a busy node: a priority higher by one doubles it. */
  public static final Field<Integer> PRIORITY = Field.of("priority", new FieldType.Whole(-10, 10), 0,
      "from -10 to 10; each step doubles the queue's share of a busy node");
  /** Attempts that may begin per second in the whole cluster. */
  public static final Field<Double> RATE = Field.optional("rate", new FieldType.Decimal(0.001, 1e9),
      "maximum number of attempts that begin per second; default: no limit");
  /** Attempts that may run concurrently in the whole cluster. */
  public static final Field<Integer> CONCURRENCY = Field.optional("concurrency",
      new FieldType.Whole(1, Integer.MAX_VALUE),
      "maximum number of concurrent attempts; default: no limit");
  /** The longest time by which resets may push a task beyond its first due time. */
  public static final Field<Duration> MAX_WAIT = Field.optional("maxWait", FieldType.Span.DELAY,
      "how far resets may push a task beyond its first due time; default: no limit");
  /** The longest time for which extensions may keep one attempt running. */
  public static final Field<Duration> MAX_RUN = Field.of("maxRun", FieldType.Span.DELAY, Duration.ofDays(1),
      "how long one attempt may run, however often its lease is extended");
  /** The maximum number of recurring jobs of the queue. */
  public static final Field<Integer> MAX_JOBS = Field.of("maxJobs", new FieldType.Whole(0, MOST), 10_000,
      "maximum number of recurring jobs of the queue");
  /** The unfinished shards of the queue's jobs at which no further run of them begins. */
  public static final Field<Integer> MAX_SHARDS = Field.of("maxShards", new FieldType.Whole(1, MOST), 100_000,
      "unfinished shards of the queue's jobs at which no further run begins");
  /** The times for which tasks can be read after their end. */
  public static final Field<Retention> RETENTION = Field.of("retention",
      new FieldType.Nested<>(RetentionFields.TABLE, RetentionFields::retention, RetentionFields::values),
      Retention.DEFAULT, "how long tasks can be read after their end");
  /** Whether no new attempts begin. */
  public static final Field<Boolean> PAUSED = Field.of("paused", new FieldType.Truth(), false,
      "begin no attempts until the queue is resumed").option(null);

  /** The table. */
  public static final Fields TABLE = Fields.of("the queue", DELIVERY, RETRY, PRIORITY, RATE, CONCURRENCY, MAX_WAIT,
      MAX_RUN, MAX_JOBS, MAX_SHARDS, RETENTION, PAUSED);

  private QueueFields() {}
}
