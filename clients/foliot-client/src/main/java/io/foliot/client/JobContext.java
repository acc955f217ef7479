package io.foliot.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One attempt of one shard of a run, as its handler sees it. Safe for use by any thread until the handler returns. */
public interface JobContext {
  /** Returns the name of the job. */
  String job();

  /**
   * Returns the scheduled time of the run; of a triggered run, the time of the request. A run may be late, retried or a
   * backfill: this time, not the clock, says which day a report is about.
   */
  Instant scheduledAt();

  /** Returns the number of this shard, from 0; with the scope {@link JobScope#PER_ZONE}, within its zone. */
  int shard();

  /** Returns how many shards the run has; with the scope {@link JobScope#PER_ZONE}, in the zone. */
  int shards();

  /** Returns the zone of this shard, or null unless the scope of the job is {@link JobScope#PER_ZONE}. */
  default @Nullable String zone() {
    return null;
  }

  /** Returns the zone that the builder of this worker was given, or null if it was given none. */
  default @Nullable String workerZone() {
    return null;
  }

  /** Returns the text of this shard, or null if it has none. */
  @Nullable
  String shardParameter();

  /** Returns how many scheduled times were missed directly before this run. */
  long missed();

  /** Returns the parameter of the job or of its trigger, or null if there is none. */
  @Nullable
  Payload parameter();

  /** Returns a number that strictly grows for this job and shard, so that a sink can refuse a replaced writer. */
  Fence fence();

  /** Returns where to continue: the last checkpoint of this attempt or of an earlier one, or null if there is none. */
  @Nullable
  String checkpoint();

  /**
   * Sets where the next attempt continues. It is sent with the next extension of the lease, a third of the lease later
   * at most, and with the end of the attempt. After a crash of this process an older one may be found.
   *
   * @throws IllegalArgumentException if it has more than 16 KiB in UTF-8
   */
  void checkpoint(String checkpoint);

  /**
   * Sets where the next attempt continues, and waits until the server has stored it: for use before a step that must
   * not be repeated. A round trip to the server and a durable write; for each of many small items it is too slow.
   *
   * @throws IllegalArgumentException if it has more than 16 KiB in UTF-8
   * @throws JobStoppedException if the lease is lost; nothing was stored
   * @throws UnreachableException and the other failures of {@link FoliotClient}: it may be stored or not, and is sent
   *         again with the next extension
   */
  void checkpointNow(String checkpoint) throws InterruptedException;

  /**
   * Says how far the work is. It is sent as a checkpoint is.
   *
   * @param part from 0 to 1
   * @param message for people; what is beyond 200 characters is cut
   */
  void progress(double part, String message);

  /** Adds a line to the log of the shard. Its last 4,096 characters are kept. It is sent as a checkpoint is. */
  void log(String line);

  /**
   * Returns whether the lease is lost: another attempt may have begun, and the end of this one has no effect any more.
   */
  boolean isLost();

  /** Returns whether the worker stops, and waits for its handlers. */
  boolean isStopping();

  /**
   * Ensures that the work may continue: for use between its steps.
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
