package io.foliot.jobs;

import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job as callers see it: its definition and the state of its schedule.
 *
 * @param name its name
 * @param state whether it runs
 * @param definition its definition; null if its record cannot be read
 * @param version how often the definition was changed, from 1
 * @param created when it was created
 * @param pause why and since when it is paused, or null
 * @param nextTime the next scheduled time, or null if there is none
 * @param upcoming the next scheduled times, at most {@link #UPCOMING}; of a paused job those if it were resumed now, or
 *     after the end of its pause; empty if its schedule cannot be evaluated
 * @param waiting how many times are to run and have not begun
 * @param active runs that have not ended, the oldest first
 * @param history ended runs and ranges, the newest first
 * @param totals the decisions on all times, counted
 * @param isEnded whether a handler has ended it: no scheduled time runs until it is put again
 * @param waitsFor why a time or an active run waits for workers, or that its times have none; else empty
 * @param error why the job is in error, or empty
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
    /** It cannot be planned; the others run on. */
    ERROR
  }

  /**
   * A pause.
   *
   * @param since its start
   * @param until its end, or null for a resume by hand
   * @param reason why, for people
   * @param actor the caller that changed it
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
   * @param phase what it does; {@link RunPhase#SHARDS} if it has no listeners
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
