package io.foliot.client;

import io.foliot.api.JobHeaders;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** The context of an attempt, which is read from the headers and the note of its task. */
final class RunningShard implements JobContext {
  /** The purpose of a task of a run. */
  enum Phase {
    /** A shard: the work itself. */
    SHARD,
    /** The call of the listeners before the first shard. */
    BEFORE,
    /** The call of the listeners after the last shard. */
    AFTER,
    /** A phase of a newer server, which this client does not recognize. */
    UNRECOGNIZED;

    private static Phase of(@Nullable String header) {
      return switch (header) {
        case null -> SHARD;
        case "before" -> BEFORE;
        case "after" -> AFTER;
        default -> UNRECOGNIZED;
      };
    }
  }

  private final RunningAttempt attempt;
  private final @Nullable String workerZone;
  private final ClaimedTask task;
  private final String job;
  private final Instant scheduledAt;
  private final int shard;
  private final int shards;
  private final long missed;
  private final Phase phase;
  private final RunEnd end;
  private final ShardNote note;

  /**
   * Reads the headers of an attempt.
   *
   * @param workerZone the zone of the worker, or null
   * @throws UnreadableAnswerException if a header is malformed
   */
  RunningShard(RunningAttempt attempt, @Nullable String workerZone) {
    this.attempt = attempt;
    this.workerZone = workerZone;
    task = attempt.task();
    Map<String, String> headers = task.headers();
    job = String.valueOf(headers.get(JobHeaders.JOB));
    try {
      scheduledAt = Instant.parse(headers.getOrDefault(JobHeaders.SCHEDULED_AT, ""));
      shard = Integer.parseInt(headers.getOrDefault(JobHeaders.SHARD, "0"));
      shards = Integer.parseInt(headers.getOrDefault(JobHeaders.SHARDS, "1"));
      missed = Long.parseLong(headers.getOrDefault(JobHeaders.MISSED, "0"));
      end = new RunEnd(RunEnd.Result.of(headers.getOrDefault(JobHeaders.RUN_RESULT, "")),
          Integer.parseInt(headers.getOrDefault(JobHeaders.RUN_FAILED, "0")));
    } catch (DateTimeException | NumberFormatException e) {
      throw new UnreadableAnswerException("cannot read the headers of a shard: headers=" + headers, e);
    }
    phase = Phase.of(headers.get(JobHeaders.PHASE));
    note = new ShardNote(task.note());
    attempt.noteFrom(note);
  }

  /** Returns the minimal headers of a shard, for a run at the start of a worker. */
  static Map<String, String> headers(String job, Instant scheduledAt) {
    return Map.of(JobHeaders.JOB, job, JobHeaders.SCHEDULED_AT, scheduledAt.toString());
  }

  /** Returns whether a task has the headers of a run of a recurring job. Servers refuse these headers in submits. */
  static boolean isShard(ClaimedTask task) {
    return task.headers().containsKey(JobHeaders.JOB) && task.headers().containsKey(JobHeaders.SCHEDULED_AT);
  }

  Phase phase() {
    return phase;
  }

  /** Returns the end of the run. The value is valid only in {@link Phase#AFTER}. */
  RunEnd end() {
    return end;
  }

  /** Returns the note of this attempt, which continues the note of earlier attempts. */
  ShardNote note() {
    return note;
  }

  @Override
  public String job() {
    return job;
  }

  @Override
  public Instant scheduledAt() {
    return scheduledAt;
  }

  @Override
  public int shard() {
    return shard;
  }

  @Override
  public int shards() {
    return shards;
  }

  @Override
  public @Nullable String workerZone() {
    return workerZone;
  }

  @Override
  public @Nullable String zone() {
    return task.headers().get(JobHeaders.ZONE);
  }

  @Override
  public @Nullable String shardParameter() {
    return task.headers().get(JobHeaders.SHARD_PARAMETER);
  }

  @Override
  public long missed() {
    return missed;
  }

  @Override
  public @Nullable Payload parameter() {
    Payload payload = task.payload();
    return payload == null || payload.isEmpty() ? null : payload;
  }

  @Override
  public Fence fence() {
    return new Fence(task.generation(), task.attempt());
  }

  @Override
  public @Nullable String checkpoint() {
    return note.checkpoint();
  }

  @Override
  public void checkpoint(String checkpoint) {
    note.checkpoint(checkpoint);
  }

  @Override
  public void checkpointNow(String checkpoint) throws InterruptedException {
    note.checkpoint(checkpoint);
    CompletableFuture<Void> sent = attempt.extendNow();
    try {
      sent.get();
    } catch (ExecutionException e) {
      if (attempt.isLost()) {
        JobStoppedException lost = new JobStoppedException(
            "the lease is lost, and the checkpoint may not be stored: job="
                + job + ", shard=" + shard + ", fence=" + fence(),
            true);
        lost.initCause(e.getCause());
        throw lost;
      }
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new UnknownOutcomeException("the checkpoint", "there was no answer within the lease, job=" + job, e);
    }
  }

  @Override
  public void progress(double part, String message) {
    note.progress(part, message);
  }

  @Override
  public void log(String line) {
    note.log(line);
  }

  @Override
  public boolean isLost() {
    return attempt.isLost();
  }

  @Override
  public boolean isStopping() {
    return attempt.isStopping();
  }

  @Override
  public String toString() {
    return "JobContext[job=" + job + ", scheduledAt=" + scheduledAt + ", "
        + (phase == Phase.SHARD ? "shard=" + shard : "phase=" + phase) + ", fence=" + fence() + "]";
  }
}
