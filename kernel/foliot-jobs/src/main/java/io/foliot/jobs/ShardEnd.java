package io.foliot.jobs;

/**
 * A shard as its record shows it.
 *
 * @param state whether it has ended, and how
 * @param at when it ended, in milliseconds since 1970 by the store's clock; 0 if it has not or nobody knows
 */
record ShardEnd(State state, long at) {
  /** The states that planning tells apart. */
  enum State {
    /** It waits or runs. */
    LIVE,
    /** It succeeded. */
    SUCCEEDED,
    /** It failed for good, or was cancelled. */
    FAILED,
    /** The store does not know it: if it was inserted, it has ended and was forgotten. */
    ABSENT
  }
}
