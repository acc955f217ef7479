package io.foliot.client;

/** The workers on which the runs of a recurring job take place. */
public enum JobScope {
  /** Once: each shard runs on one worker. The default of the server. */
  ONE("one"),
  /** Once in each zone that has workers, or in each of the zones that the job names. */
  PER_ZONE("per-zone"),
  /** Once on each worker that is alive when the run starts. */
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
