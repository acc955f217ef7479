package io.foliot.api;

/**
 * The phases of a run, in their order. The tasks of the phase {@link #SHARDS} are the shards. The other two phases have
 * one task each: the listener before the shards, and the listener after them.
 */
public enum RunPhase {
  /** The listener before the shards runs. The shards begin only if this listener succeeds. */
  BEFORE,
  /** The shards run. */
  SHARDS,
  /** The listener after the shards runs. The headers of this task contain the result of the run. */
  AFTER
}
