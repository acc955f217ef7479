package io.foliot.jobs;

import io.foliot.api.RunPhase;
import java.util.Set;

/**
 * An entry of a job's history: a run that has ended, or a range of scheduled times that did not run. Times are
 * milliseconds since 1970 by the store's clock.
 *
 * @param from the scheduled time of the run, or the first time of the range
 * @param to the scheduled time of the run, or the last time of the range
 * @param count the number of scheduled times that the entry covers
 * @param origin 0 for the schedule, else the number of the request for the run
 * @param result the result of the run, or of the times
 * @param shards how many shards the run had; 0 for a range
 * @param failed how many of the shards failed or were cancelled, not including the shards of {@code gone}
 * @param begun when the run began, or 0 if it did not begin
 * @param ended when the run ended, or when the range was recorded
 * @param gone how many of the shards were cancelled before they began, because their worker was gone or disabled
 * @param failedListeners the phases whose listener failed
 * @param trace the facts that lead to the tasks of the run
 */
public record PastRun(long from, long to, long count, long origin, Result result, int shards, int failed, long begun,
    long ended, int gone, Set<RunPhase> failedListeners, RunTrace trace) {
  public PastRun {
    failedListeners = JobCodes.copy(failedListeners);
  }

  PastRun(long from, long to, long count, long origin, Result result, int shards, int failed, long begun, long ended) {
    this(from, to, count, origin, result, shards, failed, begun, ended, 0, Set.of(), RunTrace.NONE);
  }

  /** The result of a run, or of scheduled times that did not run. */
  public enum Result {
    /** All shards succeeded, except those that were cancelled because their worker was gone or disabled. */
    SUCCEEDED(1),
    /**
     * The run failed for one of these reasons: a shard failed permanently, a caller cancelled a shard by its id, no
     * worker was left that could run the shards, or the listener that runs before the shards failed.
     */
    FAILED(2),
    /** The run did not end within its timeout, and was stopped. */
    TIMED_OUT(3),
    /** A caller stopped the run. */
    STOPPED(4),
    /** The run was stopped because the next scheduled time replaced it. */
    REPLACED(5),
    /**
     * The result was lost: the record of a shard, or of the listener before the shards, was deleted before a planning
     * pass had read how it ended.
     */
    UNKNOWN(6),
    /** The time did not run, because another run was active or waited, or because a handler had ended the job. */
    SKIPPED(7),
    /**
     * The time did not run, because it was found too late, had waited too long, or might be excluded by a calendar that
     * had been deleted.
     */
    MISSED(8),
    /** The time did not run, because the job was paused. */
    PAUSED(9),
    /** The time did not run, because the queue had no worker for it. */
    NO_TARGETS(10);

    private final int code;

    Result(int code) {
      this.code = code;
    }

    /** Returns the number of this result in stored records. */
    int code() {
      return code;
    }

    /** Returns whether shards may have been inserted for the time. */
    public boolean isRun() {
      return code <= UNKNOWN.code;
    }

    /** Returns whether this is the result of a run that was stopped. */
    boolean isStopped() {
      return this == TIMED_OUT || this == STOPPED || this == REPLACED;
    }
  }

  /**
   * Returns why a task of the run failed: the first failure that a planning pass has read, cut to 160 characters. Empty
   * if no task failed, or if the run is so old that the job no longer keeps the reason.
   */
  public String reason() {
    return trace.reason();
  }

  PastRun with(RunTrace other) {
    return new PastRun(from, to, count, origin, result, shards, failed, begun, ended, gone, failedListeners, other);
  }

  /** Returns this entry with another end and count of its range, decided at most at {@code now}. */
  PastRun upTo(long nowTo, long nowCount, long now) {
    return new PastRun(from, nowTo, nowCount, origin, result, shards, failed, Math.min(begun, now),
        Math.min(ended, now), gone, failedListeners, trace);
  }

  /** Returns whether the next entry continues the range of this one. */
  boolean isContinuedBy(PastRun next) {
    return result == next.result && !result.isRun() && origin == 0 && next.origin == 0;
  }

  /** Returns one entry for both ranges. */
  PastRun and(PastRun next) {
    // The next entry may be earlier: a time that waited too long is missed after later times were decided.
    return new PastRun(Math.min(from, next.from), Math.max(to, next.to), count + next.count, 0, result, 0, 0, 0,
        next.ended);
  }
}
