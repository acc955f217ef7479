package io.foliot.schedule;

import java.time.Duration;
import java.time.Instant;

/**
 * A delay of each scheduled time that spreads the load of many jobs. It is a function of the job's name and the
 * scheduled time. Every node therefore computes the same start, and can distinguish a start that is late from a start
 * that the jitter delayed. The scheduled time itself, which identifies the run, does not change.
 *
 * @param max the longest delay, inclusive; whole milliseconds from zero to {@link #LONGEST}
 * @param name the name of the job
 */
public record Jitter(Duration max, String name) {
  /** Longest delay. */
  public static final Duration LONGEST = Duration.ofDays(1);

  public Jitter {
    if (max.isNegative() || max.compareTo(LONGEST) > 0 || !EverySchedule.isWholeMillis(max)) {
      throw ScheduleException.of("jitter", ScheduleException.text(max),
          "whole milliseconds from 0s to " + ScheduleException.text(LONGEST), "30s");
    }
  }

  /** Returns the delay of a scheduled time. */
  public Duration of(Instant time) {
    return max.isZero()
        ? Duration.ZERO
        : Duration.ofMillis(NameHash.below(max.toMillis() + 1, name, time.toEpochMilli()));
  }

  /** Returns a scheduled time plus its delay: the instant at which the shards are due. */
  public Instant begin(Instant time) {
    return time.plus(of(time));
  }
}
