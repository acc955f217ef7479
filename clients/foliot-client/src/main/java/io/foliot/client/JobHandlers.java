package io.foliot.client;

import org.jspecify.annotations.Nullable;

/** Finds handlers for the jobs that have no handler of their own on a worker. An example is a runner of scripts. */
@FunctionalInterface
public interface JobHandlers {
  /**
   * Returns the handler of a shard, or null if there is none on this worker. Called before each attempt, by any thread.
   *
   * @throws RuntimeException fails the attempt
   */
  @Nullable
  JobHandler find(JobContext job);
}
