package io.foliot.client;

/**
 * The end of a run of a job.
 *
 * @param result the result of the run
 * @param failed how many shards of the run failed or were cancelled
 */
public record RunEnd(Result result, int failed) {
  /** The result of a run. */
  public enum Result {
    /** All shards succeeded. */
    SUCCEEDED,
    /** At least one shard failed permanently or was cancelled. */
    FAILED,
    /** The run did not end within its timeout, and was therefore stopped. */
    TIMED_OUT,
    /** A caller stopped the run. */
    STOPPED,
    /** The run of a later scheduled time replaced this run. */
    REPLACED,
    /** All shards have ended, but the result of at least one shard was no longer stored. */
    UNKNOWN,
    /** A result of a newer server, which this client does not recognize. */
    UNRECOGNIZED;

    static Result of(String name) {
      return Names.constant(values(), name, UNRECOGNIZED);
    }
  }
}
