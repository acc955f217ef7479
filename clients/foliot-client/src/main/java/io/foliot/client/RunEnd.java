package io.foliot.client;

/**
 * The end of a run of a job.
 *
 * @param result the result of the run
 * @param failed how many shards of the run failed or were cancelled. Shards that were cancelled because their worker
 *     was gone or disabled are not among them
 */
public record RunEnd(Result result, int failed) {
  /** The result of a run. */
  public enum Result {
    /** All shards succeeded, except those that were cancelled because their worker was gone or disabled. */
    SUCCEEDED,
    /**
     * {@link RunEnd#failed()} is positive, no worker was left for any shard, or the shards did not begin because the
     * task of the listeners, which runs before them, failed.
     */
    FAILED,
    /** The run did not end within its timeout, and was therefore stopped. */
    TIMED_OUT,
    /** A caller stopped the run. */
    STOPPED,
    /** The run of a later scheduled time replaced this run. */
    REPLACED,
    /** The result of at least one shard, or of the task before the first shard, was deleted before the job read it. */
    UNKNOWN,
    /** A result of a newer server, which this client does not recognize. */
    UNRECOGNIZED;

    static Result of(String name) {
      return Names.constant(values(), name, UNRECOGNIZED);
    }
  }
}
