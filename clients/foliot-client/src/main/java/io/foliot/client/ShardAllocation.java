package io.foliot.client;

/**
 * The rule that divides the shards of a run among the workers. The shards are divided when the run starts, except for
 * {@link #FREE}.
 */
public enum ShardAllocation {
  /** Any free worker claims the next shard. This balances shards of different length best. */
  FREE("free"),
  /**
   * Each worker gets a block of consecutive shards. All blocks have the same size. The remaining shards go to the
   * workers with the lowest seats, one each.
   */
  AVERAGE("average"),
  /**
   * Divides the shards as {@link #AVERAGE} does. If the hash of the job's name is even, the workers are in reverse
   * order. So the remaining shards of different jobs do not all go to the same workers.
   */
  ODD_EVEN("odd-even"),
  /** Rendezvous hashing of shards and workers. If a worker joins or leaves, the other workers exchange no shards. */
  HASH("hash"),
  /** The workers get one shard each in turn. A hash of the job's name selects the first worker. */
  ROUND_ROBIN("round-robin"),
  /** An allocator of the application that runs the engine decides. {@link Job.Builder#allocator} names it. */
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
