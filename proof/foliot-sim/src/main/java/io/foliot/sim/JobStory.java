package io.foliot.sim;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.core.TaskId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The observations of a job's caller and of the shards' receiver. Times are readings of the store's clock, in
 * milliseconds since 1970.
 */
final class JobStory {
  /**
   * A definition that was put. The definition takes effect between the two times.
   *
   * @param from the time of the first call of the put
   * @param to the time of the answer
   */
  record Defined(Job job, long from, long to) {}

  /**
   * A pause.
   *
   * @param answered the time of the answer; the job is certainly paused from then on
   * @param until the last time at which the job is certainly paused
   */
  record Pause(long answered, long until) {}

  /** The scheduled time of a stopped run, and the time of the answer. */
  record Stop(long time, long answered) {}

  /** The times of requested runs, and the time of the answer. */
  record Requested(Set<Long> times, long answered) {}

  /**
   * An attempt of a shard or a listener, as the receiver got it.
   *
   * @param time the scheduled or requested time of the run
   * @param phase the phase of a listener; empty for a shard
   * @param at the time at which the receiver got the attempt
   */
  record Begun(long time, int shard, String phase, TaskId id, long generation, int attempt, long claimedAt, long at) {}

  final String name;
  final List<Defined> defined = new ArrayList<>();
  final List<Pause> pauses = new ArrayList<>();
  final List<Stop> stops = new ArrayList<>();
  final List<Requested> requested = new ArrayList<>();
  final List<Begun> begun = new ArrayList<>();
  /** Time of the answer to the pause that still lasts; 0 without such a pause. */
  long pausedAt;
  /** Last millisecond of the pause that still lasts; {@link Long#MAX_VALUE} for a pause without an end. */
  long pausedUntil;
  /** Number of calls that put the job. It exceeds the number of answers if a call failed or was lost. */
  int puts;
  /** Time of the answer to the deletion; 0 if the job was not deleted. */
  long deletedAt;
  /** Whether the deletion also stopped the runs of the job. */
  boolean stopsRuns;
  /** Whether the caller has ended, with an answer to every call. */
  boolean over;

  JobStory(String name) {
    this.name = name;
  }

  /** Returns whether all definitions of the job have a listener for a phase. */
  boolean listens(RunPhase phase) {
    return defined.stream().allMatch(each -> each.job().runListeners().contains(phase));
  }

  /** Returns the latest definition. */
  Job job() {
    return defined.getLast().job();
  }

  /** Returns the number of answered requests that include a run for the given time. */
  long requests(long time) {
    return requested.stream().filter(each -> each.times().contains(time)).count();
  }

  /** Returns whether a request for a time was answered after an instant. */
  boolean isRequestedAfter(long time, long instant) {
    return requested.stream().anyMatch(each -> each.answered() > instant && each.times().contains(time));
  }

  /** Records that the pause that still lasts may end from now on. */
  void mayResume(long now) {
    if (pausedAt != 0) {
      pauses.add(new Pause(pausedAt, Math.min(now, pausedUntil)));
      pausedAt = 0;
    }
  }
}
