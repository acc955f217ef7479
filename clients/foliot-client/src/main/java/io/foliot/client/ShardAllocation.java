package io.foliot.client;

/** The rule that divides the shards of a run among the workers, when the run starts. */
public enum ShardAllocation {
  /** Any worker that is free claims the next shard. The best balance for shards of different length. */
  FREE("free"),
  /**
   * Each worker gets a block of consecutive shards, of the same size for all. The shards that remain go to the first
   * workers, one each.
   */
  AVERAGE("average"),
  /**
   * As {@link #AVERAGE}, but with the workers in reverse order if the hash of the job's name is even. The jobs with an
   * even hash and those with an odd hash balance each other.
   */
  ODD_EVEN("odd-even"),
  /** A hash of worker and shard selects the worker. If a worker joins or leaves, only its own shards move. */
  HASH("hash"),
  /** The workers get one shard each in turn, beginning at a worker that a hash of the job's name selects. */
  ROUND_ROBIN("round-robin"),
  /** An allocator of the application that runs the engine, which {@link Job.Builder#allocator} names, decides. */
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
