package io.foliot.client;

import org.jspecify.annotations.Nullable;

/** Finds the handler of shards whose job has none on a worker, such as a runner of scripts. */
@FunctionalInterface
public interface JobHandlers {
  /**
   * Returns the handler of a shard, or null if there is none here. Called before each attempt, by any thread.
   *
   * @throws RuntimeException fails the attempt
   */
  @Nullable
  JobHandler find(JobContext job);
}
