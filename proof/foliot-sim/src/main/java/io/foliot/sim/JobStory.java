package io.foliot.sim;

import io.foliot.core.TaskId;
import io.foliot.jobs.Job;
import io.foliot.jobs.RunPhase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The knowledge of a job's caller and of the receiver of its shards. Times are the store's, in milliseconds since 1970.
 */
final class JobStory {
  /**
   * A definition that was put.
   *
   * @param from when it was put first; it is in force from an instant between this and the next
   * @param to when the answer came
   */
  record Defined(Job job, long from, long to) {}

  /**
   * A pause.
   *
   * @param answered when the job was paused for certain
   * @param until up to when it was for certain
   */
  record Pause(long answered, long until) {}

  /** A run that was stopped, and when the answer came. */
  record Stop(long time, long answered) {}

  /** Requested runs, and when the answer came. */
  record Requested(Set<Long> times, long answered) {}

  /**
   * An attempt at a shard or at the task of a listener, as the receiver saw it.
   *
   * @param phase empty for a shard
   */
  record Begun(long time, int shard, String phase, TaskId id, long generation, int attempt, long claimedAt, long at) {}

  final String name;
  final List<Defined> defined = new ArrayList<>();
  final List<Pause> pauses = new ArrayList<>();
  final List<Stop> stops = new ArrayList<>();
  final List<Requested> requested = new ArrayList<>();
  final List<Begun> begun = new ArrayList<>();
  /** When the pause was answered that still lasts; 0 without one. */
  long pausedAt;
  /** When the pause ends that still lasts. */
  long pausedUntil;
  /** The number of puts of its caller; more than there are answers if a call failed or was lost. */
  int puts;
  /** When its deletion was answered; 0 if it was not deleted. */
  long deletedAt;
  /** Whether the deletion stopped its runs. */
  boolean stopsRuns;
  /** Whether its caller has had every answer, and is done. */
  boolean over;

  JobStory(String name) {
    this.name = name;
  }

  /** Returns whether all of its definitions have a listener for a phase. */
  boolean listens(RunPhase phase) {
    return defined.stream().allMatch(each -> each.job().runListeners().contains(phase));
  }

  Job job() {
    return defined.getLast().job();
  }

  /** Returns how many requests asked for a time. */
  long requests(long time) {
    return requested.stream().filter(each -> each.times().contains(time)).count();
  }

  /** Returns whether a time was requested after an instant. */
  boolean isRequestedAfter(long time, long instant) {
    return requested.stream().anyMatch(each -> each.answered() > instant && each.times().contains(time));
  }

  /** From now on the pause may be over. */
  void mayResume(long now) {
    if (pausedAt != 0) {
      pauses.add(new Pause(pausedAt, Math.min(now, pausedUntil)));
      pausedAt = 0;
    }
  }
}
