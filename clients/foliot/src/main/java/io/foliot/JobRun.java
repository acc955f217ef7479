package io.foliot;

import io.foliot.core.JobHeaders;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a job's run that a task is.
 *
 * @param job the name of the job
 * @param scheduledAt the scheduled time that the run is for, whenever it begins
 * @param shard the number of the shard, from 0
 * @param shards how many shards the run has
 * @param shardParameter the text that the job has for the shard, or null
 * @param missed how many scheduled times were missed before this one
 * @param zone the zone of the shard if the job runs in each zone, or null
 */
public record JobRun(String job, Instant scheduledAt, int shard, int shards, @Nullable String shardParameter,
    int missed, @Nullable String zone) {
  /** Returns the job of a task with these headers, or null if it belongs to none. */
  static @Nullable JobRun of(Map<String, String> headers) {
    String job = headers.get(JobHeaders.JOB);
    String scheduledAt = headers.get(JobHeaders.SCHEDULED_AT);
    if (job == null || scheduledAt == null) {
      return null;
    }
    return new JobRun(job, Instant.parse(scheduledAt), number(headers, JobHeaders.SHARD),
        number(headers, JobHeaders.SHARDS), headers.get(JobHeaders.SHARD_PARAMETER),
        number(headers, JobHeaders.MISSED), headers.get(JobHeaders.ZONE));
  }

  private static int number(Map<String, String> headers, String name) {
    return Integer.parseInt(Objects.requireNonNullElse(headers.get(name), "0"));
  }
}
