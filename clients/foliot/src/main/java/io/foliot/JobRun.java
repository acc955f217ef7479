package io.foliot;

import io.foliot.api.JobHeaders;
import io.foliot.api.RunPhase;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The run of a recurring job that a task belongs to, and the role of the task in this run.
 *
 * @param job the name of the job
 * @param scheduledAt the scheduled time of the run, even if the run began later
 * @param shard the number of the shard, from 0; if the job runs in each zone, the number in the zone of the shard
 * @param shards how many shards the run has; if the job runs in each zone, how many it has in the zone of the shard
 * @param shardParameter the text that the job defines for the shard, or null
 * @param missed how many scheduled times were missed directly before this one
 * @param zone the zone of the shard if the job runs in each zone, or null
 * @param phase the role of the task: a shard, or the listener before or after the shards
 * @param runResult the result of the run, such as SUCCEEDED, FAILED or STOPPED; null except in {@link RunPhase#AFTER}
 * @param runFailed how many shards of the run failed; 0 except in {@link RunPhase#AFTER}
 */
public record JobRun(String job, Instant scheduledAt, int shard, int shards, @Nullable String shardParameter,
    int missed, @Nullable String zone, RunPhase phase, @Nullable String runResult, int runFailed) {
  /** Returns the run of a task with these headers, or null if the task belongs to no job. */
  static @Nullable JobRun of(Map<String, String> headers) {
    String job = headers.get(JobHeaders.JOB);
    String scheduledAt = headers.get(JobHeaders.SCHEDULED_AT);
    if (job == null || scheduledAt == null) {
      return null;
    }
    return new JobRun(job, Instant.parse(scheduledAt), number(headers, JobHeaders.SHARD),
        number(headers, JobHeaders.SHARDS), headers.get(JobHeaders.SHARD_PARAMETER),
        number(headers, JobHeaders.MISSED), headers.get(JobHeaders.ZONE),
        phase(headers.get(JobHeaders.PHASE)), headers.get(JobHeaders.RUN_RESULT),
        number(headers, JobHeaders.RUN_FAILED));
  }

  private static RunPhase phase(@Nullable String header) {
    return header == null ? RunPhase.SHARDS : RunPhase.valueOf(header.toUpperCase(Locale.ROOT));
  }

  private static int number(Map<String, String> headers, String name) {
    return Integer.parseInt(Objects.requireNonNullElse(headers.get(name), "0"));
  }
}
