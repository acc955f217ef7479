package io.foliot.client;

/** The workers on which the runs of a recurring job take place. */
public enum JobScope {
  /** Each shard runs once, on one worker. This is the default of the server. */
  ONE("one"),
  /** Each shard runs once in each zone that has workers, or in each of the zones that the job names. */
  PER_ZONE("per-zone"),
  /** Each worker that is live and enabled when the run starts runs one shard. */
  ALL("all");

  private final String json;

  JobScope(String json) {
    this.json = json;
  }

  /** Returns the name in the API. */
  String json() {
    return json;
  }
}
