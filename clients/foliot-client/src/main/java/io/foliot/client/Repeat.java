package io.foliot.client;

/** The condition under which the client may repeat a call by itself. */
enum Repeat {
  /** Never: a repeat could have a second effect. */
  NEVER,
  /**
   * Only if the server has certainly not acted: it could not be reached, or it rejected the request before any work. A
   * repeat would have no second effect, but its answer may differ from the first one: a repeated cancel finds that the
   * task has ended, because of the first cancel.
   */
  IF_NOT_DONE,
  /** Even if the outcome is unknown. */
  ALWAYS
}
