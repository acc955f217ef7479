package io.foliot.jobs;

/** The rule that divides the shards of a run among workers. {@link RunPlaces} applies it. */
public enum Allocation {
  /** No shard belongs to a worker: each worker takes the next shard when it has room. */
  FREE(1),
  /** Equal blocks in the order of the seats. The remaining shards go to the first workers, one to each. */
  AVERAGE(2),
  /** The blocks of {@link #AVERAGE}; the workers are in reverse order if the hash of the job's name is even. */
  ODD_EVEN(3),
  /** By a hash of the names of the workers: a worker that joins or leaves moves only its own shards. */
  HASH(4),
  /** One shard to each worker in turn; the job's name determines the first worker. */
  ROUND_ROBIN(5),
  /** By the application's {@link ShardAllocator} that the job names. */
  OWN(6);

  private final int code;

  Allocation(int code) {
    this.code = code;
  }

  /** Returns the code of this rule in stored records. */
  int code() {
    return code;
  }
}
