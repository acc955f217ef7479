package io.foliot.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Limits another schedule to the times from one instant until another, and to the days that a calendar does not
 * exclude. On an excluded day, a time of a fixed rate or of an {@link AtSchedule} does not fire. The time of a fixed
 * delay instead moves to the start of the next day that is not excluded. Otherwise no run would follow, and no further
 * delay would begin. A {@link CronSchedule} excludes days itself ({@link CronSchedule#excluding}): its own search is
 * faster than a search over all times, and it needs the calendar for the business days of {@code W}.
 *
 * @param timing a schedule without bounds
 * @param from the start: no scheduled time is before this instant; null for no start
 * @param to the end: all scheduled times are before this instant; null for no end
 * @param calendar the excluded days, in the zone; empty for a cron schedule, which excludes the days itself
 * @param zone the zone of the calendar and of previews
 */
public record BoundedSchedule(Schedule timing, @Nullable Instant from, @Nullable Instant to, Calendar calendar,
    ZoneId zone) implements Schedule {
  /**
   * Maximum number of times on excluded days before the next time counts as none. It is larger than the number of days
   * that a calendar can name. Only a schedule whose times all are on excluded weekdays reaches it.
   */
  private static final int MAX_STEPS = 10_000;
  private static final Duration NANOSECOND = Duration.ofNanos(1);

  public BoundedSchedule {
    Objects.requireNonNull(timing);
    Objects.requireNonNull(calendar);
    Objects.requireNonNull(zone);
    if (timing instanceof BoundedSchedule) {
      throw new IllegalArgumentException("a bounded schedule must not be bounded again: timing=" + timing.text());
    }
    if (timing instanceof CronSchedule && !calendar.isEmpty()) {
      throw new IllegalArgumentException(
          "a cron schedule must exclude the days of the calendar itself: timing=" + timing.text());
    }
    if (from != null && to != null && !from.isBefore(to)) {
      throw ScheduleException.of("to", to.toString(), "an instant after from=" + from, null);
    }
  }

  @Override
  public @Nullable Instant next(Instant after) {
    return permitted(timing.next(after));
  }

  @Override
  public @Nullable Instant first(Instant earliest) {
    return permitted(timing.first(earliest));
  }

  /** Returns a time of the unbounded schedule, or the first later one that the bounds permit; null if there is none. */
  private @Nullable Instant permitted(@Nullable Instant unbounded) {
    Instant time = unbounded != null && from != null && unbounded.isBefore(from) ? timing.first(from) : unbounded;
    for (int steps = 0; time != null && !calendar.isEmpty(); steps++) {
      LocalDate date = time.atZone(zone).toLocalDate();
      if (!calendar.excludes(date)) {
        break;
      }
      LocalDate allowed = steps == MAX_STEPS ? null : calendar.firstAllowed(date);
      time = allowed == null ? null : timing.first(allowed.atStartOfDay(zone).toInstant());
    }
    return time == null || (to != null && !time.isBefore(to)) ? null : time;
  }

  @Override
  public long count(Instant after, Instant until, long limit) {
    if (!calendar.isEmpty()) {
      return Schedule.super.count(after, until, limit);
    }
    Instant begin = from == null || !after.isBefore(from) ? after : from.minus(NANOSECOND);
    Instant end = to == null || until.isBefore(to) ? until : to.minus(NANOSECOND);
    return begin.isAfter(end) ? 0 : timing.count(begin, end, limit);
  }

  @Override
  public @Nullable Duration step() {
    return calendar.isEmpty() ? timing.step() : null;
  }

  @Override
  public String text() {
    return timing.text() + (from == null ? "" : " from " + from) + (to == null ? "" : " to " + to)
        + (calendar.isEmpty() ? "" : " exclude " + String.join(",", calendar.entries())) + " zone " + zone;
  }

  @Override
  public String toString() {
    return text();
  }
}
