package io.foliot.core.store;

/** The kinds of configuration records. Stores write the names. */
public enum DocumentKind {
  /** Settings of queues. */
  QUEUE,
  /** Calendars of days on which jobs do not run. */
  CALENDAR,
  /** Members of the cluster, with their last sign of life. */
  NODE,
  /** A limited queue's permits per node. */
  PERMITS,
  /** The owner of each slot, and the leader. */
  CLUSTER,
  /** Hashes and scopes of API keys. */
  API_KEY
}
