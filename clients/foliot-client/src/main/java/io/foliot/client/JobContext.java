package io.foliot.client;

import io.foliot.api.Scope;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The attempt of a shard that a handler runs. Safe for use by any thread until the handler returns. */
public interface JobContext {
  /** Returns the name of the job. */
  String job();

  /**
   * Returns the scheduled time of the run; for a triggered run, the time of the request. An attempt may begin late, may
   * be a retry, or may belong to a backfill. A daily report must therefore take its day from this time, not from the
   * clock.
   */
  Instant scheduledAt();

  /** Returns the number of this shard, from 0; with the scope {@link Scope#PER_ZONE}, the number in its zone. */
  int shard();

  /** Returns how many shards the run has; with the scope {@link Scope#PER_ZONE}, how many it has in this zone. */
  int shards();

  /** Returns the zone of this shard; null unless the scope of the job is {@link Scope#PER_ZONE}. */
  default @Nullable String zone() {
    return null;
  }

  /** Returns the zone that was set for this worker, or null if none was set. */
  default @Nullable String workerZone() {
    return null;
  }

  /** Returns the text that the job defines for this shard, or null if there is none. */
  @Nullable
  String shardParameter();

  /** Returns the number of scheduled times that were missed directly before this run. */
  long missed();

  /** Returns the parameter of the trigger, or else the parameter of the job; null if neither has one. */
  @Nullable
  Payload parameter();

  /**
   * Returns the fence of this attempt. A system that the handler writes to can compare fences, to refuse the writes of
   * a replaced attempt.
   */
  Fence fence();

  /**
   * Returns the latest checkpoint of this attempt or of an earlier attempt; null if there is none. If
   * {@link JobResult#runAgain()} requested this run, a shard begins with its checkpoint of the previous run.
   */
  @Nullable
  String checkpoint();

  /**
   * Sets the checkpoint from which the next attempt continues. The next extension of the lease sends the checkpoint to
   * the server. This extension is at most a third of the lease away. The end of the attempt sends the checkpoint too.
   * After a crash of this process, the next attempt may therefore get an older checkpoint.
   *
   * @throws IllegalArgumentException if the checkpoint has more than 16 KiB in UTF-8
   */
  void checkpoint(String checkpoint);

  /**
   * Sets the checkpoint from which the next attempt continues, and waits until the server has stored it. Call this
   * method before a step that must not be repeated. Each call costs a round trip to the server and a durable write, so
   * do not call it for each of many small items.
   *
   * @throws IllegalArgumentException if the checkpoint has more than 16 KiB in UTF-8
   * @throws JobStoppedException if the lease is lost. The checkpoint may be stored nevertheless, if the server did not
   *         answer before the lease ended
   * @throws UnreachableException or another exception of {@link FoliotClient} if the call failed. The checkpoint may or
   *         may not be stored, and is sent again with the next extension
   */
  void checkpointNow(String checkpoint) throws InterruptedException;

  /**
   * Reports the progress of the work. The report is sent in the same way as a {@linkplain #checkpoint(String)
   * checkpoint}.
   *
   * @param part the part that is done, from 0 to 1
   * @param message the current step, for display; cut to 200 characters; empty to keep the previous message
   */
  void progress(double part, String message);

  /** Adds a line to the log of the shard. The last 4,096 characters of the log are kept, and sent like a checkpoint. */
  void log(String line);

  /**
   * Returns whether the lease is lost. After a lost lease, another attempt may have begun, and the result of this
   * attempt has no effect.
   */
  boolean isLost();

  /** Returns whether the worker is stopping. A stopping worker waits for its handlers to return. */
  boolean isStopping();

  /**
   * Ensures that the work may continue. Call this method between the steps of the work.
   *
   * @throws JobStoppedException if the lease is lost or the worker stops
   */
  default void ensureRuns() {
    if (isLost()) {
      throw new JobStoppedException("the lease is lost, and another attempt may run: job=" + job() + ", shard="
          + shard() + ", fence=" + fence(), true);
    }
    if (isStopping()) {
      throw new JobStoppedException("the worker stops: job=" + job() + ", shard=" + shard(), false);
    }
  }
}
