package io.foliot.api;

import java.time.Duration;

/** The fields of the times for which tasks can be read after their end. */
public final class RetentionFields {
  /** The time of finished and cancelled tasks. */
  public static final Field<Duration> FINISHED = Field
      .of("finished", FieldType.Span.DELAY, Retention.DEFAULT.finished(),
          "how long finished tasks are kept")
      .option("keep-finished");
  /** The time of failed tasks. */
  public static final Field<Duration> FAILED = Field.of("failed", FieldType.Span.DELAY, Retention.DEFAULT.failed(),
      "how long failed tasks are kept and can be redriven").option("keep-failed");

  /** The table. */
  public static final Fields TABLE = Fields.of("retention", FINISHED, FAILED);

  private RetentionFields() {}

  static Retention retention(Values values) {
    return new Retention(values.require(FINISHED), values.require(FAILED));
  }

  static Values values(Retention retention) {
    return Values.of(TABLE).with(FINISHED, retention.finished()).with(FAILED, retention.failed());
  }
}
