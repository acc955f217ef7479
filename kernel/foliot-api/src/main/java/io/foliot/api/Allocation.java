package io.foliot.api;

/** The rule that divides the shards of a run among workers. */
public enum Allocation {
  /** No shard belongs to a worker: each worker takes the next shard when it has room. */
  FREE,
  /** Equal blocks in the order of the seats. The remaining shards go to the first workers, one to each. */
  AVERAGE,
  /** The blocks of {@link #AVERAGE}; the workers are in reverse order if the hash of the job's name is even. */
  ODD_EVEN,
  /** By a hash of the names of the workers: a worker that joins or leaves moves only its own shards. */
  HASH,
  /** One shard to each worker in turn; the job's name determines the first worker. */
  ROUND_ROBIN,
  /** By the application's allocator that the job names. */
  OWN
}
