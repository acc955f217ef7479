package io.foliot.schedule;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * A schedule with one time.
 *
 * @param time the only scheduled time
 */
public record AtSchedule(Instant time) implements Schedule {
  @Override
  public @Nullable Instant next(Instant after) {
    return after.isBefore(time) ? time : null;
  }

  @Override
  public ZoneId zone() {
    return ZoneOffset.UTC;
  }

  @Override
  public String text() {
    return "at " + time;
  }

  @Override
  public String toString() {
    return text();
  }
}
