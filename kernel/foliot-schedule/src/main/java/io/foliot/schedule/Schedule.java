package io.foliot.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scheduled times of a job. A schedule is immutable, reads no clock, and is a pure function: equal schedules give
 * equal times in every process that has the same time zone data.
 *
 * <p>Guarantees of {@link #next}: the result is after the argument; the results of repeated calls are strictly
 * increasing; and no scheduled time is between the argument and the result. For {@link AfterSchedule} the argument is
 * the end of the previous run.
 */
public sealed interface Schedule permits CronSchedule, EverySchedule, AfterSchedule, AtSchedule, BoundedSchedule {
  /** Last year with scheduled times: a year of RFC 3339 has four digits. */
  int LAST_YEAR = 9999;

  /** Returns the first scheduled time after an instant, or null if there is none. */
  @Nullable
  Instant next(Instant after);

  /**
   * Returns the first scheduled time at or after an instant, or null if there is none. A fixed delay without bounds
   * returns the instant: a run may begin then.
   */
  default @Nullable Instant first(Instant earliest) {
    return next(earliest.minusNanos(1));
  }

  /** Returns the zone in which times are shown, and in which the days of calendars are counted. */
  ZoneId zone();

  /** Returns a text that is the same for two schedules if and only if they are equal. */
  String text();

  /** Returns this schedule without bounds: cron, every, after or at. The days that a cron schedule excludes remain. */
  default Schedule timing() {
    return this;
  }

  /** Returns the distance of each scheduled time from the one before, or null if the distances may differ. */
  default @Nullable Duration step() {
    return null;
  }

  /** Returns the first scheduled times after an instant, in order, at most {@code count}, with their offsets. */
  default List<ZonedDateTime> preview(Instant after, int count) {
    List<ZonedDateTime> times = new ArrayList<>();
    Instant time = next(after);
    while (time != null && times.size() < count) {
      times.add(time.atZone(zone()));
      time = next(time);
    }
    return times;
  }

  /**
   * Returns how many scheduled times are after {@code after} and not after {@code until}, but at most {@code limit}.
   * The cost grows with the result, except for a schedule with a {@link #step}, which calculates the number.
   */
  default long count(Instant after, Instant until, long limit) {
    long count = 0;
    Instant time = next(after);
    while (time != null && !time.isAfter(until) && count < limit) {
      count++;
      time = next(time);
    }
    return count;
  }
}
