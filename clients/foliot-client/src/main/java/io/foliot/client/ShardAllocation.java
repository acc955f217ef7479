package io.foliot.client;

/** The rule that divides the shards of a run among the workers, when the run starts. */
public enum ShardAllocation {
  /** Any worker takes the next shard: the best balance for shards of different length. */
  FREE("free"),
  /** Each worker gets the same number of shards in a row; the first workers get one of the rest each. */
  AVERAGE("average"),
  /** As {@link #AVERAGE}, from the last worker on if a hash of the job's name says so: two jobs balance each other. */
  ODD_EVEN("odd-even"),
  /** A hash of worker and shard decides: a worker that joins or leaves moves only its share. */
  HASH("hash"),
  /** One after the other, from a worker that a hash of the job's name decides. */
  ROUND_ROBIN("round-robin"),
  /** A function of the application that has the engine, which {@link Job.Builder#allocator} names. */
  OWN("own");

  private final String json;

  ShardAllocation(String json) {
    this.json = json;
  }

  /** Returns the name in the API. */
  String json() {
    return json;
  }
}
