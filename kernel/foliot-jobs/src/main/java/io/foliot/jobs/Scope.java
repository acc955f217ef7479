package io.foliot.jobs;

/** On how many of the workers of its queue a run of a job runs. */
public enum Scope {
  /** Once: its shards are divided among the workers. */
  ONE(1),
  /** Once in each zone: all shards in each, divided among the workers of the zone. */
  PER_ZONE(2),
  /** Once on each worker that is live and enabled when the run begins: one shard for each. */
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
