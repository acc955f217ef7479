package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One attempt of one shard of a run, as its handler sees it. Safe for use by any thread until the handler returns. */
public interface JobContext {
  /** Returns the name of the job. */
  String job();

  /**
   * Returns the scheduled time of the run; for a triggered run, the time of the request. A run may be late, a retry or
   * a backfill, so a report must take its day from this time and not from the clock.
   */
  Instant scheduledAt();

  /** Returns the number of this shard, from 0; with the scope {@link JobScope#PER_ZONE}, its number in its zone. */
  int shard();

  /** Returns how many shards the run has; with the scope {@link JobScope#PER_ZONE}, how many it has in this zone. */
  int shards();

  /** Returns the zone of this shard, or null unless the scope of the job is {@link JobScope#PER_ZONE}. */
  default @Nullable String zone() {
    return null;
  }

  /** Returns the zone that the builder of this worker was given, or null if it was given none. */
  default @Nullable String workerZone() {
    return null;
  }

  /** Returns the text that the job defines for this shard, or null if there is none. */
  @Nullable
  String shardParameter();

  /** Returns how many scheduled times were missed directly before this run. */
  long missed();

  /** Returns the parameter of the job or of its trigger, or null if there is none. */
  @Nullable
  Payload parameter();

  /** Returns a fence that strictly grows for this job and shard, so that a sink can refuse a replaced writer. */
  Fence fence();

  /** Returns the checkpoint to continue from, set by this attempt or an earlier one; null if there is none. */
  @Nullable
  String checkpoint();

  /**
   * Sets the checkpoint from which the next attempt continues. It is sent with the next extension of the lease, at most
   * a third of the lease later, and with the end of the attempt. After a crash of this process, the next attempt may
   * therefore get an older checkpoint.
   *
   * @throws IllegalArgumentException if it has more than 16 KiB in UTF-8
   */
  void checkpoint(String checkpoint);

  /**
   * Sets the checkpoint from which the next attempt continues, and waits until the server has stored it. Use it before
   * a step that must not be repeated. It costs a round trip to the server and a durable write, which is too slow for
   * each of many small items.
   *
   * @throws IllegalArgumentException if it has more than 16 KiB in UTF-8
   * @throws JobStoppedException if the lease is lost; nothing was stored
   * @throws UnreachableException and the other failures of {@link FoliotClient}: the checkpoint may or may not be
   *         stored, and is sent again with the next extension
   */
  void checkpointNow(String checkpoint) throws InterruptedException;

  /**
   * Reports the progress of the work. It is sent in the same way as a checkpoint.
   *
   * @param part the part that is done, from 0 to 1
   * @param message the current step, for display; it is cut to 200 characters
   */
  void progress(double part, String message);

  /** Adds a line to the log of the shard, which keeps its last 4,096 characters. It is sent like a checkpoint. */
  void log(String line);

  /**
   * Returns whether the lease is lost. If it is, another attempt may have begun, and the end of this one has no effect.
   */
  boolean isLost();

  /** Returns whether the worker is stopping, and waits for its handlers. */
  boolean isStopping();

  /**
   * Ensures that the work may continue. Call it between the steps of the work.
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
