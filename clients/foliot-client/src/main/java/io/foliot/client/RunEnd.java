package io.foliot.client;

/**
 * The end of a run of a job.
 *
 * @param result the result of the run
 * @param failed how many of its shards failed or were cancelled
 */
public record RunEnd(Result result, int failed) {
  /** The result of a run. */
  public enum Result {
    /** All shards succeeded. */
    SUCCEEDED,
    /** A shard failed permanently or was cancelled. */
    FAILED,
    /** The run did not end within its timeout, and was stopped. */
    TIMED_OUT,
    /** A caller stopped it. */
    STOPPED,
    /** The run of a newer scheduled time replaced it. */
    REPLACED,
    /** All shards have ended, but the result of at least one was no longer stored. */
    UNKNOWN,
    /** A result that this client is too old to know. */
    UNRECOGNIZED;

    static Result of(String name) {
      return Names.constant(values(), name, UNRECOGNIZED);
    }
  }
}
