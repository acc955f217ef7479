package io.foliot.jobs;

/**
 * The counts of the decisions and runs of a job since it was created. Until a handler ends the job, each scheduled time
 * is counted once, as fired, skipped, missed, paused or without targets.
 *
 * @param fired scheduled times that began to run, or that a caller stopped while they waited
 * @param requested requested runs that began, that a caller stopped while they waited, or that had no worker to run on
 * @param succeeded runs that succeeded
 * @param failed runs that failed or timed out
 * @param unknown runs of unknown result: the record of a shard, or of the listener before the shards, was deleted
 *     before a pass had read its end
 * @param stopped runs that were stopped or replaced
 * @param skipped scheduled times that did not run, because another run was active or waited, or because a handler had
 *     ended the job
 * @param missed scheduled times that are recorded as {@link PastRun.Result#MISSED}
 * @param paused scheduled times that passed while the job was paused
 * @param failuresInRow failed runs since the latest run that succeeded
 * @param noTargets scheduled times that did not run, because there was no worker to run on
 */
public record JobTotals(long fired, long requested, long succeeded, long failed, long unknown, long stopped,
    long skipped, long missed, long paused, long failuresInRow, long noTargets) {
  static final JobTotals NONE = new JobTotals(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  JobTotals noTargets(long times) {
    return new JobTotals(fired, requested, succeeded, failed, unknown, stopped, skipped, missed, paused, failuresInRow,
        times);
  }

  JobTotals began(long origin) {
    return new JobTotals(fired + (origin == 0 ? 1 : 0), requested + (origin == 0 ? 0 : 1), succeeded, failed, unknown,
        stopped, skipped, missed, paused, failuresInRow, noTargets);
  }

  /** Returns the counts before the end of a failed run, which continues. */
  JobTotals reopened() {
    return new JobTotals(fired, requested, succeeded, failed - 1, unknown, stopped, skipped, missed, paused,
        Math.max(0, failuresInRow - 1), noTargets);
  }

  JobTotals with(PastRun past) {
    long count = past.origin() == 0 ? past.count() : 0;
    return switch (past.result()) {
      case SUCCEEDED ->
        new JobTotals(fired, requested, succeeded + 1, failed, unknown, stopped, skipped, missed, paused, 0, noTargets);
      case FAILED, TIMED_OUT ->
        new JobTotals(fired, requested, succeeded, failed + 1, unknown, stopped, skipped, missed, paused,
            failuresInRow + 1, noTargets);
      case UNKNOWN -> new JobTotals(fired, requested, succeeded, failed, unknown + 1, stopped, skipped, missed, paused,
          failuresInRow, noTargets);
      case STOPPED, REPLACED ->
        new JobTotals(fired, requested, succeeded, failed, unknown, stopped + 1, skipped, missed, paused,
            failuresInRow, noTargets);
      case SKIPPED ->
        new JobTotals(fired, requested, succeeded, failed, unknown, stopped, skipped + count, missed, paused,
            failuresInRow, noTargets);
      case MISSED ->
        new JobTotals(fired, requested, succeeded, failed, unknown, stopped, skipped, missed + count, paused,
            failuresInRow, noTargets);
      case PAUSED ->
        new JobTotals(fired, requested, succeeded, failed, unknown, stopped, skipped, missed, paused + count,
            failuresInRow, noTargets);
      case NO_TARGETS ->
        new JobTotals(fired, requested, succeeded, failed, unknown, stopped, skipped, missed, paused, failuresInRow,
            noTargets + count);
    };
  }
}
