package io.foliot.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * A fixed delay: the next time is the end of the previous run plus a delay.
 *
 * @param delay whole milliseconds from {@link EverySchedule#MIN_PERIOD} to {@link EverySchedule#MAX_PERIOD}
 */
public record AfterSchedule(Duration delay) implements Schedule {
  private static final Instant END = Instant.parse("9999-12-31T23:59:59.999Z");

  public AfterSchedule {
    EverySchedule.ensurePeriod("after", delay);
  }

  /** Returns the end of a run plus the delay, or null if that is after the year 9999. */
  @Override
  public @Nullable Instant next(Instant endOfRun) {
    return endOfRun.isAfter(END.minus(delay)) ? null : endOfRun.plus(delay);
  }

  @Override
  public Instant first(Instant earliest) {
    return earliest;
  }

  @Override
  public ZoneId zone() {
    return ZoneOffset.UTC;
  }

  @Override
  public String text() {
    return "after " + delay;
  }

  @Override
  public String toString() {
    return text();
  }
}
