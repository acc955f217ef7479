package io.foliot.api;

/** The rule that selects, from the workers of a job's queue, those that run the shards of a run. */
public enum Scope {
  /** All workers together: the shards are divided among the workers. */
  ONE,
  /** The workers of each zone: each zone has shards of its own, divided among its workers. */
  PER_ZONE,
  /** Each worker: one shard for each worker that is live and enabled when the run begins. */
  ALL
}
