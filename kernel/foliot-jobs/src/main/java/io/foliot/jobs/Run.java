package io.foliot.jobs;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;

/**
 * An active run: some of its shards or listeners have not ended. Immutable. Times are milliseconds since 1970, by the
 * store's clock.
 *
 * @param time the scheduled time
 * @param origin 0 for the schedule, else the number of the request for the run
 * @param shards how many shards the run has
 * @param inserted how many of the shards are inserted; the others follow in the next passes
 * @param missed how many scheduled times were missed directly before this one
 * @param begun when the pass that started the run was claimed
 * @param deadline when the run times out; 0 for never
 * @param stop the reason why the run is being stopped; {@link Stop#NONE} if it is not
 * @param readFrom the first shard whose end the next pass reads
 * @param ended the shards that have ended; the set must not be modified
 * @param failed the ended shards that failed or were cancelled, without the shards of {@code gone}; the set must not be
 *     modified
 * @param unknown how many tasks have an unknown end because their record was deleted before a pass had read it; the
 *     tasks are shards, or the listener before the shards
 * @param lastEnd the latest known end of a shard or listener; 0 if none is known
 * @param targets where the shards run, as chosen when the run began
 * @param gone how many of the ended shards were cancelled before they began, because their worker was gone or disabled
 * @param again ended tasks that request another run: the first of them, and each task with a checkpoint that fits into
 *     {@link JobRecord#MAX_CARRIED}
 * @param listeners the listeners and the phase of the run
 * @param reason why a task of the run failed: the first failure that a pass has read; empty if none has failed
 */
record Run(long time, long origin, int shards, int inserted, int missed, long begun, long deadline, Stop stop,
    int readFrom, BitSet ended, BitSet failed, int unknown, long lastEnd, Targets targets, int gone,
    List<Again> again, RunListeners listeners, String reason) {
  /** Shortest timeout of the listener after the shards; the timeout of the job applies if it is longer. */
  static final long AFTER_MILLIS = Duration.ofHours(1).toMillis();
  /** Maximum number of characters of a reason. The record of the job contains the reasons. */
  static final int MAX_REASON = 160;

  Run {
    again = List.copyOf(again);
  }

  /**
   * A shard that requests another run.
   *
   * @param shard the number of the shard in the run; 0 for a listener
   * @param checkpoint the checkpoint from which the same shard of the next run continues; empty if there is none
   */
  record Again(int shard, String checkpoint) {}

  /** The reason why a run is being stopped. */
  enum Stop {
    NONE(0), STOPPED(1), TIMED_OUT(2), REPLACED(3),
    /** The listener before the shards has not succeeded, or its result is unknown. */
    NOT_PREPARED(4);

    private final int code;

    Stop(int code) {
      this.code = code;
    }

    /** Returns the number of this reason in stored records. */
    int code() {
      return code;
    }
  }

  static Run started(long time, long origin, int shards, Targets targets, int missed, long begun, long deadline) {
    return started(time, origin, shards, targets, missed, begun, deadline, RunListeners.NONE);
  }

  static Run started(long time, long origin, int shards, Targets targets, int missed, long begun, long deadline,
      RunListeners listeners) {
    return new Run(time, origin, shards, 0, missed, begun, deadline, Stop.NONE, 0, new BitSet(), new BitSet(), 0, 0,
        targets, 0, List.of(), listeners, "");
  }

  Run inserted(int count) {
    return new Run(time, origin, shards, count, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, listeners, reason);
  }

  /**
   * Returns this run with a reason to stop, or unchanged if the run already has a reason. A newer scheduled time does
   * not stop the listener after the shards, because that listener has a deadline and delivers the result of the run.
   */
  Run stopping(Stop why) {
    return stop != Stop.NONE || (why == Stop.REPLACED && phase() == RunPhase.AFTER)
        ? this
        : new Run(time, origin, shards, inserted, missed, begun, deadline, why, readFrom, ended, failed, unknown,
            lastEnd, targets, gone, again, listeners, reason);
  }

  Run listeners(RunListeners next) {
    return new Run(time, origin, shards, inserted, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, next, reason);
  }

  /**
   * Returns this run with the end of its phase's listener.
   *
   * @param nowUnknown how many ends are unknown, including the end of the listener
   * @param at when the listener ended
   * @param nowAgain the tasks that request another run, including the listener if it requests one
   * @param nowReason why a task of the run failed, including the listener
   */
  Run phaseEnded(RunListeners next, Stop nextStop, int nowUnknown, long at, List<Again> nowAgain,
      String nowReason) {
    return new Run(time, origin, shards, inserted, missed, begun, deadline, nextStop, readFrom, ended, failed,
        nowUnknown, Math.max(lastEnd, at), targets, gone, nowAgain, next, nowReason);
  }

  /** Returns this run in the phase after the shards. In that phase, a stop and the deadline apply to the listener. */
  Run after(PastRun.Result result, long afterDeadline) {
    return new Run(time, origin, shards, inserted, missed, begun, afterDeadline, Stop.NONE, readFrom, ended, failed,
        unknown, lastEnd, targets, gone, again, listeners.after(result), reason);
  }

  /** Returns this run as if it had begun at {@code now}, if it began later; its timeout remains as long. */
  Run notAfter(long now) {
    long ahead = Math.max(0, begun - now);
    return new Run(time, origin, shards, inserted, missed, begun - ahead, deadline == 0 ? 0 : deadline - ahead, stop,
        readFrom, ended, failed, unknown, Math.min(lastEnd, now), targets, gone, again, listeners, reason);
  }

  Run withoutReason() {
    return new Run(time, origin, shards, inserted, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, listeners, "");
  }

  /** Returns this run, of which a failed shard runs again. */
  Run reopened(int shard, long nowDeadline) {
    BitSet stillEnded = (BitSet) ended.clone();
    BitSet stillFailed = (BitSet) failed.clone();
    stillEnded.clear(shard);
    stillFailed.clear(shard);
    return new Run(time, origin, shards, inserted, missed, begun, nowDeadline, stop, readFrom, stillEnded, stillFailed,
        unknown, lastEnd, targets, gone, again, listeners, stillFailed.isEmpty() ? "" : reason);
  }

  boolean isStopping() {
    return stop != Stop.NONE;
  }

  RunPhase phase() {
    return listeners.phase();
  }

  /** Returns the queue of the run's tasks. A run with listeners keeps the queue in which it began. */
  String queue(Job job) {
    return listeners.isNone() ? job.queue() : listeners.queue();
  }

  /** Returns whether shards are to be inserted, now or once the listener before them has succeeded. */
  boolean hasShardsToInsert() {
    return phase() != RunPhase.AFTER && !isStopping() && inserted < shards;
  }

  /** Returns whether inserted tasks of the phase have not ended. */
  boolean hasOpenTasks() {
    return phase() == RunPhase.SHARDS ? ended.cardinality() < inserted : listeners.isOpen();
  }

  /** Returns how many shards have not ended, with those that are still to be inserted. */
  int unended() {
    return phase() == RunPhase.AFTER ? 0 : (isStopping() ? inserted : shards) - ended.cardinality();
  }

  /** Returns this run without the checkpoints for a further run, which the deletion of its job makes needless. */
  Run left() {
    return again.isEmpty()
        ? this
        : new Run(time, origin, shards, inserted, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
            lastEnd, targets, gone, List.of(), listeners, reason);
  }

  /** Returns whether all inserted tasks of the phase have ended, and no further task is to be inserted. */
  boolean isPhaseOver() {
    return switch (phase()) {
      case BEFORE -> isStopping() && listeners.isToInsert();
      case SHARDS -> ended.cardinality() == (isStopping() ? inserted : shards);
      case AFTER -> !listeners.isOpen() && (isStopping() || !listeners.isToInsert());
    };
  }
}
