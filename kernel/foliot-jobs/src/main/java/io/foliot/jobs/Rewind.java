package io.foliot.jobs;

import io.foliot.schedule.AfterSchedule;
import io.foliot.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;

/**
 * The repair of a job that was planned while the store's clock was ahead. Its record then says that times are decided
 * which have not come yet, so the job would do nothing until the clock shows the old time again. The repair sets the
 * record back to the present: the times after now are decided again when they come. Pure functions.
 *
 * <ul>
 * <li>The cursor, the fixed delay, and the instants of runs and of the pause are not after now.
 * <li>Scheduled times after now do not wait any more, and no record says that they were missed, skipped or paused.
 * <li>A run that has begun remains, even if its scheduled time is after now. It does not run again when that time comes
 * ({@link JobEdit#ranAhead}).
 * </ul>
 *
 * <p>If the clock is behind now, rather than ahead before, the record is set back too far, and a time may be decided
 * twice. Such a time still runs once while its run is in the history or its shards are kept, because the ids of shards
 * are functions of the time.
 */
final class Rewind {
  /**
   * Longest time by which a record may be ahead of the store's clock. A clock that is adjusted, or a database that
   * fails over to a slower clock, goes back by less; the job then only waits.
   */
  static final long TOLERANCE_MILLIS = Duration.ofSeconds(5).toMillis();

  private Rewind() {}

  /** Returns the latest instant at which a pass or a change of the job has happened, in milliseconds since 1970. */
  private static long latest(JobRecord record) {
    long latest = record.cursor();
    for (Run run : record.active()) {
      latest = Math.max(latest, Math.max(run.begun(), run.lastEnd()));
    }
    for (PastRun past : record.history()) {
      latest = Math.max(latest, past.ended());
    }
    return latest;
  }

  /** Returns whether a record was written while the store's clock was ahead of {@code now}. */
  static boolean isAhead(JobRecord record, long now) {
    return latest(record) > now + TOLERANCE_MILLIS;
  }

  /** Sets the record back to {@code now}, in milliseconds since 1970, if it is ahead. */
  static void apply(JobEdit edit, JobRecord record, Schedule schedule, long now) {
    if (!isAhead(record, now)) {
      return;
    }
    edit.cursor = Math.min(edit.cursor, now);
    if (edit.paused != null) {
      edit.paused = edit.paused.since(Math.min(edit.paused.since(), now));
    }
    if (schedule.timing() instanceof AfterSchedule delay) {
      Instant next = delay.next(Instant.ofEpochMilli(now));
      edit.nextAfter = next == null ? edit.nextAfter : Math.min(edit.nextAfter, next.toEpochMilli());
      // The one scheduled run that waits begins now. Without it, no end of a run would begin the next delay.
      edit.waiting.replaceAll(each -> each.origin() != 0 || each.time() <= now ? each : each.at(now));
    } else {
      edit.waiting.removeIf(each -> each.origin() == 0 && each.time() > now);
    }
    edit.active.replaceAll(run -> run.notAfter(now));
    edit.rewindHistory(schedule, now);
  }
}
