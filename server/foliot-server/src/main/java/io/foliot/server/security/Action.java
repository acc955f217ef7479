package io.foliot.server.security;

/** The actions that an API key may allow. */
public enum Action {
  /** Reads of queues, tasks, jobs, calendars, workers, the cluster and metrics. */
  READ,
  /** Submits, touches, cancels and immediate runs of tasks; changes of jobs, and starts and stops of their runs. */
  SUBMIT,
  /** Claims of tasks; settles of claimed tasks, and extensions of their leases. */
  CONSUME,
  /**
   * The other three actions, and also: reads and changes of API keys; changes of queues, calendars and workers;
   * redrives of queues; cancels of many tasks; backups.
   */
  ADMIN
}
