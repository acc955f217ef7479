package io.foliot.core.store;

/**
 * The kinds of configuration documents. Stores write the codes or names that {@link
 * io.foliot.core.store.format.EnumCodes} gives them.
 */
public enum DocumentKind {
  /** Settings of queues. */
  QUEUE,
  /** Calendars of days on which jobs do not run. */
  CALENDAR,
  /** Members of the cluster, each with its last heartbeat. */
  NODE,
  /** The permits of a limited queue, per node. */
  PERMITS,
  /** The owner of each slot, the leader, and the seal. */
  CLUSTER,
  /** Hashes and scopes of API keys. */
  API_KEY,
  /** The seats of workers, and the live workers that each node reports. */
  FLEET
}
