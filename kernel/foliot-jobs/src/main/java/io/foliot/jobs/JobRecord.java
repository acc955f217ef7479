package io.foliot.jobs;

import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.api.Overlap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of a job: its definition and the state of its schedule. It is the payload of the job's task.
 * Immutable; {@link JobLife} and {@link JobChange} return changed copies. Times are milliseconds since 1970.
 *
 * @param job the definition
 * @param version the number of the definition: 1 at first, and one more with each change
 * @param declared hashes of the definitions that code declared, the newest last
 * @param created when the job was created
 * @param paused the pause of the job, or null
 * @param cursor the instant up to which the scheduled times are decided
 * @param nextAfter when the fixed delay ends: the next run begins then, or at the first later instant that the bounds
 *     of the schedule permit. 0 if the end is not known, or if the schedule has no fixed delay
 * @param origins the number of the latest request for runs; before the first request, the instant of the creation. So a
 *     job that is deleted and created again never uses a number twice, and its runs have new ids
 * @param waiting times that are to run and have not begun, in the order in which they begin
 * @param active runs that have not ended, the oldest first
 * @param history ended runs, and ranges of times that did not run; the newest last
 * @param totals the results of all times
 * @param requests idempotency keys of the latest requests
 * @param parameters payloads that replace the job's parameter in requested runs, until all tasks of a run are inserted
 * @param isEnded whether a handler has ended the job: no scheduled time runs until the job is put again
 * @param carried the runs that continue another run, with checkpoints for their shards, until the shards are inserted
 * @param left runs of deleted jobs of this name whose inserted tasks have not all ended. Passes look after these tasks;
 *     callers do not see the runs
 * @param isDeleted whether the job is deleted. Its record stays until no run is left; a put may replace it
 */
record JobRecord(Job job, long version, List<Long> declared, long created, @Nullable Paused paused, long cursor,
    long nextAfter, long origins, List<Waiting> waiting, List<Run> active, List<PastRun> history, JobTotals totals,
    List<Request> requests, List<Parameter> parameters, boolean isEnded, List<Carried> carried, List<Left> left,
    boolean isDeleted) {
  /**
   * Maximum number of hashes in {@code declared}. A rolling deployment needs two, one for each definition, and a
   * rollback may add a third.
   */
  static final int MAX_DECLARED = 8;
  /** Maximum number of times that wait to run; runs that continue another run may exceed this number. */
  static final int MAX_WAITING = 100;
  /** Maximum number of requests whose idempotency keys are remembered. */
  static final int MAX_REQUESTS = 32;

  /** Largest size of the payloads of all requests together, in bytes. The record contains these payloads. */
  static final int MAX_PARAMETERS_BYTES = 4 << 10;

  /**
   * Largest total size, in characters, of the checkpoints that a record keeps for runs that continue other runs.
   * Checkpoints that do not fit are dropped.
   */
  static final int MAX_CARRIED = 8 << 10;
  /**
   * Largest total size of the traces of ended runs, in bytes. Older traces are dropped: each pass reads and writes
   * them.
   */
  static final int MAX_TRACES = 8 << 10;
  /**
   * Limit of the total size, in bytes, of the targets of the active runs. While this size is larger, no further run
   * begins.
   */
  static final int MAX_TARGET_BYTES = 1 << 10;

  /**
   * Maximum number of runs of deleted jobs that a new job may take over, and of their shards. The record contains a bit
   * for each shard.
   */
  private static final int MAX_LEFT = 16;
  private static final int MAX_LEFT_SHARDS = 20_000;

  /** Maximum number of active runs under {@link Overlap#ALLOW}. */
  static final int MAX_ACTIVE = 16;
  /** Maximum number of active runs under {@link Overlap#ALLOW} of a job with more than {@link #LARGE_SHARDS} shards. */
  private static final int MAX_ACTIVE_LARGE = 4;
  private static final int LARGE_SHARDS = 1_000;

  JobRecord {
    declared = List.copyOf(declared);
    waiting = List.copyOf(waiting);
    active = List.copyOf(active);
    history = List.copyOf(history);
    requests = List.copyOf(requests);
    parameters = List.copyOf(parameters);
    carried = List.copyOf(carried);
    left = List.copyOf(left);
  }

  /**
   * A run that waits to begin.
   *
   * @param time the scheduled time
   * @param origin 0 for the schedule, else the number of the request
   * @param missed how many scheduled times were missed directly before it
   * @param waits whether this run waits for its turn while another run is active; if false, the overlap rule applies
   * @param lacksRoom whether the latest pass did not begin this run because the jobs of the queue had as many shards as
   *     they may have
   */
  record Waiting(long time, long origin, int missed, boolean waits, boolean lacksRoom) {
    Waiting(long time, long origin, int missed, boolean waits) {
      this(time, origin, missed, waits, false);
    }

    /** Returns a copy with another time. */
    Waiting at(long other) {
      return new Waiting(other, origin, missed, waits, lacksRoom);
    }

    /** Returns a copy with {@link #waits} set, which waits for something else than room in its queue. */
    Waiting waiting() {
      return new Waiting(time, origin, missed, true);
    }

    /** Returns a copy with {@link #waits} and {@link #lacksRoom} set. */
    Waiting withoutRoom() {
      return new Waiting(time, origin, missed, true, true);
    }
  }

  /**
   * A pause.
   *
   * @param since the instant of the pause; scheduled times after it do not run
   * @param until the first instant at which scheduled times run again; {@link #OPEN} if only a resume ends the pause
   * @param origins the number of a request. In the pause, the runs of this request and of earlier requests do not
   *     begin. The runs of later requests begin, unless they continue another run
   * @param reason the reason, for display
   * @param actor the caller that paused the job or last changed its pause; {@code foliot} for a pause after failures
   */
  record Paused(long since, long until, long origins, String reason, String actor) {
    static final long OPEN = Long.MAX_VALUE;

    /** Returns a copy that began at another instant. */
    Paused since(long other) {
      return new Paused(other, until, origins, reason, actor);
    }

    /** Returns whether the pause is still in effect one millisecond after an instant. */
    boolean holdsAfter(long millis) {
      return until > millis + 1;
    }
  }

  /**
   * A request for runs. Its key is remembered, so that a repetition of the request starts no other run.
   *
   * @param key the caller's name for the request
   * @param time the time of its run; for a backfill, the time of the first run
   * @param origin the number of the request
   * @param digest the digest of the request: a repeated request has the same
   */
  record Request(String key, long time, long origin, long digest) {}

  /**
   * The payload of the shards of a requested run. The shards have the headers of the job's parameter.
   *
   * @param origin the number of the request
   * @param body the payload and its content type
   */
  record Parameter(long origin, Body body) {}

  /**
   * A run that continues another run.
   *
   * @param origin the number of the run's request
   * @param shards the numbers and checkpoints of the shards that begin with a checkpoint
   */
  record Carried(long origin, List<Run.Again> shards) {
    Carried {
      shards = List.copyOf(shards);
    }
  }

  /**
   * A run of a deleted job.
   *
   * @param queue the queue of the deleted job
   * @param run the run; no further task of it is inserted
   */
  record Left(String queue, Run run) {}

  /** Returns this record without the reasons of active runs. */
  JobRecord withoutReasons() {
    return new JobRecord(job, version, declared, created, paused, cursor, nextAfter, origins, waiting,
        active.stream().map(Run::withoutReason).toList(), history, totals, requests, parameters, isEnded, carried,
        left, isDeleted);
  }

  /** Returns this new record with the runs of deleted jobs that still have tasks. */
  JobRecord withLeft(List<Left> others) {
    return new JobRecord(job, version, declared, created, paused, cursor, nextAfter, origins, waiting, active, history,
        totals, requests, parameters, isEnded, carried, others, isDeleted);
  }

  /** Returns whether this deleted job has so many unfinished runs that no job of its name can be created yet. */
  boolean hasManyLeft() {
    return left.size() > MAX_LEFT || left.stream().mapToInt(each -> each.run().inserted()).sum() > MAX_LEFT_SHARDS;
  }

  /**
   * Returns how many shards have not ended, by queue, with those that are still to be inserted. After a move of the
   * job, its runs count in its new queue.
   */
  static Map<String, Long> unended(Job job, List<Run> active, List<Left> left) {
    Map<String, Long> shards = new HashMap<>();
    active.forEach(run -> shards.merge(job.queue(), (long) run.unended(), Long::sum));
    left.forEach(each -> shards.merge(each.queue(), (long) each.run().inserted() - each.run().ended().cardinality(),
        Long::sum));
    shards.values().removeIf(count -> count == 0);
    return shards;
  }

  /** Returns how many shards of this job have not ended, by queue. */
  Map<String, Long> unended() {
    return unended(job, active, left);
  }

  /** Returns whether the latest pass did not begin a run because its queue had no room for further shards. */
  boolean lacksRoom() {
    return waiting.stream().anyMatch(Waiting::lacksRoom);
  }

  /** Returns the size of the checkpoints of all runs, in characters. */
  int carriedLength() {
    return Stream.concat(active.stream().map(Run::again), carried.stream().map(Carried::shards))
        .flatMap(List::stream).mapToInt(shard -> shard.checkpoint().length()).sum();
  }

  /** Returns how many runs may be active under {@link Overlap#ALLOW}. */
  static int maxActive(Job job) {
    return job.shards() > LARGE_SHARDS ? MAX_ACTIVE_LARGE : MAX_ACTIVE;
  }
}
