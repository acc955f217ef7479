package io.foliot.jobs;

import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job as callers see it: its definition and the state of its schedule.
 *
 * @param name its name
 * @param state the state of the job
 * @param definition its definition; null if its record cannot be read
 * @param version the number of the definition: 1 at first, and one more with each change
 * @param created when it was created
 * @param pause why and since when it is paused, or null
 * @param nextTime the next scheduled time, or null if there is none
 * @param upcoming the next scheduled times, at most {@link #UPCOMING}; for a paused job the times after the end of its
 *     pause, or, if the pause has no end, the times as if it were resumed now; empty if its schedule cannot be
 *     evaluated
 * @param waiting how many scheduled times and requests are to run and have not begun
 * @param active runs that have not ended, the oldest first
 * @param history ended runs and ranges, the newest first
 * @param totals the counts of the decisions on all its scheduled times
 * @param isEnded whether a handler has ended it: no scheduled time runs until it is put again
 * @param waitsFor the reason why a time or an active run waits for workers or an allocator, or why the next time would
 *     have none; else empty
 * @param error the reason why the job is in error, or empty
 */
public record JobStatus(String name, State state, @Nullable Job definition, long version, Instant created,
    @Nullable Pause pause, @Nullable Instant nextTime, List<ZonedDateTime> upcoming,
    int waiting, List<ActiveRun> active, List<PastRun> history,
    JobTotals totals, boolean isEnded, String waitsFor, String error) {
  /** The number of next scheduled times that are shown. */
  public static final int UPCOMING = 5;

  /** The states of a job. */
  public enum State {
    /** Its scheduled times run. */
    ACTIVE,
    /** Its scheduled times do not run until it is resumed. */
    PAUSED,
    /** No scheduled time is to come, and no run is active. */
    COMPLETED,
    /** It cannot be planned; other jobs are not affected. */
    ERROR
  }

  /**
   * A pause.
   *
   * @param since its start
   * @param until its end, or null if only a resume ends it
   * @param reason the reason, for display
   * @param actor the caller that paused the job or last changed its pause; foliot for a pause after failures
   */
  public record Pause(Instant since, @Nullable Instant until, String reason, String actor) {}

  /**
   * A run that has not ended.
   *
   * @param time its scheduled time
   * @param origin 0 for the schedule, else the number of the request
   * @param shards how many shards it has
   * @param ended how many of them have ended, as of the last pass
   * @param failed how many of those failed or were cancelled
   * @param begun when it began
   * @param deadline when it times out, or null
   * @param stopping whether it is being stopped
   * @param targets where its shards run, as chosen when it began; empty if any worker may run each of them
   * @param phase its current phase; {@link RunPhase#SHARDS} if it has no listeners
   */
  public record ActiveRun(Instant time, long origin, int shards, int ended, int failed, Instant begun,
      @Nullable Instant deadline, boolean stopping, List<RunTarget> targets, RunPhase phase) {
    public ActiveRun {
      targets = List.copyOf(targets);
    }
  }

  /**
   * Shards of an active run that have one target.
   *
   * @param zone the zone in which they run, or empty for any
   * @param seat the number of the worker's seat, or -1 for any worker of the zone
   * @param worker the worker on that seat as this node knows it, or empty
   * @param shards the numbers of the shards; with a zone, those within the zone
   * @param ended how many of them have ended
   */
  public record RunTarget(String zone, int seat, String worker, List<Integer> shards, int ended) {
    public RunTarget {
      shards = List.copyOf(shards);
    }
  }
}
