package io.foliot.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A fixed rate: each time is the epoch plus an offset plus a multiple of a period. The times do not depend on local
 * time or on the start of a process, so clock changes and restarts do not move them.
 *
 * @param period whole milliseconds from {@link #MIN_PERIOD} to {@link #MAX_PERIOD}
 * @param offset from zero to less than the period, whole milliseconds
 */
public record EverySchedule(Duration period, Duration offset) implements Schedule {
  /** Shortest period. For a shorter period, use a task that re-arms itself. */
  public static final Duration MIN_PERIOD = Duration.ofMillis(100);
  /** Longest period: 3,660 days, about ten years; far from an overflow. */
  public static final Duration MAX_PERIOD = Duration.ofDays(3_660);

  /** Salt of {@link #spread}, which differs from the salts of {@link CronField}. */
  private static final int OFFSET_SALT = 100;
  private static final long LAST_MILLIS = Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

  public EverySchedule {
    ensurePeriod("every", period);
    if (offset.isNegative() || offset.compareTo(period) >= 0 || !isWholeMillis(offset)) {
      throw ScheduleException.of("offset", ScheduleException.text(offset),
          "whole milliseconds from 0s to less than the period " + ScheduleException.text(period), "10s");
    }
  }

  /** Returns a schedule whose offset follows from a name, so that jobs with equal periods spread over the period. */
  public static EverySchedule spread(Duration period, String name) {
    ensurePeriod("every", period);
    return new EverySchedule(period, Duration.ofMillis(NameHash.below(period.toMillis(), name, OFFSET_SALT)));
  }

  static void ensurePeriod(String setting, Duration period) {
    if (period.compareTo(MIN_PERIOD) < 0 || period.compareTo(MAX_PERIOD) > 0 || !isWholeMillis(period)) {
      throw ScheduleException.of(setting, ScheduleException.text(period), "whole milliseconds from "
          + ScheduleException.text(MIN_PERIOD) + " to " + ScheduleException.text(MAX_PERIOD), "30m");
    }
  }

  static boolean isWholeMillis(Duration duration) {
    return duration.equals(duration.truncatedTo(ChronoUnit.MILLIS));
  }

  @Override
  public @Nullable Instant next(Instant after) {
    long floor = floorMillis(after);
    long next = offset.toMillis() + Math.multiplyExact(steps(floor) + 1, period.toMillis());
    return next > LAST_MILLIS ? null : Instant.ofEpochMilli(next);
  }

  @Override
  public Duration step() {
    return period;
  }

  /** Returns the latest scheduled time up to an instant. The instant must not be before the first scheduled time. */
  public Instant last(Instant until) {
    return Instant.ofEpochMilli(offset.toMillis() + Math.multiplyExact(steps(floorMillis(until)), period.toMillis()));
  }

  @Override
  public long count(Instant after, Instant until, long limit) {
    return Math.clamp(steps(floorMillis(until)) - steps(floorMillis(after)), 0L, limit);
  }

  /** Returns an instant in milliseconds since 1970, rounded down: -1 before 1970, and at most the end of 9999. */
  private static long floorMillis(Instant instant) {
    return instant.getEpochSecond() < 0 ? -1 : Math.min(LAST_MILLIS, clampedMillis(instant));
  }

  private static long clampedMillis(Instant instant) {
    return instant.getEpochSecond() > LAST_MILLIS / 1_000 ? LAST_MILLIS : instant.toEpochMilli();
  }

  private long steps(long millis) {
    return Math.floorDiv(millis - offset.toMillis(), period.toMillis());
  }

  @Override
  public ZoneId zone() {
    return ZoneOffset.UTC;
  }

  @Override
  public String text() {
    return "every " + period + " offset " + offset;
  }

  @Override
  public String toString() {
    return text();
  }
}
