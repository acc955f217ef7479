package io.foliot.jobs;

import io.foliot.core.Body;
import io.foliot.core.JobHeaders;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskNote;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Due;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that are the shards of runs. Their ids follow from (job, scheduled time, origin, shard), so that a run
 * which is planned twice still gets its shards once.
 */
final class Shards {
  /** The queue of the jobs' own tasks. */
  static final String JOBS = "foliot.jobs";

  private static final long PRIME = 0x9e3779b97f4a7c15L;

  private Shards() {}

  /** Returns the hash of a job's task, which its shards share. */
  static int hash16(String job) {
    return SlotHash.of(JOBS, job);
  }

  /**
   * Returns the id of a shard: the scheduled time, and 58 bits of a hash of the rest. Where the run has targets, the
   * id has the address of the shard, its number, and fewer bits of the hash.
   */
  static TaskId id(String job, Run run, int shard) {
    long hash = 0;
    for (int i = 0; i < job.length(); i++) {
      hash = mixed(hash + job.charAt(i) + 1);
    }
    hash = mixed(mixed(hash + run.origin()) + shard + 1);
    return run.targets().isNone()
        ? TaskId.of(run.time(), hash16(job), hash)
        : TaskId.addressed(run.time(), hash16(job), run.targets().address(shard), shard, hash);
  }

  /**
   * Returns whether something begins when a run of a job ends, or its end is more than the end of one task. Otherwise
   * the end is noted by the next pass, and a pass for each end would double the cost of a firing.
   */
  static boolean isAwaited(Job job) {
    return job.shards() > 1 || job.scope() != Scope.ONE || job.overlap() == Overlap.QUEUE
        || job.pauseAfterFailures() > 0
        || job.schedule().after() != null;
  }

  /** Returns the job that waits for the end of a shard, or of which the shard's handler asks something; else null. */
  static TaskRef.@Nullable ByKey awaiting(TaskRecord shard, TaskNote.Mark mark) {
    Map<String, String> headers = shard.body().headers();
    boolean isAwaited = mark != TaskNote.Mark.NONE || headers.get(JobHeaders.AWAITED) != null;
    String job = isAwaited ? headers.get(JobHeaders.JOB) : null;
    return job == null || hash16(job) != shard.id().hash16() ? null : new TaskRef.ByKey(JOBS, job);
  }

  /** Applies the finalizer of SplitMix64 (Steele, Lea, Flood 2014) to a step of its sequence. */
  private static long mixed(long seed) {
    long bits = seed * PRIME + PRIME;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return bits ^ (bits >>> 31);
  }

  /**
   * Returns the task to insert for a shard. It is due at the scheduled time, plus the jitter of the schedule.
   *
   * @param checkpoint where it begins, or null
   */
  static Outcome.Child child(Job job, Run run, Body parameter, int shard, @Nullable String checkpoint) {
    Instant time = Instant.ofEpochMilli(run.time());
    Instant due = run.origin() == 0 ? job.schedule().jitter(job.name()).begin(time) : Instant.ofEpochMilli(run.begun());
    Map<String, String> headers = new HashMap<>(parameter.headers());
    headers.put(JobHeaders.JOB, job.name());
    headers.put(JobHeaders.SCHEDULED_AT, time.toString());
    int number = run.targets().numberInZone(shard);
    headers.put(JobHeaders.SHARD, Integer.toString(number));
    headers.put(JobHeaders.SHARDS, Integer.toString(run.targets().isNone() ? run.shards() : run.targets().groupSize()));
    String zone = run.targets().isNone() ? "" : run.targets().group(shard).zone();
    if (!zone.isEmpty()) {
      headers.put(JobHeaders.ZONE, zone);
    }
    if (checkpoint != null) {
      headers.put(JobHeaders.CHECKPOINT, checkpoint);
    }
    String text = job.shardParameter(number);
    if (text != null) {
      headers.put(JobHeaders.SHARD_PARAMETER, text);
    }
    if (run.missed() > 0) {
      headers.put(JobHeaders.MISSED, Integer.toString(run.missed()));
    }
    if (isAwaited(job)) {
      headers.put(JobHeaders.AWAITED, "true");
    }
    Body body = new Body(parameter.payload(), parameter.contentType(), headers);
    return new Outcome.Child(id(job.name(), run, shard), job.queue(), Due.at(due.toEpochMilli()), body,
        job.maxAttempts(), false);
  }
}
