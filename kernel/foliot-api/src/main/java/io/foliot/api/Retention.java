package io.foliot.api;

import java.time.Duration;

/**
 * The times for which tasks can be read after their end.
 *
 * @param finished how long finished and cancelled tasks can be read
 * @param failed how long failed tasks can be read and redriven
 */
public record Retention(Duration finished, Duration failed) {
  /** An hour for finished tasks, and 14 days for failed ones. */
  public static final Retention DEFAULT = new Retention(Duration.ofHours(1), Duration.ofDays(14));

  /** @throws InvalidSettingException if a time is out of its bounds */
  public Retention {
    FieldType.Span.DELAY.checked("retention.finished", finished);
    FieldType.Span.DELAY.checked("retention.failed", failed);
  }
}
