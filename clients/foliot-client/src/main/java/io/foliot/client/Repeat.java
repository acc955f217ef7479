package io.foliot.client;

/** The condition under which the client may repeat a call. */
enum Repeat {
  /** Never: a repeat could have a second effect. */
  NEVER,
  /**
   * Only if the server has certainly done nothing: it could not be reached, or it refused the request before any work.
   * Otherwise a repeat could have a second effect or another result. For example, a second cancel of a task may
   * return {@link CancelResult#ALREADY_FINISHED}.
   */
  IF_NOT_DONE,
  /** Always, even if the outcome is unknown. */
  ALWAYS
}
