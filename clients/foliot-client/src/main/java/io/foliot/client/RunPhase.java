package io.foliot.client;

/** A phase of a run in which it has a task of its own, once for all workers. */
public enum RunPhase {
  /** Before its first shard. The shards begin only if the task succeeds. */
  BEFORE("before"),
  /** After its last shard, with each result of the run. The task carries the result. */
  AFTER("after");

  private final String json;

  RunPhase(String json) {
    this.json = json;
  }

  /** Returns the name in the API. */
  String json() {
    return json;
  }
}
