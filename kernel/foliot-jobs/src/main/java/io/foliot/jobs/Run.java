package io.foliot.jobs;

import java.time.Duration;
import java.util.BitSet;
import java.util.List;

/**
 * A run that is active: its shards are being inserted, or have not all ended. Immutable.
 *
 * @param time its scheduled time, in milliseconds since 1970
 * @param origin 0 for the schedule, else the number of the request that asked for it
 * @param shards how many shards it has
 * @param inserted how many of them are inserted; the others follow in the next passes
 * @param missed how many scheduled times were missed before it
 * @param begun when the pass that started it was claimed, by the store's clock
 * @param deadline when it times out; 0 for never
 * @param stop the reason why it is being stopped; {@link Stop#NONE} if it is not
 * @param readFrom the shard from which the next pass reads ends
 * @param ended the shards that have ended; not to be changed
 * @param failed those of them that failed or were cancelled; not to be changed
 * @param unknown how many of the ended shards the store had deleted before their end was read
 * @param lastEnd when the last of the ended shards ended, or 0
 * @param targets where its shards run, as chosen when it began
 * @param gone how many of the ended shards were cancelled because their worker was gone before they began
 * @param again the ended shards that request another run, each once
 * @param listeners its listeners and its phase
 */
record Run(long time, long origin, int shards, int inserted, int missed, long begun, long deadline, Stop stop,
    int readFrom, BitSet ended, BitSet failed, int unknown, long lastEnd, Targets targets, int gone,
    List<Again> again, RunListeners listeners) {
  /** Shortest timeout of the task after the shards; the timeout of the job applies if it is longer. */
  static final long AFTER_MILLIS = Duration.ofHours(1).toMillis();

  Run {
    again = List.copyOf(again);
  }

  /**
   * A shard that requests another run.
   *
   * @param shard its number in the run
   * @param checkpoint the checkpoint with which the same shard of the next run begins; empty if there is none
   */
  record Again(int shard, String checkpoint) {}

  /** The reason for which a run is being stopped. */
  enum Stop {
    NONE(0), STOPPED(1), TIMED_OUT(2), REPLACED(3),
    /** The task before its shards has not succeeded, or it is not known whether it has. */
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
        targets, 0, List.of(), listeners);
  }

  Run inserted(int count) {
    return new Run(time, origin, shards, count, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, listeners);
  }

  /**
   * Returns this run as it is while it is being stopped. A newer time does not stop the task after the shards: that
   * task has a deadline, and delivers the result of the run.
   */
  Run stopping(Stop reason) {
    return stop != Stop.NONE || (reason == Stop.REPLACED && phase() == RunPhase.AFTER)
        ? this
        : new Run(time, origin, shards, inserted, missed, begun, deadline, reason, readFrom, ended, failed, unknown,
            lastEnd, targets, gone, again, listeners);
  }

  Run listeners(RunListeners next) {
    return new Run(time, origin, shards, inserted, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, next);
  }

  /**
   * Returns this run with the end of the task of its phase.
   *
   * @param nowUnknown how many ends are unknown, including that of the task
   */
  Run told(RunListeners next, Stop nextStop, int nowUnknown, long at, List<Again> asked) {
    return new Run(time, origin, shards, inserted, missed, begun, deadline, nextStop, readFrom, ended, failed,
        nowUnknown, Math.max(lastEnd, at), targets, gone, asked, next);
  }

  /** Returns this run in the phase after the shards, in which a stop and the deadline apply to its task. */
  Run after(PastRun.Result result, long afterDeadline) {
    return new Run(time, origin, shards, inserted, missed, begun, afterDeadline, Stop.NONE, readFrom, ended, failed,
        unknown, lastEnd, targets, gone, again, listeners.after(result));
  }

  boolean isStopping() {
    return stop != Stop.NONE;
  }

  RunPhase phase() {
    return listeners.phase();
  }

  /** Returns the queue of its tasks: that of the definition or, if it has listeners, the one in which it began. */
  String queue(Job job) {
    return listeners.isNone() ? job.queue() : listeners.queue();
  }

  /** Returns whether shards are to be inserted, now or once the task before them has succeeded. */
  boolean hasShardsToInsert() {
    return phase() != RunPhase.AFTER && !isStopping() && inserted < shards;
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
