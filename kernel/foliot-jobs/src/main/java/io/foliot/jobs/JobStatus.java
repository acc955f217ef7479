package io.foliot.jobs;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job as callers see it: its definition and the state of its schedule.
 *
 * @param name the name of the job
 * @param state the state of the job
 * @param definition the definition; null if the record of the job cannot be read
 * @param version the number of the definition: 1 at first, and one more with each change; 0 if the record cannot be
 *     read
 * @param created when the job was created
 * @param pause the pause of the job, or null
 * @param nextTime the next scheduled time; null if there is none, if it is not known, or if the job is in a pause
 *     without an end
 * @param upcoming the next scheduled times in order, at most {@link #UPCOMING}; empty if none is known. For a paused
 *     job, these are the times after the end of its pause, or the times after now if the pause has no end
 * @param waiting how many runs, scheduled or requested, have yet to begin
 * @param active runs that have not ended, the oldest first
 * @param history ended runs, and ranges of times that did not run; the newest first
 * @param totals the counts of the decisions and runs of the job
 * @param isEnded whether a handler has ended the job: no scheduled time runs until the job is put again
 * @param waitsFor the reason why a run waits for workers, an allocator or room in its queue, or why the next run would
 *     have no worker or no allocator; empty if there is no such reason
 * @param error the reason why the job is in error, or empty
 * @param latestFailure the latest run of which a task failed, also if later runs have succeeded; null if none is known
 */
public record JobStatus(String name, State state, @Nullable Job definition, long version, Instant created,
    @Nullable Pause pause, @Nullable Instant nextTime, List<ZonedDateTime> upcoming,
    int waiting, List<ActiveRun> active, List<PastRun> history,
    JobTotals totals, boolean isEnded, String waitsFor, String error, @Nullable Failure latestFailure) {
  /** Maximum number of upcoming times. */
  public static final int UPCOMING = 5;

  /** The states of a job. */
  public enum State {
    /** A scheduled time is to come, or a run is active or waits. */
    ACTIVE,
    /** The scheduled times of the job do not run until the pause ends. */
    PAUSED,
    /** No scheduled time is to come, and no run is active or waits. */
    COMPLETED,
    /** The job cannot be planned, or its queue does not exist; other jobs are not affected. */
    ERROR
  }

  /**
   * A pause.
   *
   * @param since the beginning of the pause
   * @param until the end of the pause, or null if only a resume ends it
   * @param reason the reason, for display
   * @param actor the caller that paused the job or last changed its pause; {@code foliot} for a pause after failures
   */
  public record Pause(Instant since, @Nullable Instant until, String reason, String actor) {}

  /**
   * A failure of a run.
   *
   * @param time the scheduled time of the run
   * @param origin 0 for the schedule, else the number of the request for the run
   * @param reason why a task of the run failed, with the number of its shard
   */
  public record Failure(Instant time, long origin, String reason) {}

  /**
   * A run that has not ended.
   *
   * @param time the scheduled time of the run; for a run without a scheduled time, the time of the request
   * @param origin 0 for the schedule, else the number of the request
   * @param shards how many shards the run has
   * @param ended how many of the shards are known to have ended
   * @param failed how many of the ended shards failed or were cancelled, except shards that were cancelled because
   *     their worker was gone or disabled
   * @param begun when the run began
   * @param deadline when the run times out, or null
   * @param stopping whether the run is being stopped
   * @param targets where the shards run, as chosen when the run began; empty if any worker may run any shard
   * @param phase the current phase; {@link RunPhase#SHARDS} if the run has no listeners
   * @param reason why a task of the run failed; empty if none has failed
   */
  public record ActiveRun(Instant time, long origin, int shards, int ended, int failed, Instant begun,
      @Nullable Instant deadline, boolean stopping, List<RunTarget> targets, RunPhase phase, String reason) {
    public ActiveRun {
      targets = List.copyOf(targets);
    }
  }

  /**
   * The shards of an active run that have the same target.
   *
   * @param zone the zone in which the shards run, or empty for any
   * @param seat the number of the worker's seat, or -1 for any worker of the zone
   * @param worker the worker on that seat; empty if there is no seat, or if this node does not know the worker
   * @param shards the numbers of the shards; with a zone, their numbers within the zone
   * @param ended how many of the shards have ended
   */
  public record RunTarget(String zone, int seat, String worker, List<Integer> shards, int ended) {
    public RunTarget {
      shards = List.copyOf(shards);
    }
  }
}
