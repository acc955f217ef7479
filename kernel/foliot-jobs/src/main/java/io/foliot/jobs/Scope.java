package io.foliot.jobs;

/** The choice of workers of its queue on which a run of a job runs. */
public enum Scope {
  /** Once: its shards are divided among the workers. */
  ONE(1),
  /** Once in each zone: each zone gets all shards, divided among its workers. */
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
