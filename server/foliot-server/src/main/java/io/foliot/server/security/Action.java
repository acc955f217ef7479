package io.foliot.server.security;

/** The actions that an API key may allow. */
public enum Action {
  /** Reads of queues, tasks, jobs and the cluster. */
  READ,
  /** Submits, touches and cancels of tasks, and changes of jobs. */
  SUBMIT,
  /** Claims of tasks, and reports on them. */
  CONSUME,
  /**
   * All other actions, and changes of queues, calendars, workers and keys, redrives, cancels of many tasks, and
   * backups.
   */
  ADMIN
}
