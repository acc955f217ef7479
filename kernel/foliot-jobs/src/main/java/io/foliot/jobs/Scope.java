package io.foliot.jobs;

/** The rule that selects, from the workers of a job's queue, those that run the shards of a run. */
public enum Scope {
  /** All workers together: the shards are divided among the workers. */
  ONE(1),
  /** The workers of each zone: each zone has shards of its own, divided among its workers. */
  PER_ZONE(2),
  /** Each worker: one shard for each worker that is live and enabled when the run begins. */
  ALL(3);

  private final int code;

  Scope(int code) {
    this.code = code;
  }

  /** Returns the code of this scope in stored records. */
  int code() {
    return code;
  }
}
