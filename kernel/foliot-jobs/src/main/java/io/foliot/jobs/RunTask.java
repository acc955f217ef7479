package io.foliot.jobs;

import io.foliot.api.RunPhase;
import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A task of a run: a shard or a listener.
 *
 * @param time the scheduled time of the run
 * @param origin 0 for the schedule, else the number of the request for the run
 * @param phase {@link RunPhase#SHARDS} for a shard, else the phase of the listener
 * @param zone the zone of the shard, or empty
 * @param shard the number of the shard, with a zone its number within the zone; 0 for a listener
 * @param presence whether the record of the task was found
 * @param id the id of the task; null for {@link Presence#UNKNOWN}
 * @param task the record of the task; null unless it is {@link Presence#STORED}
 * @param reason why the task failed, if the run still knows it and the record of the task is gone; else empty
 */
public record RunTask(Instant time, long origin, RunPhase phase, String zone, int shard, Presence presence,
    @Nullable TaskId id, @Nullable TaskRecord task, String reason) {
  /** The reasons why a task of a run has or has no record. */
  public enum Presence {
    /** The store has the record. */
    STORED,
    /** The shard is not inserted yet. */
    WAITING,
    /** The record was removed after the retention of its queue, or the shard was never inserted. */
    REMOVED,
    /** This version cannot read the record. */
    UNREADABLE,
    /** The job no longer keeps which worker had the shard, so the id is not known. */
    UNKNOWN
  }
}
