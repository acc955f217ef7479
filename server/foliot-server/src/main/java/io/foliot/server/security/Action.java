package io.foliot.server.security;

/** The actions that an API key may allow. */
public enum Action {
  /** Reads of queues and tasks. */
  READ,
  /** To submit, reset, touch and cancel tasks. */
  SUBMIT,
  /** To claim tasks and to report on them. */
  CONSUME,
  /** Everything, and to change queues, redrive failed tasks, manage keys, take backups. */
  ADMIN
}
