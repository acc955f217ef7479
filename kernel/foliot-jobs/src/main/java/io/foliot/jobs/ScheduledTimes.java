package io.foliot.jobs;

import io.foliot.api.Job;
import io.foliot.api.Misfire;
import io.foliot.schedule.AfterSchedule;
import io.foliot.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Decides for each scheduled time up to an instant whether it runs.
 *
 * <ol>
 * <li>Times during a pause are recorded as one range. A pause whose end has passed is removed here.
 * <li>At most {@value #MAX_EXAMINED} times after the cursor are examined. If the schedule has a {@link Schedule#step},
 * the newest times are examined. The older ones would never run, so they are counted as missed without an examination.
 * <li>A single time that is at most {@value #GRACE_MILLIS} ms late is on time. Otherwise the misfire policy chooses the
 * times that run, and the others are missed. The newer times that are left for the next pass also count towards the
 * maximum of the policy. A time that would run is skipped if {@link JobRecord#MAX_WAITING} times wait already.
 * <li>The cursor moves to the instant, or to the last examined time if newer times are left for the next pass.
 * </ol>
 *
 * <p>A time that has run already, because the store's clock was ahead then, is passed over.
 *
 * <p>If a handler has ended the job, no time is decided: the cursor moves past the times.
 *
 * <p>The decision depends on the cursor, and never on the planned time of the pass. So a pass may be early, late or
 * repeated. A stored list of future times was rejected, because the list would be wrong after a change of a calendar or
 * of time zone data.
 */
final class ScheduledTimes {
  /**
   * Maximum number of times of one pass. After an outage of a year, a job with a time every second must not block a
   * thread for long.
   */
  static final int MAX_EXAMINED = 1_000;
  /** Largest lateness of a time that is treated as on time. */
  static final long GRACE_MILLIS = 30_000;

  private ScheduledTimes() {}

  /**
   * Decides for all scheduled times up to an instant.
   *
   * @param now the instant, in milliseconds since 1970 by the store's clock
   * @return whether all times up to the instant are decided; if not, the next pass continues
   */
  static boolean settle(JobEdit edit, Schedule schedule, long now) {
    if (edit.isEnded) {
      edit.cursor = Math.max(edit.cursor, now);
      edit.paused = edit.paused != null && edit.paused.until() <= now ? null : edit.paused;
      return true;
    }
    if (!settlePause(edit, schedule, now)) {
      return false;
    }
    if (edit.paused != null) {
      return true;
    }
    if (schedule.timing() instanceof AfterSchedule) {
      delay(edit, schedule, now);
      return true;
    }
    Set<Long> ran = edit.ranAhead();
    countOld(edit, schedule, now);
    List<Long> times = new ArrayList<>();
    Instant time = schedule.next(instant(edit.cursor));
    while (time != null && time.toEpochMilli() <= now && times.size() < MAX_EXAMINED) {
      times.add(time.toEpochMilli());
      time = schedule.next(time);
    }
    boolean more = time != null && time.toEpochMilli() <= now;
    long last = times.isEmpty() ? 0 : times.getLast();
    times.removeAll(ran);
    if (!times.isEmpty()) {
      int newer = more ? (int) schedule.count(instant(last), instant(now), Misfire.MAX_RUNS) : 0;
      choose(edit, times, newer, now);
    }
    edit.cursor = more ? last : Math.max(edit.cursor, now);
    return !more;
  }

  /**
   * Returns the next scheduled time in milliseconds since 1970, or {@link Long#MAX_VALUE} if none is known. A time that
   * has run already is passed over.
   */
  static long next(JobEdit edit, Schedule schedule) {
    if (edit.isEnded) {
      return Long.MAX_VALUE;
    }
    boolean isDelay = schedule.timing() instanceof AfterSchedule;
    if (isDelay && edit.nextAfter == 0) {
      return Long.MAX_VALUE;
    }
    Instant next = isDelay ? schedule.first(instant(edit.nextAfter)) : schedule.next(instant(edit.cursor));
    Set<Long> ran = isDelay ? Set.of() : edit.ranAhead();
    while (next != null && ran.contains(next.toEpochMilli())) {
      next = schedule.next(next);
    }
    return next == null ? Long.MAX_VALUE : next.toEpochMilli();
  }

  /**
   * Begins the fixed delay of a schedule at an instant, in milliseconds since 1970. Does nothing if the schedule has no
   * fixed delay, if a run is active, if the delay has begun already, or if a handler has ended the job.
   */
  static void beginDelay(JobEdit edit, Schedule schedule, long millis) {
    if (!edit.isEnded && edit.nextAfter == 0 && edit.active.isEmpty()
        && schedule.timing() instanceof AfterSchedule delay) {
      Instant next = delay.next(instant(millis));
      edit.nextAfter = next == null ? 0 : next.toEpochMilli();
    }
  }

  /**
   * Returns whether a waiting time may no longer begin, because it is later than the window of the misfire policy
   * permits. A time waits, for example, during a pause or for the end of a long run. Requested runs and the runs of a
   * fixed delay are never too late.
   */
  static boolean isTooLate(Job job, Schedule schedule, JobRecord.Waiting time, long now) {
    return time.origin() == 0 && !(schedule.timing() instanceof AfterSchedule)
        && now - time.time() > Math.max(GRACE_MILLIS, job.misfire().window().toMillis());
  }

  private static Instant instant(long millis) {
    return Instant.ofEpochMilli(millis);
  }

  /**
   * Records the scheduled times in a pause, and removes a pause that has ended. Returns false if times in the pause are
   * left for the next pass.
   */
  private static boolean settlePause(JobEdit edit, Schedule schedule, long now) {
    JobRecord.Paused paused = edit.paused;
    if (paused == null) {
      return true;
    }
    long end = Math.min(paused.until() == JobRecord.Paused.OPEN ? now : paused.until() - 1, now);
    boolean isCounted = schedule.timing() instanceof AfterSchedule || end <= edit.cursor;
    if (!isCounted) {
      Instant first = schedule.next(instant(edit.cursor));
      Instant last = first;
      long count = 0;
      Duration step = schedule.step();
      if (step != null && first != null) {
        count = schedule.count(instant(edit.cursor), instant(end), Long.MAX_VALUE);
        last = first.plus(step.multipliedBy(Math.max(0, count - 1)));
      } else {
        for (Instant time = first; time != null && time.toEpochMilli() <= end && count < MAX_EXAMINED; count++) {
          last = time;
          time = schedule.next(time);
        }
      }
      if (count > 0 && first != null && last != null) {
        edit.past(PastRun.Result.PAUSED, first.toEpochMilli(), last.toEpochMilli(), count, now);
        Instant next = schedule.next(last);
        if (next != null && next.toEpochMilli() <= end) {
          edit.cursor = last.toEpochMilli();
          return false;
        }
      }
      edit.cursor = end;
    }
    if (paused.until() <= now) {
      edit.paused = null;
    }
    return true;
  }

  /** Takes the scheduled time of a fixed delay if it is due. There is no such time while a run is active or waits. */
  private static void delay(JobEdit edit, Schedule schedule, long now) {
    long next = next(edit, schedule);
    if (next <= now) {
      edit.waiting.add(new JobRecord.Waiting(next, 0, 0, true));
      edit.cursor = Math.max(edit.cursor, next);
      edit.nextAfter = 0;
    }
  }

  /** Records all due times of a fixed rate as missed, except the newest {@value #MAX_EXAMINED}. */
  private static void countOld(JobEdit edit, Schedule schedule, long now) {
    Duration step = schedule.step();
    if (step != null) {
      long count = schedule.count(instant(edit.cursor), instant(now), Long.MAX_VALUE);
      Instant first = schedule.next(instant(edit.cursor));
      if (count > MAX_EXAMINED && first != null) {
        long old = count - MAX_EXAMINED;
        Instant last = first.plus(step.multipliedBy(old - 1));
        edit.past(PastRun.Result.MISSED, first.toEpochMilli(), last.toEpochMilli(), old, now);
        edit.cursor = last.toEpochMilli();
      }
    }
  }

  /**
   * Decides due times by the misfire policy.
   *
   * @param newer how many further times are due, at most {@link Misfire#MAX_RUNS}
   */
  private static void choose(JobEdit edit, List<Long> times, int newer, long now) {
    Misfire misfire = edit.job.misfire();
    boolean onTime = times.size() == 1 && newer == 0 && now - times.getFirst() <= GRACE_MILLIS;
    int most = switch (misfire.policy()) {
      case ONCE -> 1;
      case ALL -> misfire.max();
      case SKIP -> JobRecord.MAX_WAITING;
    };
    int firstRun = Math.max(0, times.size() - Math.max(0, most - newer));
    long oldest = now - misfire.window().toMillis();
    int missed = edit.missedUpTo(edit.cursor);
    for (int i = 0; i < times.size(); i++) {
      long time = times.get(i);
      if (!onTime && (i < firstRun || time < oldest)) {
        missed++;
        edit.past(PastRun.Result.MISSED, time, time, 1, now);
      } else if (edit.waiting.size() >= JobRecord.MAX_WAITING) {
        edit.past(PastRun.Result.SKIPPED, time, time, 1, now);
      } else {
        boolean waits = !onTime && misfire.policy() == Misfire.Policy.ALL;
        edit.waiting.add(new JobRecord.Waiting(time, 0, missed, waits));
        missed = 0;
      }
    }
  }
}
