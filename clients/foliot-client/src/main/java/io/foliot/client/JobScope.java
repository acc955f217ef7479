package io.foliot.client;

/** The rule that selects the workers of a recurring job's runs. */
public enum JobScope {
  /** Each shard runs once, on one worker. This is the default of the server. */
  ONE("one"),
  /** Each shard runs once in each zone that has workers, or in each of the zones that the job names. */
  PER_ZONE("per-zone"),
  /** Each worker runs one shard if it is live and enabled at the start of the run. */
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
