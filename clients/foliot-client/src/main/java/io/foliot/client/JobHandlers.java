package io.foliot.client;

import org.jspecify.annotations.Nullable;

/** Finds the handler of a job if {@link JobWorker.Builder#handle} has set none, for example in a folder of scripts. */
@FunctionalInterface
public interface JobHandlers {
  /**
   * Returns the handler of a shard, or null if there is none on this worker. The worker calls this method before each
   * attempt of a job for which no handler is set. Calls may come from any thread.
   *
   * @throws RuntimeException if the search failed; the attempt then fails
   */
  @Nullable
  JobHandler find(JobContext job);
}
