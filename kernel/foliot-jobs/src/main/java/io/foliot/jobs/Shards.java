package io.foliot.jobs;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.TaskNote;
import io.foliot.core.Address;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of runs: the shards and the listeners. Their ids follow from (job, scheduled time, origin, shard or phase,
 * target), so if a run is planned twice, its tasks still exist only once.
 */
final class Shards {
  /** The queue of the tasks of the jobs themselves. */
  static final String JOBS = "foliot.jobs";

  /** Increment of the sequence of SplitMix64. */
  private static final long PRIME = 0x9e3779b97f4a7c15L;

  /** Number of the seat 0 in hashes. It is above all numbers of shards and listeners. */
  private static final int FIRST_SEAT = 2 * Job.MAX_SHARDS;

  private Shards() {}

  /** Returns the hash of the task of a job. All shards of the job have the same hash. */
  static int hash16(String job) {
    return SlotHash.of(JOBS, job);
  }

  /**
   * Returns the id of a shard. The id has the scheduled time, the hash of the job's task, and 58 bits of a hash of job,
   * origin and shard. If the run has targets, the address and the number of the shard replace some of the 58 bits.
   */
  static TaskId id(String job, Run run, int shard) {
    return id(job, run, shard, run.targets().address(shard));
  }

  /** Returns the id of a shard that has this address. */
  static TaskId id(String job, Run run, int shard, Address address) {
    long hash = hash(job, run, shard);
    return address.isAnywhere()
        ? TaskId.of(run.time(), hash16(job), hash)
        : TaskId.addressed(run.time(), hash16(job), address, shard, hash);
  }

  /** Returns the name of a shard in messages. */
  static String named(String zone, int shard) {
    return "shard " + shard + (zone.isEmpty() ? "" : " in zone " + zone);
  }

  /**
   * Returns the id of a listener, which has no address. The hash in the id contains a number above all numbers of
   * shards.
   */
  static TaskId id(String job, Run run, RunPhase phase) {
    return TaskId.of(run.time(), hash16(job), hash(job, run, Job.MAX_SHARDS + JobCodes.code(phase)));
  }

  /**
   * Returns the first part of the firing id of an addressed shard: the id that the shard would have without an address.
   * It does not depend on the workers of the run, unless there is one shard for each of them.
   */
  static String firing(String job, Run run, int shard) {
    Targets.Group group = run.targets().group(shard);
    int number = run.targets().numberInZone(shard);
    long hash = hash(job, run,
        run.targets().isOnly() ? FIRST_SEAT + run.targets().address(shard).number() : number);
    for (int i = 0; i < group.zone().length(); i++) {
      hash = mixed(hash + group.zone().charAt(i) + 1);
    }
    return TaskId.of(run.time(), hash16(job), hash).toString();
  }

  private static long hash(String job, Run run, int number) {
    long hash = 0;
    for (int i = 0; i < job.length(); i++) {
      hash = mixed(hash + job.charAt(i) + 1);
    }
    return mixed(mixed(hash + run.origin()) + number + 1);
  }

  /**
   * Returns whether the end of a shard wakes the job; the end of a listener always does. The end of a shard wakes the
   * job if the run may have several shards, or if one of these may follow: the listener after the shards, a run that
   * waits under {@link Overlap#QUEUE}, a fixed delay, or a pause. Otherwise, the end is recorded by the next pass that
   * is due anyway, because an extra pass for each end would double the cost of a firing.
   */
  static boolean isAwaited(Job job, Run run) {
    return run.listeners().hasAfter() || job.shards() > 1 || job.scope() != Scope.ONE || job.overlap() == Overlap.QUEUE
        || job.pauseAfterFailures() > 0
        || job.schedule().after() != null;
  }

  /** Returns the job of a shard if the job awaits the end of the shard, or if the handler has set a mark; else null. */
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
   * Returns the task to insert for a shard. It is due at the scheduled time plus the jitter of the schedule; if a
   * request started the run, it is due at the beginning of the run.
   *
   * @param checkpoint the checkpoint from which the shard continues, or null
   */
  static Outcome.Child child(Job job, Run run, Body parameter, int shard, @Nullable String checkpoint) {
    int number = run.targets().numberInZone(shard);
    int shards = run.targets().isNone() ? run.shards() : run.targets().groupSize();
    Map<String, String> headers = headers(job, run, parameter, number, shards);
    String zone = run.targets().isNone() ? "" : run.targets().group(shard).zone();
    if (!zone.isEmpty()) {
      headers.put(JobHeaders.ZONE, zone);
    }
    if (!run.targets().isNone()) {
      headers.put(JobHeaders.FIRING, firing(job.name(), run, shard));
    }
    if (checkpoint != null) {
      headers.put(JobHeaders.CHECKPOINT, checkpoint);
    }
    String text = job.shardParameter(number);
    if (text != null) {
      headers.put(JobHeaders.SHARD_PARAMETER, text);
    }
    if (isAwaited(job, run)) {
      headers.put(JobHeaders.AWAITED, "true");
    }
    return child(job, run, id(job.name(), run, shard), due(job, run), parameter, headers);
  }

  /**
   * Returns the task to insert for the listener of a run's phase. A listener before the shards has the due time of the
   * shards; a listener after the shards is due now.
   *
   * @param now the store's time, in milliseconds since 1970
   */
  static Outcome.Child phase(Job job, Run run, Body parameter, long now) {
    Map<String, String> headers = headers(job, run, parameter, 0, run.shards());
    headers.put(JobHeaders.PHASE, run.phase().name().toLowerCase(Locale.ROOT));
    headers.put(JobHeaders.AWAITED, "true");
    PastRun.Result result = run.listeners().result();
    if (result != null) {
      headers.put(JobHeaders.RUN_RESULT, result.name());
      headers.put(JobHeaders.RUN_FAILED, Integer.toString(run.failed().cardinality()));
    }
    Due due = run.phase() == RunPhase.BEFORE ? due(job, run) : Due.at(now);
    return child(job, run, id(job.name(), run, run.phase()), due, parameter, headers);
  }

  private static Map<String, String> headers(Job job, Run run, Body parameter, int shard, int shards) {
    Map<String, String> headers = new HashMap<>(parameter.headers());
    headers.put(JobHeaders.JOB, job.name());
    headers.put(JobHeaders.SCHEDULED_AT, Instant.ofEpochMilli(run.time()).toString());
    headers.put(JobHeaders.SHARD, Integer.toString(shard));
    headers.put(JobHeaders.SHARDS, Integer.toString(shards));
    if (run.missed() > 0) {
      headers.put(JobHeaders.MISSED, Integer.toString(run.missed()));
    }
    return headers;
  }

  private static Due due(Job job, Run run) {
    // The time of a run that began while the store's clock was ahead may not have come yet.
    Instant due = run.origin() == 0 && run.time() <= run.begun()
        ? job.schedule().jitter(job.name()).begin(Instant.ofEpochMilli(run.time()))
        : Instant.ofEpochMilli(run.begun());
    return Due.at(due.toEpochMilli());
  }

  private static Outcome.Child child(Job job, Run run, TaskId id, Due due, Body parameter,
      Map<String, String> headers) {
    Body body = new Body(parameter.payload(), parameter.contentType(), headers);
    return new Outcome.Child(id, run.queue(job), due, body, job.maxAttempts(), false);
  }
}
