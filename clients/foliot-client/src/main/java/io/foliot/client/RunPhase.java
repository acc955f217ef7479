package io.foliot.client;

/** A phase of a run in which a task calls the {@link JobListener}s. One worker of the queue runs this task. */
public enum RunPhase {
  /** The phase before the first shard. The shards begin only if the task succeeds. */
  BEFORE("before"),
  /** The phase after the last shard, for any result of the run. The task contains the result. */
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
