package io.foliot.client;

/** A phase of a run in which it has a task of its own. One worker runs this task for all of them. */
public enum RunPhase {
  /** Before its first shard. The shards begin only if the task succeeds. */
  BEFORE("before"),
  /** After its last shard, whatever the result of the run. The task contains the result. */
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
